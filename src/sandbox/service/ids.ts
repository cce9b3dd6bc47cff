import { createHash, randomBytes } from 'node:crypto';

type IdKind = 'prod' | 'chk' | 'ord' | 'evt';

/** What the next ids depend on: how many of each kind there were and, if they repeat from run to run, the seed. */
export type Ids = { readonly seed?: number | undefined; readonly counts: Record<IdKind, number> };

/** The next id of a kind. A seeded one depends on no other kind: an extra product shifts no order's id. */
export function nextId({ seed, counts }: Ids, kind: IdKind): string {
  const count = ++counts[kind];
  if (seed === undefined) return `${kind}_${randomId()}`;
  return `${kind}_${lettersOf(createHash('sha384').update(`${seed}:${kind}:${count}`).digest())}`;
}

/** Twenty letters and digits of random bytes: more than 2^118 possibilities, so nobody guesses one. */
export const randomId = (): string => lettersOf(randomBytes(48));

const lettersOf = (bytes: Buffer): string => bytes.toString('base64url').replaceAll(/[-_]/g, '').slice(0, 20);
