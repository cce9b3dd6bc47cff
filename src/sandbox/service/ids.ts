import { createHash, randomBytes } from 'node:crypto';

type IdKind = 'prod' | 'chk' | 'ord' | 'evt';

/** State from which the next ids are made: the count of each kind and, if ids repeat from run to run, the seed. */
export type Ids = { readonly seed?: number | undefined; readonly counts: Record<IdKind, number> };

/** Returns the next id of a kind. Seeded ids of one kind do not depend on the others, so an extra product shifts no order's id. */
export function nextId({ seed, counts }: Ids, kind: IdKind): string {
  const count = ++counts[kind];
  if (seed === undefined) return `${kind}_${randomId()}`;
  return `${kind}_${lettersOf(createHash('sha384').update(`${seed}:${kind}:${count}`).digest())}`;
}

/** Returns twenty random letters and digits. There are more than 2^118 such ids, so nobody guesses one. */
export const randomId = (): string => lettersOf(randomBytes(48));

const lettersOf = (bytes: Buffer): string => bytes.toString('base64url').replaceAll(/[-_]/g, '').slice(0, 20);
