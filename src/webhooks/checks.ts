import { once } from './once.js';
import { readScheme, type Scheme } from './scheme.js';
import { readKeys, type WebhookSecret } from './secret.js';
import { readTolerance } from './timestamp.js';
import { within } from './within.js';

/** What does not depend on the sender, checked before the delivery is looked at. */
export interface Checks {
  scheme: Scheme;
  keys: readonly WebhookSecret[];
  toleranceSeconds: number;
  /** What the keys were read from. */
  secret: unknown;
}

interface GivenChecks {
  secret: unknown;
  scheme: unknown;
  toleranceSeconds: unknown;
}

export function readChecks(own: GivenChecks): Checks {
  const scheme = readScheme(own.scheme);
  const keys = scheme.verify && own.secret === undefined ? [] : readKeys(own.secret, scheme);
  return { scheme, keys, toleranceSeconds: readTolerance(own.toleranceSeconds), secret: own.secret };
}

type GivenSecret = WebhookSecret | readonly WebhookSecret[] | undefined;

/** A secret, or a function that returns it or a promise of it. */
export type LateSecret = GivenSecret | (() => GivenSecret | Promise<GivenSecret>);

/** How long deliveries wait for a `secret` function. */
const longestReadMs = 10_000;
const tooSlow = `The function \`secret\` returned nothing within ${longestReadMs / 1000} s.`;

/**
 * The checks of a handler. Invalid options throw now, except for the result of a `secret` function: it is called at the
 * first delivery, and again at each further one until it succeeds.
 */
export function lateChecks(own: GivenChecks): () => Promise<Checks> {
  const { secret } = own;
  if (typeof secret !== 'function') {
    const checks = readChecks(own);
    return async () => checks;
  }
  readChecks({ ...own, secret: new Uint8Array(1) });
  return once(async () => {
    const given: unknown = Reflect.apply(secret, undefined, []);
    return readChecks({ ...own, secret: await within(longestReadMs, given, tooSlow) });
  });
}
