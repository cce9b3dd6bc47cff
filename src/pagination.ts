import * as z from 'zod/mini';
import { ApiPromise, type Completed } from './api-promise.js';
import { captureStack, InvalidResponseError } from './errors.js';
import { readParams } from './input/read.js';
import type { Pagination } from './schemas/pagination.js';

/** An item of a list. */
interface Item {
  id: string;
  /** The creation time, which shows if the list begins with the newest item. */
  createdAt?: Date | undefined;
}

/** The source of the other pages of a list. */
export interface PageSource<T extends Item> {
  /** The name of the list in errors. */
  operation: { operation: string; method: string; path: string };
  /** The number of pages that may be held at once while iterating. */
  prefetch: number;
  /** Requests another page. A loop passes `loopController`, and aborts it when its reader leaves the loop. */
  ask(page: number, loopController?: AbortController): ApiPromise<Page<T>>;
}

/** One page of a list. Iterate over it for every item from this page on. */
export class Page<T extends Item> implements AsyncIterable<T> {
  /** The items of this page, in the order of the service. */
  readonly items: readonly T[];
  /** The position of this page in the list. */
  readonly pagination: Pagination;
  readonly #source: PageSource<T>;

  /** @internal */
  constructor(list: { items: readonly T[]; pagination: Pagination }, source: PageSource<T>) {
    this.items = list.items;
    this.pagination = list.pagination;
    this.#source = source;
  }

  /** @internal The source, for `itemsFrom()`. It is an accessor because a bundler would rename a class that names itself, and a logged page would show that name. */
  get source(): PageSource<T> {
    return this.#source;
  }

  /** True if the list goes on after this page. An empty page is the last, whatever the totals say. */
  get hasNextPage(): boolean {
    return this.items.length > 0 && this.pagination.page < this.pagination.totalPages;
  }

  /** Returns the next page, or `null` if this is the last. */
  async nextPage(): Promise<Page<T> | null> {
    return this.hasNextPage ? this.#source.ask(this.pagination.page + 1) : null;
  }

  /** Iterates over every item from this page on. */
  [Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    return itemsFrom(Promise.resolve(this), new AbortController());
  }
}

/**
 * The result of a list call: a promise of its page, and an async iterable over every item from that page on.
 *
 * @example
 * ```ts
 * for await (const product of payments.products.list({ status: 'ACTIVE' })) console.log(product.name);
 * ```
 */
export class ListPromise<T extends Item> extends ApiPromise<Page<T>> implements AsyncIterable<T> {
  #loopController: AbortController | undefined;
  readonly #operation: string;

  /** @internal */
  constructor(completed: Promise<Completed<Page<T>>>, loopController: AbortController, operation: string) {
    super(completed);
    this.#loopController = loopController;
    this.#operation = operation;
  }

  /** Returns `Promise`, as in `ApiPromise`: otherwise the prototype's own `constructor` would be found first. */
  // biome-ignore lint/complexity/useLiteralKeys: only in brackets may an accessor have this name.
  override get ['constructor'](): PromiseConstructor {
    return Promise;
  }

  /**
   * Iterates over every item, page after page, in order. Pages are requested as they are needed, and `prefetch` pages are
   * held at once. If items leave the list meanwhile, other items move to earlier pages, so those pages are read again.
   */
  [Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    // The first loop also ends the request for the first page.
    const loopController = this.#loopController ?? new AbortController();
    this.#loopController = undefined;
    return itemsFrom(this, loopController);
  }

  /**
   * Resolves to an array of the first items, `limit` at most: a list may be longer than you want to hold or wait for.
   *
   * @throws {InvalidParamsError} `limit` is missing, or is not an integer of at least 1, or another name was passed.
   * @example
   * ```ts
   * const products = await payments.products.list({ status: 'ACTIVE' }).toArray({ limit: 500 });
   * console.log(products.length);
   * ```
   */
  async toArray(options: { limit: number }): Promise<T[]> {
    const limit = this.#readLimit(options);
    const items: T[] = [];
    for await (const item of this) if (items.push(item) === limit) break;
    return items;
  }

  #readLimit(options: unknown): number {
    try {
      return readParams(this.#operation, toArrayOptions, options ?? {}).limit;
    } catch (error) {
      // Leaving the list keeps back a request that has not been sent yet.
      this[Symbol.asyncIterator]().return();
      throw error;
    }
  }
}

const noLimit = 'must be an integer of at least 1, as in toArray({ limit: 500 }).';
const toArrayOptions = z.strictObject(
  { limit: z.int(noLimit).check(z.gte(1, noLimit)) },
  'must be an object, as in toArray({ limit: 500 }).',
);

/** The signals of loops that their reader has left. */
const leftSignals = new WeakSet<AbortSignal>();

/** Aborts the pages in flight, with an AbortError, as their reader leaves the loop. */
function leave(loopController: AbortController): void {
  if (!loopController.signal.aborted) leftSignals.add(loopController.signal);
  loopController.abort();
}

/**
 * Returns a generator of every item from a page on. A plain generator cannot be left before the page that it waits for
 * arrives.
 */
function itemsFrom<T extends Item>(first: Promise<Page<T>>, loopController: AbortController) {
  const items = readItems(first, loopController);
  for (const name of ['return', 'throw'] as const) {
    const end = items[name].bind(items);
    items[name] = (value) => {
      leave(loopController);
      // Nothing reads the first page of a loop that has not begun, so its rejection is handled here.
      first.catch(() => {});
      return end(value);
    };
  }
  return items;
}

async function* readItems<T extends Item>(first: Promise<Page<T>>, loopController: AbortController) {
  const { signal } = loopController;
  const ignoreIfLeft = (error: unknown): undefined => {
    if (!leftSignals.has(signal)) throw error;
  };
  try {
    let page: Page<T> | undefined = await first.catch(ignoreIfLeft);
    if (!page) return;
    const { prefetch, ask } = page.source;
    const reader = new ListReader(page);
    const inFlight: { number: number; page: Promise<Page<T>> }[] = [];
    let number = page.pagination.page;
    let asked = number;
    const askAhead = (upTo: number) => {
      while (asked < reader.last && inFlight.length < upTo) {
        const next = ask(++asked, loopController);
        // A page may fail after the reader has left. Its rejection matters only when the page is read.
        next.catch(() => {});
        inFlight.push({ number: asked, page: next });
      }
    };
    while (page && !leftSignals.has(signal)) {
      const items = reader.take(number, page);
      // The page that is being read counts as one of those that are held.
      askAhead(prefetch - 1);
      for (const item of items) yield item;
      const { next } = reader;
      if (next === undefined) return;
      // The list may have become shorter since these pages were requested.
      while (inFlight[0] && inFlight[0].number > reader.last) inFlight.shift();
      const isAsked = inFlight.some((each) => each.number === next);
      if (!isAsked && (next <= number || inFlight.length === 0)) asked = next - 1;
      askAhead(prefetch);
      const following = inFlight.shift();
      if (!following) return;
      number = following.number;
      page = await following.page.catch((error: unknown) =>
        ignoreIfLeft(error === signal.reason ? error : captureStack(error)),
      );
    }
  } finally {
    leave(loopController);
  }
}

/** The largest expected difference between the clocks of the service and of this process. */
const clockSkewMs = 60_000;

/**
 * The progress of reading a list while items join and leave it. Each item that stays in the list is taken exactly once.
 *
 * Every such item at a place before `#end` has been taken. If new items join at the beginning of the list, an item moves
 * towards the beginning by no more places than the list lost items. If new items join at the end, they may hide losses in
 * the total, so the list is read once more if an item was created meanwhile.
 */
class ListReader<T extends Item> {
  /** The number of the last page, as far as it is known. */
  last = 0;
  readonly #operation: PageSource<T>['operation'];
  readonly #size: number;
  readonly #start: number;
  readonly #began = Date.now() - clockSkewMs;
  readonly #ids = new Set<string>();
  #end: number;
  #total: number;
  #isNewestFirst = true;
  #lastTaken = 0;
  #lastCreatedAt = 0;
  #hasNewItem = false;
  #furthest = 0;
  #fewest: number;
  #pagesWithoutProgress = 0;

  constructor({ items, pagination, source }: Page<T>) {
    this.#operation = source.operation;
    this.#size = Math.max(1, pagination.size, items.length);
    this.#start = (pagination.page - 1) * this.#size;
    this.#end = this.#start;
    this.#total = pagination.total;
    this.#fewest = pagination.total;
  }

  /** The number of the page to read next if pages are read one by one; `undefined` at the end of the list. */
  get next(): number | undefined {
    const next = Math.floor(this.#end / this.#size) + 1;
    return next <= this.last ? next : undefined;
  }

  /** Returns the items of a page that were not taken yet. */
  take(number: number, { items, pagination: { total, totalPages } }: Page<T>): T[] {
    const from = (number - 1) * this.#size;
    this.#end -= Math.max(0, this.#total - total);
    this.#total = total;
    // Items that moved before the first page cannot be told from those that were there already.
    if (this.#end < this.#start && this.#start > 0) throw this.#changedError();
    this.#end = Math.max(this.#start, this.#end);
    if (from <= this.#end) this.#end = Math.max(this.#end, from + this.#size);
    this.last = items.length > 0 ? totalPages : Math.min(totalPages, number - 1);
    const taken = items.filter(({ id }) => !this.#ids.has(id));
    for (const { id } of taken) this.#ids.add(id);
    this.#noteOrder(number, items, taken);
    // Without a limit, a list that changes with each page would be read endlessly.
    const isProgress = this.#end > this.#furthest || total < this.#fewest;
    this.#pagesWithoutProgress = isProgress ? 0 : this.#pagesWithoutProgress + 1;
    if (this.#pagesWithoutProgress > 100 + 2 * totalPages) throw this.#changedError();
    this.#furthest = Math.max(this.#furthest, this.#end);
    this.#fewest = Math.min(this.#fewest, total);
    if (this.next === undefined && this.#hasNewItem && !this.#isNewestFirst && number > 1) {
      this.#hasNewItem = false;
      this.#end = this.#start;
    }
    return taken;
  }

  #noteOrder(number: number, items: readonly T[], taken: readonly T[]): void {
    if (number !== this.#lastTaken + 1) this.#lastCreatedAt = Number.POSITIVE_INFINITY;
    this.#lastTaken = number;
    for (const { createdAt } of items) {
      const at = createdAt?.getTime() ?? 0;
      if (at > this.#lastCreatedAt) this.#isNewestFirst = false;
      this.#lastCreatedAt = at;
    }
    if (taken.some(({ createdAt }) => (createdAt?.getTime() ?? 0) >= this.#began)) this.#hasNewItem = true;
  }

  #changedError(): InvalidResponseError {
    const { operation, method, path } = this.#operation;
    const message = `${method} ${path}: the list changed too much while it was read, so items may be missing. Read it again from its first page.`;
    const facts = { operation, method, path, outcome: 'done' as const, attempts: 1, status: 200 };
    return new InvalidResponseError(message, { ...facts, reason: 'changed', issues: [] });
  }
}
