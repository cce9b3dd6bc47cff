import { ApiPromise, type Completed } from './api-promise.js';
import { InvalidParamsError, traced } from './errors.js';
import type { Pagination } from './schemas/pagination.js';

/** How the other pages of a list are read. */
export interface PageSource<T extends { id: string }> {
  /** How many pages may be held at once while iterating. */
  prefetch: number;
  /** Another page, by itself or for a loop, which aborts `leaving` when it is left. */
  ask(page: number, leaving?: AbortController): ApiPromise<Page<T>>;
}

/** One page of a list. Iterate over it for every item from this page on. */
export class Page<T extends { id: string }> implements AsyncIterable<T> {
  /** The items of this page, in the order of the service. */
  readonly items: readonly T[];
  /** Where this page stands in the list. */
  readonly pagination: Pagination;
  readonly #source: PageSource<T>;

  /** @internal */
  constructor(list: { items: readonly T[]; pagination: Pagination }, source: PageSource<T>) {
    this.items = list.items;
    this.pagination = list.pagination;
    this.#source = source;
  }

  /** @internal For `itemsFrom()`: a bundler would rename a class that names itself, and a logged page would show that. */
  get source(): PageSource<T> {
    return this.#source;
  }

  /** Whether the list goes on after this page. An empty page is the last, whatever the totals say. */
  get hasNextPage(): boolean {
    return this.items.length > 0 && this.pagination.page < this.pagination.totalPages;
  }

  /** The next page, or `null` when this is the last. */
  async nextPage(): Promise<Page<T> | null> {
    return this.hasNextPage ? this.#source.ask(this.pagination.page + 1) : null;
  }

  /** Every item from this page on. */
  [Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    return itemsFrom(Promise.resolve(this), new AbortController());
  }
}

/**
 * What a list call returns: a promise of its page, and an async iterable over every item from that page on.
 *
 * @example
 * ```ts
 * for await (const product of payments.products.list({ status: 'ACTIVE' })) console.log(product.name);
 * ```
 */
export class ListPromise<T extends { id: string }> extends ApiPromise<Page<T>> implements AsyncIterable<T> {
  #leaving: AbortController | undefined;
  readonly #operation: string;

  /** @internal */
  constructor(completed: Promise<Completed<Page<T>>>, leaving: AbortController, operation: string) {
    super(completed);
    this.#leaving = leaving;
    this.#operation = operation;
  }

  /** Every item, page after page, in order. Pages are requested as they are needed; `prefetch` of them are held at once. */
  [Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    // The first loop ends the request for its first page, too.
    const leaving = this.#leaving ?? new AbortController();
    this.#leaving = undefined;
    return itemsFrom(this, leaving);
  }

  /**
   * The first items in an array, `limit` at most: a list may be longer than what you want to hold or wait for.
   *
   * @throws {InvalidParamsError} `limit` is missing or no integer of at least 1.
   * @example
   * ```ts
   * const products = await payments.products.list({ status: 'ACTIVE' }).toArray({ limit: 500 });
   * console.log(products.length);
   * ```
   */
  async toArray(options: { limit: number }): Promise<T[]> {
    let limit: unknown;
    try {
      limit = options?.limit;
    } catch {} // A getter threw.
    if (typeof limit !== 'number' || !Number.isSafeInteger(limit) || limit < 1) {
      // Leaves the list: a request that has not gone out yet does not.
      this[Symbol.asyncIterator]().return();
      const message = 'must be an integer of at least 1, as in toArray({ limit: 500 }).';
      throw new InvalidParamsError({ operation: this.#operation }, [{ path: 'limit', message }]);
    }
    const items: T[] = [];
    for await (const item of this) if (items.push(item) === limit) break;
    return items;
  }
}

/** Why the pages in flight are aborted when their reader leaves: an AbortError. */
const left: unknown = AbortSignal.abort().reason;

/** Every item from a page on. A generator by itself cannot be left before the page that it waits for has come. */
function itemsFrom<T extends { id: string }>(first: Promise<Page<T>>, leaving: AbortController) {
  const items = readItems(first, leaving);
  for (const name of ['return', 'throw'] as const) {
    const end = items[name].bind(items);
    items[name] = (value) => {
      leaving.abort(left);
      // A loop that has not begun does not read its page.
      first.catch(() => {});
      return end(value);
    };
  }
  return items;
}

async function* readItems<T extends { id: string }>(first: Promise<Page<T>>, leaving: AbortController) {
  const { signal } = leaving;
  const unlessLeft = (error: unknown): undefined => {
    if (signal.reason !== left) throw error;
  };
  let page: Page<T> | undefined = await first.catch(unlessLeft);
  /**
   * Ids of the last items: a product that is created while a list is read pushes the last item of one page onto the
   * next. As many are kept as may be pushed without an item coming twice.
   */
  let recent = new Set<string>();
  const inFlight: Promise<Page<T>>[] = [];
  let asked = page?.pagination.page ?? 0;
  try {
    while (page && signal.reason !== left) {
      const { prefetch, ask } = page.source;
      const last: number = page.hasNextPage ? page.pagination.totalPages : 0;
      const askAhead = (upTo: number) => {
        while (asked < last && inFlight.length < upTo) {
          const next = ask(++asked, leaving);
          // A page may fail after the reader has left: that matters only when it is read.
          next.catch(() => {});
          inFlight.push(next);
        }
      };
      // The page that is being read counts as one of those that are held.
      askAhead(prefetch - 1);
      for (const item of page.items) {
        if (recent.has(item.id)) continue;
        if (recent.size === 2000) recent = new Set([...recent].slice(1000));
        recent.add(item.id);
        yield item;
      }
      askAhead(prefetch);
      if (last === 0) return;
      page = await inFlight
        .shift()
        ?.catch((error: unknown) => unlessLeft(error === signal.reason ? error : traced(error)));
    }
  } finally {
    leaving.abort(left);
  }
}
