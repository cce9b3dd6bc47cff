/** The facts of a response besides its data. */
export interface ResponseFacts {
  /** The HTTP status. */
  status: number;
  /** The headers of the response. */
  headers: Headers;
  /** The id to quote to support: the first of `x-request-id`, `request-id`, `x-correlation-id` and `cf-ray`. */
  requestId: string | undefined;
  /** The number of requests that it took: 1 if the first got its response. */
  attempts: number;
  /** From the call to its response, waits included, in milliseconds. */
  durationMs: number;
}

/** Data together with the facts of its response. */
export interface WithResponse<T> {
  /** The value that the call resolves to. */
  data: T;
  /** Status, headers, request id, attempts and duration. */
  response: ResponseFacts;
}

/** A finished call: its data, and the facts of its response when they are asked for. */
export interface Completed<T> {
  data: T;
  facts(): ResponseFacts;
}

/**
 * The promise that every call returns: of the data, with the response on request.
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
    // Resolved with a promise: so an error's stack leads on to the line of whoever awaits this one.
    super((resolve) => resolve(completed.then(({ data }) => data)));
    this.#completed = completed;
  }

  /** Has `then`, `catch`, `finally` and libraries, which use the class of a promise, make plain promises. */
  // biome-ignore lint/complexity/useLiteralKeys: only in brackets may an accessor have this name.
  override get ['constructor'](): PromiseConstructor {
    return Promise;
  }

  /** The data together with `status`, `headers`, `requestId`, `attempts` and `durationMs` of the response. */
  async withResponse(): Promise<WithResponse<T>> {
    const data = await this;
    const { facts } = await this.#completed;
    return { data, response: facts() };
  }
}
