import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, vi } from 'vitest';
import {
  type CommonInboxOptions,
  type DatabaseInboxOptions,
  type Inbox,
  type InboxDelivery,
  type InboxHooks,
  openInbox,
} from '../../src/inbox/index.js';
import { databaseClass, type SqliteDatabase } from '../../src/inbox/sqlite.js';
import { sign } from '../../src/webhooks/index.js';

export const secret = 'whsec_merchant_test_7Qm2xV9c';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

export function deferCleanup(cleanup: () => unknown): void {
  cleanups.push(cleanup);
}

export function temporaryFolder(): string {
  // On macOS the folder for temporary files is a link, and SQLite names where it leads.
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'inbox-')));
  // Windows holds the files of a process for a moment after its end.
  deferCleanup(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));
  return folder;
}

export function temporaryFile(): string {
  return join(temporaryFolder(), 'inbox.sqlite');
}

/** A second connection, as another program has it. */
export function connect(file: string): SqliteDatabase {
  const database = new (databaseClass())(file);
  deferCleanup(() => {
    if (database.isOpen) database.close();
  });
  return database;
}

export function orderPaid(order_id: string): string {
  return JSON.stringify({ type: 'order.paid', data: { order_id, amount: '19.90', currency: 'USD' } });
}

/** Options of any inbox: its function looks at nothing that differs between the stores. */
type NotingOptions = CommonInboxOptions<{ attempt: number }>;

export interface OpenedInbox {
  inbox: Inbox;
  /** `[order_id, attempt]` of each call of the function. */
  calls: [orderId: string, attempt: number][];
  errors: unknown[];
  /** The calls of the hooks, in order. */
  hookCalls: [name: string, facts: object][];
  post(
    body: string | Uint8Array<ArrayBuffer>,
    headers?: Record<string, string>,
  ): Promise<{ status: number; body: unknown }>;
}

/** An inbox on SQLite that notes what happens; closed after the test. */
export function openSqlite(
  { file = ':memory:', database, ...options }: OpenedOptions = {},
  alone?: { sameProcess?: boolean },
): OpenedInbox {
  const place = database ? { database } : { file };
  return openAndRecord((noting) => openInbox({ ...noting, ...options, ...place }), alone);
}

interface OpenedOptions extends CommonInboxOptions<InboxDelivery> {
  file?: string | undefined;
  database?: DatabaseInboxOptions['database'] | undefined;
}

/** Notes what happens in an inbox. Each is as alone as in a process of its own. */
export function openAndRecord(
  open: (noting: NotingOptions) => Inbox,
  { sameProcess = false } = {},
): OpenedInbox {
  if (!sameProcess) Reflect.deleteProperty(globalThis, Symbol.for('merchant-payments.inbox'));
  const calls: [string, number][] = [];
  const errors: unknown[] = [];
  const hookCalls: [string, object][] = [];
  const note = (name: string) => (facts: object) => hookCalls.push([name, facts]);
  const hooks: InboxHooks = {
    received: note('received'),
    duplicate: note('duplicate'),
    refused: note('refused'),
    started: note('started'),
    done: note('done'),
    failed: note('failed'),
    parked: note('parked'),
  };
  const inbox = open({
    secret,
    hooks,
    onError: (error) => errors.push(error),
    graceMs: 0,
    on: { 'order.paid': (event, { attempt }) => calls.push([event.data.order_id, attempt]) },
  });
  deferCleanup(() => inbox.close());
  const post = async (body: string | Uint8Array<ArrayBuffer>, headers = sign({ rawBody: body, secret })) => {
    const response = await inbox.handler(
      new Request('https://shop.example/webhooks', { method: 'POST', body, headers }),
    );
    return { status: response.status, body: await response.json() };
  };
  return { inbox, calls, errors, hookCalls, post };
}

/** Awaits the promise while the clock gains five seconds again and again, so that no test waits for a time limit. */
export async function runTimers<Result>(promise: Promise<Result>): Promise<Result> {
  vi.useFakeTimers({ toFake: ['performance'] });
  const timer = setInterval(() => vi.advanceTimersByTime(5000), 20);
  try {
    return await promise;
  } finally {
    clearInterval(timer);
    vi.useRealTimers();
  }
}

/**
 * A clock that stands still while this process does, and otherwise goes at most as fast as the real one: on a busy machine,
 * no lease ends before its renewal had a turn. PostgreSQL has a clock of its own.
 */
export function steadyClock(): void {
  const beatMs = 5;
  let now = Date.now();
  const timer = setInterval(() => {
    now += beatMs;
  }, beatMs);
  const clock = vi.spyOn(Date, 'now').mockImplementation(() => now);
  deferCleanup(() => {
    clearInterval(timer);
    clock.mockRestore();
  });
}

export const received = { status: 200, body: { received: true } };

export function withResolvers<Value = void>() {
  let resolve: (value: Value) => void = () => {};
  const promise = new Promise<Value>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
