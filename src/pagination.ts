import { ApiPromise } from './api-promise.js';
import type { Pagination } from './schemas/pagination.js';

/** How the other pages of a list are read. */
export interface PageSource<T> {
  ask(page: number): ApiPromise<Page<T>>;
  /** How many pages may be held at once while iterating. */
  prefetch: number;
}

/** One page of a list. */
export class Page<T> {
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

  /** @internal */
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
  /** Every item, page after page, in order. Pages are requested as they are needed, `prefetch` of them ahead. */
  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    const recent = new RecentIds();
    const inFlight: Promise<Page<T>>[] = [];
    let page: Page<T> | undefined = await this;
    let asked = page.pagination.page;
    const { source } = page;
    while (page) {
      const last: number = page.hasNextPage ? page.pagination.totalPages : 0;
      const askAhead = (upTo: number) => {
        while (asked < last && inFlight.length < upTo) inFlight.push(handled(source.ask(++asked)));
      };
      // The page that is being read counts as one of those that are held.
      askAhead(source.prefetch - 1);
      for (const item of page.items) if (recent.isNew(item.id)) yield item;
      askAhead(source.prefetch);
      page = last > 0 ? await inFlight.shift() : undefined;
    }
  }
}

/**
 * Ids of the last items that were yielded. A product that is created while a list is read pushes the last item of
 * one page onto the next; as many ids are kept as may be pushed without an item coming twice.
 */
class RecentIds {
  #newer = new Set<string>();
  #older = new Set<string>();

  isNew(id: string): boolean {
    if (this.#newer.has(id) || this.#older.has(id)) return false;
    if (this.#newer.size === 1000) {
      this.#older = this.#newer;
      this.#newer = new Set();
    }
    this.#newer.add(id);
    return true;
  }
}

/** A page asked for ahead may fail after the reader has left; the failure matters only when it is read. */
function handled<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  return promise;
}
