import type { WebhookSecret } from './secret.js';
import { type Checks, readChecks } from './verify.js';

type GivenSecret = WebhookSecret | readonly WebhookSecret[] | undefined;

/** A secret, or a function that returns it or a promise of it. */
export type LateSecret = GivenSecret | (() => GivenSecret | Promise<GivenSecret>);

/**
 * The checks of a handler. Invalid options throw now, except for the result of a `secret` function: it is called at the
 * first delivery, and again at each further one until it succeeds.
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
