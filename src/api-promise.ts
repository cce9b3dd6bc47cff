/** What is known of the response besides its data. */
export interface ResponseFacts {
  /** The HTTP status. */
  status: number;
  /** The headers of the response. */
  headers: Headers;
  /** How many requests it took: 1 when the first got its response. */
  attempts: number;
  /** From the call to its response, waits included, in milliseconds. */
  durationMs: number;
}

/** Data together with the facts of its response. */
export interface WithResponse<T> {
  /** What the call resolves to. */
  data: T;
  /** Status, headers, attempts and duration. */
  response: ResponseFacts;
}

/** A finished call: its data, and the facts of its response when they are asked for. */
export interface Completed<T> {
  data: T;
  facts(): ResponseFacts;
}

/**
 * What every call returns: a promise of the data, with the response on request.
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
    super((resolve, reject) => {
      completed.then(({ data }) => resolve(data), reject);
    });
    this.#completed = completed;
  }

  /** `then`, `catch` and `finally` return plain promises. */
  static override get [Symbol.species](): PromiseConstructor {
    return Promise;
  }

  /** The data together with `status`, `headers`, `attempts` and `durationMs` of the response. */
  async withResponse(): Promise<WithResponse<T>> {
    // Whoever asks this way handles a failure here, so the promise itself must not count as unhandled.
    this.catch(() => {});
    const { data, facts } = await this.#completed;
    return { data, response: facts() };
  }
}
