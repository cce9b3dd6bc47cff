// The transport carries a call from a resource to the service, and returns its data or throws an error of this package.
import type * as z from 'zod/mini';
import {
  ConfigurationError,
  captureStack,
  InvalidParamsError,
  type Issue,
  isPaymentsError,
} from '../errors.js';
import { runHook } from '../input/hooks.js';
import { isPlainObject } from '../input/object.js';
import { checkPrototype } from '../input/pollution.js';
import { onAbort } from './aborts.js';
import type { Call, CallState, ClientSettings, Operation, Query, ReadParts } from './call.js';
import { type ListOptions, readCallOptions } from './call-options.js';
import { nameOf } from './hooks.js';
import type { sender } from './sender.js';

/**
 * Checks calls, builds their requests and sends them. There is one per client. CONTRIBUTING.md describes the life of a request:
 *
 *     resource → Transport.send → sender → ky → nodeHttp or givenFetch
 */
export class Transport {
  readonly #settings: ClientSettings;
  #makeAttempts: ReturnType<typeof sender> | undefined;

  constructor(settings: ClientSettings) {
    this.#settings = settings;
  }

  /**
   * Sends one call, and resolves to its data and facts with the checked copies of its `parts` and `options`. `readParts` runs
   * at once and adds problems to `issues`; every error rejects the promise. The caller's signal also aborts
   * `loopController`, which ends the whole loop that the call is a part of.
   */
  async send<T>(
    operation: Operation,
    schema: z.ZodMiniType<T>,
    options: ListOptions | undefined,
    readParts: ReadParts,
    loopController?: AbortController,
  ) {
    const startedAt = performance.now();
    const state: CallState = { ok: false, outcome: 'not_sent', attempts: 0 };
    let signal: AbortSignal | undefined;
    let unlink: (() => void) | undefined;
    const { hooks } = this.#settings;
    const facts = () => ({ ...nameOf(operation), durationMs: performance.now() - startedAt });
    try {
      const { call, ...given } = this.#prepare(operation, options, readParts, startedAt);
      signal = call.signal;
      // The sender is always awaited, so that a list that is left at once sends nothing.
      const makeAttempts = await (this.#makeAttempts ?? this.#loadSender(operation));
      if (loopController) {
        const ownSignal = signal;
        unlink = onAbort(ownSignal, () => loopController.abort(ownSignal?.reason));
        signal = call.signal = loopController.signal;
      }
      const { data, facts: responseFacts } = await makeAttempts(call, schema, state);
      return { data, facts: responseFacts, ...given };
    } catch (error) {
      // The caller's own reason passes untouched, even if it is the error of another call.
      if (signal?.aborted && error === signal.reason) throw error;
      captureStack(error);
      if (isPaymentsError(error)) runHook(hooks.error, { ...facts(), attempt: state.attempts, error });
      throw error;
    } finally {
      unlink?.();
      if (hooks.end) runHook(hooks.end, { ...facts(), ...state });
    }
  }

  /** Loads the sender with the first call, because the sender, which includes ky, is half of the client's code. */
  async #loadSender(operation: Operation) {
    const { sender } = await import('./sender.js').catch((cause: unknown) => {
      const message = `${operation.operation}: a file of merchant-payments could not be loaded, so nothing was sent. If the cause is a missing file, deploy the whole package.`;
      throw new ConfigurationError(message, { ...nameOf(operation), cause });
    });
    this.#makeAttempts ??= sender(this.#settings);
    return this.#makeAttempts;
  }

  /** Reads everything that the caller passed, before the first await, and throws an error with every problem. */
  #prepare(operation: Operation, options: ListOptions | undefined, readParts: ReadParts, startedAt: number) {
    checkPrototype(
      (message) => new ConfigurationError(`${operation.operation}: ${message}`, nameOf(operation)),
    );
    const issues: Issue[] = [];
    const parts = readParts(issues) ?? {};
    const settings = this.#settings;
    const given =
      options === undefined ? {} : readCallOptions(issues, options, operation.isList === true, settings);
    const { id, query, body } = parts;
    const json = body === undefined ? null : jsonOf(body, issues);
    if (issues.length > 0) throw new InvalidParamsError(operation, issues);
    const { timeoutMs = settings.timeoutMs, totalTimeoutMs = settings.totalTimeoutMs } = given;
    const call: Call = {
      operation,
      startedAt,
      url: settings.base + pathOf(operation, id, query),
      headers: { ...settings.headers, ...given.headers },
      body: json,
      // The default of one limit yields to the other limit if the caller set that.
      timeoutMs: timeoutMs ?? 20_000,
      totalTimeoutMs: totalTimeoutMs ?? Math.max(60_000, timeoutMs ?? 0),
      maxRetries: given.maxRetries ?? settings.maxRetries,
      signal: given.signal,
    };
    return { call, parts, options: given };
  }
}

/** Writes a body as JSON, or adds to `issues` that it cannot be written. */
function jsonOf(body: unknown, issues: Issue[]): string {
  try {
    const json: unknown = JSON.stringify(body);
    // A Map, a form or a promise would be written as `{}`.
    const isLost = json === '{}' && !isPlainObject(body) && !('toJSON' in Object(body));
    if (typeof json === 'string' && !isLost && !ArrayBuffer.isView(body)) return json;
  } catch {}
  issues.push({ path: 'body', message: 'cannot be written as JSON. Pass plain data.' });
  return '';
}

/** Returns the path of one request, with its query. */
function pathOf({ path }: Operation, id: string | undefined, query: Query | undefined): string {
  const own = id === undefined ? path : path.replace('{id}', () => encodeURIComponent(id));
  if (query === undefined) return own;
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    [value ?? []].flat().map((each) => [name, String(each)]),
  );
  return pairs.length === 0 ? own : `${own}?${new URLSearchParams(pairs)}`;
}
