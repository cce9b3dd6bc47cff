import { createHash } from 'node:crypto';
import { customAlphabet } from 'nanoid';

/** The kinds of ids. */
export type IdKind = 'prod' | 'chk' | 'ord' | 'evt';

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

/**
 * The ids that the service assigns: random, or the same in each run with a seed. A seeded id depends on its kind and
 * on how many of that kind came before, so that an extra product shifts no order's id.
 */
export class Ids {
  readonly seed: number | undefined;
  readonly #counts: Record<IdKind, number>;

  constructor(seed?: number, counts?: Readonly<Record<IdKind, number>>) {
    this.seed = seed;
    this.#counts = { prod: 0, chk: 0, ord: 0, evt: 0, ...counts };
  }

  get counts(): Readonly<Record<IdKind, number>> {
    return { ...this.#counts };
  }

  next(kind: IdKind): string {
    const count = ++this.#counts[kind];
    return `${kind}_${this.seed === undefined ? randomId() : seededId(this.seed, kind, count)}`;
  }
}
