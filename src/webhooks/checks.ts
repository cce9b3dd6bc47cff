import * as z from 'zod/mini';
import { memoizeUntilRejected } from './memoize.js';
import { optionsObject, readWebhookOptions } from './options.js';
import { type Scheme, schemeOption } from './scheme.js';
import { readKeys, type WebhookSecret } from './secret.js';
import { toleranceSeconds } from './timestamp.js';
import { withTimeout } from './with-timeout.js';

/** The settings of a verification. They do not depend on the sender, so they are checked before the delivery is read. */
export interface Checks {
  scheme: Scheme;
  keys: readonly WebhookSecret[];
  toleranceSeconds: number;
  /** The option that the keys were read from. */
  secret: unknown;
}

/** The options that say how a delivery is verified. The secret is read by `readChecks`, with the scheme. */
export const checksShape = {
  secret: z.optional(z.unknown()),
  toleranceSeconds,
  scheme: schemeOption,
};

interface GivenChecks {
  secret?: unknown;
  scheme: Scheme;
  toleranceSeconds: number;
}

const checksOptions = optionsObject('{ secret, scheme }', checksShape);

/** Reads an options object that has only these options, or throws an error that begins with `what`. */
export function readGivenChecks(what: string, given: unknown): Checks {
  return readChecks(readWebhookOptions(what, checksOptions, given));
}

export function readChecks({ secret, scheme, toleranceSeconds }: GivenChecks): Checks {
  const keys = scheme.verify && secret === undefined ? [] : readKeys(secret, scheme);
  return { scheme, keys, toleranceSeconds, secret };
}

type GivenSecret = WebhookSecret | readonly WebhookSecret[] | undefined;

/** A secret, or a function that returns it or a promise of it. */
export type LateSecret = GivenSecret | (() => GivenSecret | Promise<GivenSecret>);

/** The longest time that deliveries wait for a `secret` function. */
const longestReadMs = 10_000;
const tooSlow = `The function \`secret\` returned nothing within ${longestReadMs / 1000} s.`;

/**
 * Returns a function that reads the checks of a handler. Invalid options throw at once, but not the result of a `secret`
 * function: that function is called at the first delivery, and again at each further delivery until it succeeds.
 */
export function lateChecks(own: GivenChecks): () => Promise<Checks> {
  const { secret } = own;
  if (typeof secret !== 'function') {
    const checks = readChecks(own);
    return async () => checks;
  }
  readChecks({ ...own, secret: new Uint8Array(1) });
  return memoizeUntilRejected(async () => {
    const given: unknown = Reflect.apply(secret, undefined, []);
    return readChecks({ ...own, secret: await withTimeout(longestReadMs, given, tooSlow) });
  });
}
