/** The facts of a response besides its data. */
export interface ResponseFacts {
  /** The HTTP status. */
  status: number;
  /** The headers of the response. */
  headers: Headers;
  /** The id to quote to support: the first of `x-request-id`, `request-id`, `x-correlation-id` and `cf-ray`. */
  requestId: string | undefined;
  /** The number of requests that the call took: 1 if the first request got the response. */
  attempts: number;
  /** The time from the call to its response, waits included, in milliseconds. */
  durationMs: number;
}

/** Data together with the facts of its response. */
export interface WithResponse<T> {
  /** The value that the call resolves to. */
  data: T;
  /** Status, headers, request id, attempts and duration. */
  response: ResponseFacts;
}

/** A finished call: its data, and a function that returns the facts of its response. */
export interface Completed<T> {
  data: T;
  facts(): ResponseFacts;
}

/**
 * The promise of data that every call returns. Its `withResponse()` also gives the facts of the response.
 *
 * @example
 * ```ts
 * const { data: balance, response } = await payments.balance.retrieve().withResponse();
 * console.log(balance.available, response.status, response.durationMs);
 * ```
 */
export class ApiPromise<T> extends Promise<T> {
  readonly #completed: Promise<Completed<T>>;

  /** @internal */
  constructor(completed: Promise<Completed<T>>) {
    // Resolving with a promise makes an error's stack lead to the line that awaits this one.
    super((resolve) => resolve(completed.then(({ data }) => data)));
    this.#completed = completed;
  }

  /**
   * Returns `Promise`, so that `then`, `catch`, `finally` and libraries, which use the class of a promise, make plain
   * promises.
   */
  // biome-ignore lint/complexity/useLiteralKeys: only in brackets may an accessor have this name.
  override get ['constructor'](): PromiseConstructor {
    return Promise;
  }

  /** Resolves to the data together with `status`, `headers`, `requestId`, `attempts` and `durationMs` of the response. */
  async withResponse(): Promise<WithResponse<T>> {
    const data = await this;
    const { facts } = await this.#completed;
    return { data, response: facts() };
  }
}
