import type { WebhookSecret } from './secret.js';
import { type Checks, readChecks } from './verify.js';

type GivenSecret = WebhookSecret | readonly WebhookSecret[] | undefined;

/** A secret, or a function that returns it, at once or as a promise. */
export type LateSecret = GivenSecret | (() => GivenSecret | Promise<GivenSecret>);

/**
 * The checks of a handler. All that is wrong with them is thrown now, except the result of a secret that is a function:
 * that one is called at the first delivery, and again as long as it fails.
 */
export function lateChecks(own: {
  secret: unknown;
  scheme: unknown;
  toleranceSeconds: unknown;
}): () => Promise<Checks> {
  const { secret } = own;
  if (typeof secret !== 'function') {
    const checks = readChecks(own);
    return async () => checks;
  }
  readChecks({ ...own, secret: new Uint8Array(1) });
  let reading: Promise<Checks> | undefined;
  return () => {
    reading ??= Promise.resolve()
      .then(() => Reflect.apply(secret, undefined, []))
      .then((text: unknown) => readChecks({ ...own, secret: text }))
      .catch((error: unknown) => {
        reading = undefined;
        throw error;
      });
    return reading;
  };
}
