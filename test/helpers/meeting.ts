import { setImmediate as nextTurn } from 'node:timers/promises';
import { isPaymentsError, PaymentsClient, type PaymentsClientOptions } from 'merchant-payments';
import { afterEach, beforeEach, expect, vi } from 'vitest';
import { bodyCanary, canaryKey, traces } from './canary.js';
import { type Behaviour, FaultyServer } from './faulty-server.js';

/** The transports: Node's `http`, which is the default, or the platform's `fetch` as the option. */
export const carriers = ['http', 'fetch'] as const;
export type Carrier = (typeof carriers)[number];

export const methods = ['GET', 'POST', 'PATCH'] as const;
export type Method = (typeof methods)[number];

/** A client with the canary for a key. */
export function clientOf(
  carrier: Carrier,
  baseUrl: string,
  options: PaymentsClientOptions = {},
): PaymentsClient {
  const fetch = carrier === 'fetch' ? globalThis.fetch : undefined;
  return new PaymentsClient({ apiKey: canaryKey, baseUrl, fetch, ...options });
}

/** One call with each method; what it sends holds the canary for bodies. */
export function call(client: PaymentsClient, method: Method, signal?: AbortSignal): Promise<unknown> {
  const options = { signal };
  if (method === 'GET') return client.balance.retrieve(options);
  if (method === 'POST') return client.products.create({ name: bodyCanary, price: '19.90' }, options);
  return client.products.update('prod_1', { description: bodyCanary }, options);
}

/** The end of a call, and what the server saw of it. */
export interface Meeting {
  /** The thrown value; `undefined` if the call succeeded. */
  error: unknown;
  value: unknown;
  requests: FaultyServer['requests'];
  connections: number;
  durationMs: number;
}

/** Lets a client call a server that behaves in a certain way, and checks what holds for every call there is. */
export async function meet(
  behave: Behaviour | FaultyServer,
  carrier: Carrier,
  method: Method,
  options: PaymentsClientOptions = {},
  signal?: AbortSignal,
): Promise<Meeting> {
  const server = typeof behave === 'function' ? await FaultyServer.start(behave) : behave;
  const handles = openHandles();
  const client = clientOf(carrier, server.url, options);
  const startedAt = performance.now();
  const { value, error } = await settle(call(client, method, signal));
  const durationMs = performance.now() - startedAt;
  const { requests, connections } = server;
  await server.close();
  await expectNothingLeft(handles);
  expectNoTrace(error);
  return { error, value, requests, connections, durationMs };
}

/** Facts of an error under the names that a test asks for; `error` is its class. */
export function factsOf(error: unknown, names: readonly string[]): Record<string, unknown> {
  if (!isPaymentsError(error)) return { error };
  return Object.fromEntries(
    names.map((name) => [name, name === 'error' ? error.name : Reflect.get(error, name)]),
  );
}

export async function settle(promise: Promise<unknown>): Promise<{ value: unknown; error: unknown }> {
  try {
    return { value: await promise, error: undefined };
  } catch (error) {
    return { value: undefined, error };
  }
}

/** Neither the key nor a body can be read out of what a caller is given. */
export function expectNoTrace(error: unknown): void {
  expect(traces(error)).toEqual([]);
  expect(traces(error, bodyCanary)).toEqual([]);
}

const timers = new Set<NodeJS.Timeout>();
const printed: unknown[][] = [];

/**
 * For every test of a file: waits between attempts take no time, timers that are left over are counted, and nothing
 * is printed. After a while in which the machine stood still, Node runs timers first; here they come last, so that a limit
 * ends no request that the server had no chance to read.
 */
export function watch(): void {
  beforeEach(() => {
    vi.spyOn(Math, 'random').mockReturnValue(0);
    timers.clear();
    printed.length = 0;
    const { setTimeout, clearTimeout } = globalThis;
    vi.stubGlobal('setTimeout', (run: (...values: unknown[]) => void, ms: number, ...values: unknown[]) => {
      const timer = setTimeout(async () => {
        for (let turn = 0; turn < 10; turn++) await nextTurn();
        if (timers.delete(timer)) run(...values);
      }, ms);
      timers.add(timer);
      return timer;
    });
    vi.stubGlobal('clearTimeout', (timer: NodeJS.Timeout) => {
      timers.delete(timer);
      clearTimeout(timer);
    });
    for (const method of ['log', 'info', 'warn', 'error', 'debug', 'trace', 'dir'] as const) {
      vi.spyOn(console, method).mockImplementation((...values: unknown[]) => printed.push(values));
    }
    vi.spyOn(process, 'emitWarning').mockImplementation((...values: unknown[]) => {
      printed.push(values);
    });
  });
  afterEach(() => {
    expect(printed).toEqual([]);
    // Timers that keep no process alive are the platform's: it closes idle connections by them.
    expect([...timers].filter((timer) => timer.hasRef())).toEqual([]);
  });
}

function openHandles(): number {
  return process.getActiveResourcesInfo().filter((name) => /^(?:TCP|TLS|GetAddrInfo|Zlib|Brotli)/.test(name))
    .length;
}

/** Sockets close a few turns of the event loop after both sides have let go of them. */
async function expectNothingLeft(before: number): Promise<void> {
  await vi.waitFor(() => expect(openHandles()).toBeLessThan(before), { interval: 1 });
}
