import { ApiPromise, type Completed } from './api-promise.js';
import type { Pagination } from './schemas/pagination.js';

/** Asks for one page by its number. */
export type AskForPage<T> = (page: number) => ApiPromise<Page<T>>;

/** One page of a list. */
export class Page<T> {
  /** The items of this page, in the order of the service. */
  readonly items: readonly T[];
  /** Where this page stands in the list. */
  readonly pagination: Pagination;
  readonly #ask: AskForPage<T>;

  /** @internal */
  constructor(list: { items: readonly T[]; pagination: Pagination }, ask: AskForPage<T>) {
    this.items = list.items;
    this.pagination = list.pagination;
    this.#ask = ask;
  }

  /** Whether the list goes on after this page. An empty page is the last, whatever the totals say. */
  get hasNextPage(): boolean {
    return this.items.length > 0 && this.pagination.page < this.pagination.totalPages;
  }

  /** The next page, or `null` when this is the last. */
  async nextPage(): Promise<Page<T> | null> {
    return this.hasNextPage ? this.#ask(this.pagination.page + 1) : null;
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
  readonly #ask: AskForPage<T>;
  readonly #prefetch: () => number;

  /** @internal */
  constructor(first: Promise<Completed<Page<T>>>, ask: AskForPage<T>, prefetch: () => number) {
    super(first);
    this.#ask = ask;
    this.#prefetch = prefetch;
  }

  /** Every item, page after page, in order. Pages are asked for as they are needed, `prefetch` of them ahead. */
  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    const recent = new RecentIds();
    const underWay: Promise<Page<T>>[] = [];
    let page: Page<T> | undefined = await this;
    let asked = page.pagination.page;
    const prefetch = this.#prefetch();
    while (page) {
      const last: number = page.hasNextPage ? page.pagination.totalPages : 0;
      const askAhead = (upTo: number) => {
        while (asked < last && underWay.length < upTo) underWay.push(handled(this.#ask(++asked)));
      };
      // The page that is being read counts as one of those that are held.
      askAhead(prefetch - 1);
      for (const item of page.items) if (recent.isNew(item.id)) yield item;
      askAhead(prefetch);
      page = last > 0 ? await underWay.shift() : undefined;
    }
  }
}

/**
 * Ids of the last items that were yielded. A product that is created while a list is read pushes the last item of
 * one page onto the next; as many ids are kept as may be pushed without an item coming twice.
 */
class RecentIds {
  readonly #ids = new Set<string>();

  isNew(id: string): boolean {
    if (this.#ids.has(id)) return false;
    this.#ids.add(id);
    if (this.#ids.size > 1000) {
      const [oldest] = this.#ids;
      if (oldest !== undefined) this.#ids.delete(oldest);
    }
    return true;
  }
}

/** A page asked for ahead may fail after the reader has left; the failure matters only when it is read. */
function handled<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  return promise;
}
