import { createHash, randomBytes } from 'node:crypto';

/** What has an id of its own. */
export type IdKind = 'prod' | 'chk' | 'ord' | 'evt';

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** Twenty letters and digits from twenty bytes: more than 2^118 of them, so nobody guesses one. */
function letters(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes.subarray(0, 20)) text += alphabet[byte % alphabet.length];
  return text;
}

export const randomText = (): string => letters(randomBytes(20));

/**
 * The ids that the service assigns: random, or, with a seed, the same in each run. A seeded id depends on its kind and
 * on how many of that kind came before, so that an extra product shifts no order's id.
 */
export class Ids {
  readonly seed: number | undefined;
  readonly #counts: Record<IdKind, number>;

  constructor(seed: number | undefined, counts: Readonly<Record<IdKind, number>> | undefined) {
    this.seed = seed;
    this.#counts = { prod: 0, chk: 0, ord: 0, evt: 0, ...counts };
  }

  get counts(): Readonly<Record<IdKind, number>> {
    return { ...this.#counts };
  }

  next(kind: IdKind): string {
    const count = ++this.#counts[kind];
    return `${kind}_${this.seed === undefined ? randomText() : letters(digest(this.seed, kind, count))}`;
  }
}

const digest = (seed: number, kind: IdKind, count: number) =>
  createHash('sha256').update(`${seed}:${kind}:${count}`).digest();
