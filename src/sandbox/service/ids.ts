import { createHash } from 'node:crypto';
import { customAlphabet } from 'nanoid';

type IdKind = 'prod' | 'chk' | 'ord' | 'evt';

/** What the next ids depend on: how many of each kind there were and, if they repeat from run to run, the seed. */
export interface Ids {
  readonly seed?: number | undefined;
  readonly counts: Record<IdKind, number>;
}

export const newIds = (seed?: number): Ids => ({ seed, counts: { prod: 0, chk: 0, ord: 0, evt: 0 } });

/** The next id of a kind. A seeded one depends on no other kind: an extra product shifts no order's id. */
export function nextId({ seed, counts }: Ids, kind: IdKind): string {
  const count = ++counts[kind];
  return `${kind}_${seed === undefined ? randomId() : seededId(seed, kind, count)}`;
}

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const length = 20;

/** Twenty letters and digits, more than 2^118 possibilities: nobody guesses one. */
export const randomId: () => string = customAlphabet(alphabet, length);

/** The same for a seed: a hash read as a number in base 62. It has 2^137 times as many values as there are ids. */
function seededId(seed: number, kind: IdKind, count: number): string {
  let rest = BigInt(`0x${createHash('sha256').update(`${seed}:${kind}:${count}`).digest('hex')}`);
  let id = '';
  while (id.length < length) {
    id += alphabet[Number(rest % 62n)];
    rest /= 62n;
  }
  return id;
}
