import { Buffer } from 'node:buffer';
import { setTimeout as sleep } from 'node:timers/promises';
import * as z from 'zod/mini';
import { ConfigurationError } from '../errors.js';
import type { Duration } from '../input/duration.js';
import { checkPrototype } from '../input/pollution.js';
import { readParams } from '../input/read.js';
import { type LateSecret, lateChecks } from '../webhooks/checks.js';
import type { Delivery } from '../webhooks/delivery.js';
import { fetchHandler } from '../webhooks/handler.js';
import type { SignatureScheme } from '../webhooks/index.js';
import { type NodeListener, nodeListener } from '../webhooks/node-handler.js';
import { optionsObject, readWebhookOptions } from '../webhooks/options.js';
import { isProbe } from '../webhooks/probe.js';
import { createResponder, factsOf, failedReply, okReply, type Reply } from '../webhooks/responder.js';
import { schemeSchema } from '../webhooks/scheme.js';
import { tolerance } from '../webhooks/timestamp.js';
import type { InboxEntry, InboxStats, RefusedEntry } from './entry.js';
import { createIntake, type Recovered } from './intake.js';
import { type InboxOptions, readInboxOptions } from './options.js';
import type { DiscardRefusedParams, ListParams } from './params.js';
import {
  drainParams,
  listParams,
  purgeParams,
  readDelivery,
  readDeliveryKey,
  readDiscard,
  refusedParams,
  retryOptions,
} from './params.js';
import type { PostgresClient } from './postgres.js';
import { PostgresStore } from './postgres-store.js';
import { purgeRegularly } from './purging.js';
import { redactError } from './redact.js';
import { SqliteStore } from './sqlite-store.js';
import type { InboxStore } from './store.js';
import { Worker } from './worker.js';

/**
 * A durable webhook receiver. Its methods need no `this`: pass `inbox.nodeHandler` as it is. Invalid parameters reject with
 * `InvalidParamsError`; after `close()`, methods reject with `ConfigurationError`, and the handlers respond with 503.
 */
export interface Inbox {
  /** Receives Fetch requests: 200 once the delivery is stored, 200 for a duplicate, else as `handler()` responds. */
  handler: (request: Request) => Promise<Response>;
  /** Receives requests of `node:http` and frameworks on it, as `webhooks.nodeHandler()` does. */
  nodeHandler: NodeListener;
  /** Stores a delivery that you verified yourself; resolves once it is stored, or if it is a duplicate. */
  accept: (delivery: Omit<Delivery, 'digest'> & { digest?: string | undefined }) => Promise<void>;
  /** Counts the deliveries in each state. */
  stats: () => Promise<InboxStats>;
  /** Returns deliveries, newest first. */
  list: (params?: ListParams) => Promise<InboxEntry[]>;
  /** Returns one delivery, by its key; `undefined` if there is none. */
  get: (key: string) => Promise<InboxEntry | undefined>;
  /**
   * Makes a pending or parked delivery due now, with all its retries, and reads again what could not be read; `false` if there is
   * none with that key. `force` also takes a running one from its function, which may be stuck; on PostgreSQL the call rejects
   * with `inbox_busy` if another process has the delivery in a transaction for five seconds.
   */
  retry: (key: string, options?: { force?: boolean | undefined }) => Promise<boolean>;
  /** Retries every parked delivery but those with another content under a known key. Returns how many. */
  retryParked: () => Promise<number>;
  /** Makes every pending delivery due now, with all its retries, as when the system that they need is back. Returns how many. */
  retryPending: () => Promise<number>;
  /** Gives up a pending or parked delivery, but keeps its key. `false` if there is none with that key. */
  discard: (key: string) => Promise<boolean>;
  /** Deletes event, body and headers of deliveries that were done or discarded before `olderThan`, but keeps keys. Returns how many. */
  purge: (params: { olderThan: Duration | Date }) => Promise<number>;
  /** Returns the quarantine, newest first, at most `limit` entries (1 to 1000, default 100): refused deliveries that another scheme, secret or tolerance may prove authentic and fresh. An entry counts how often the same body came. */
  refused: (params?: { limit?: number | undefined }) => Promise<RefusedEntry[]>;
  /** Deletes entries of the quarantine: one, those that were refused the last time before `olderThan`, or all. Returns how many. */
  discardRefused: (which: DiscardRefusedParams) => Promise<number>;
  /**
   * Verifies the quarantine again, each delivery as of when it was received, by default with the options of this inbox. Authentic
   * deliveries are stored and worked on. Their `receivedAt` is when they were signed if that is outside of this inbox's tolerance.
   */
  recover: (params?: RecoverParams) => Promise<Recovered>;
  /** Works off what is due, for cron routes with `work: false`: claims nothing after `forMs`, and waits for functions that run in this process. Does nothing during `next build`. */
  drain: (params: { forMs: Duration }) => Promise<void>;
  /** Resolves when nothing is due or running, or on `close()`. A retry that is due later is not waited for. */
  idle: () => Promise<void>;
  /** Closes the inbox: responds with 503, waits `graceMs` for functions, then aborts them and releases their deliveries. Your own `database` or `pool` stays open. */
  close: () => Promise<void>;
  /** Calls `close()`, for `await using`. */
  [Symbol.asyncDispose]: () => Promise<void>;
}

/** Parameters of `recover()`: what differs from the options of the inbox. */
export interface RecoverParams {
  /** The secret, or several, or a function that returns them. */
  secret?: LateSecret;
  /** The fields of the signature scheme that differ from the default. */
  scheme?: Partial<SignatureScheme> | undefined;
  /** Seconds, above 0. Pass more than the inbox has for deliveries that a wrong clock refused. `Infinity` turns the check off. */
  toleranceSeconds?: number | undefined;
}

const recoverParams = optionsObject('{ secret, scheme }', {
  secret: z.optional(z.unknown()),
  scheme: z.optional(schemeSchema),
  toleranceSeconds: z.optional(tolerance),
});

/**
 * Opens a durable webhook receiver: a delivery is on the disk before the response is 200, and your function is called until
 * it succeeds, across crashes and restarts. Several processes may share a `file` or `database` of SQLite (`node:sqlite`: Node
 * 22.13 or later), and several servers a `pool` of PostgreSQL 13 or later, on which `commit()` takes a function that may be async. Keeps the process alive until `close()`, unless `work` is `false`.
 *
 * @throws {ConfigurationError} this runtime has no `node:sqlite`, or the file or database cannot be used. A problem of a `pool`
 * rejects the first method.
 * @throws {WebhookConfigError} another option is invalid.
 * @example
 * ```ts no-run: needs Node 22.13
 * import { createServer } from 'node:http';
 * import { openInbox } from 'merchant-payments/inbox';
 *
 * const inbox = openInbox({
 *   file: 'orders.sqlite',
 *   secret: process.env.PAYMENTS_WEBHOOK_SECRET,
 *   on: {
 *     'order.paid': (event, { commit }) => {
 *       commit((db) => db.prepare('INSERT INTO paid (order_id) VALUES (?)').run(event.data.order_id));
 *     },
 *   },
 * });
 * createServer(inbox.nodeHandler).listen(3000);
 * ```
 */
export function openInbox<Client extends PostgresClient = PostgresClient>(
  options: InboxOptions<Client>,
): Inbox {
  const settings = readInboxOptions(options);
  const { own, place, work, fulfils, callHook, report, graceMs, purgeAfterMs } = settings;
  const checks = lateChecks(own);
  const store = 'pool' in place ? new PostgresStore(place, report) : new SqliteStore(place);
  const intake = createIntake(settings, store);
  const destination = { checks, callHook, report, mustRead: false, handOver, keep: intake.refuse };
  const respond = createResponder(own.scheme, destination);
  const textOf = async (error: unknown) =>
    redactError(error, (await checks().catch(() => undefined))?.secret);
  const worker = new Worker({ ...settings, store, reread: intake.reread, textOf });
  let closing: Promise<void> | undefined;
  if (work) worker.takeOver();
  const endPurging =
    work && purgeAfterMs !== undefined ? purgeRegularly(store, purgeAfterMs, report) : undefined;

  const respondWhileOpen: typeof respond = async (incoming) => (closing ? refuse(closed) : respond(incoming));
  return {
    handler: fetchHandler(respondWhileOpen),
    nodeHandler: nodeListener({ respond: respondWhileOpen, report }),
    async accept(given) {
      const delivery = readDelivery(given);
      const { rawBody, encoding } = delivery;
      callHook('received', { ...factsOf(delivery), bytes: Buffer.byteLength(rawBody, encoding ?? 'utf8') });
      if (!isProbe(delivery.event)) await put(delivery);
    },
    stats: async () => requireOpen().stats(),
    list: async (params = {}) => requireOpen().list(readParams('inbox.list', listParams, params)),
    get: async (key) => requireOpen().get(readDeliveryKey('get', key)),
    async retry(given, options = {}) {
      requireOpen();
      const key = readDeliveryKey('retry', given);
      const { force } = readParams('inbox.retry', retryOptions, options);
      // The function is stopped first: it may hold the row in a transaction, or the only connection.
      if (force) await Promise.all(worker.together.map((each) => each.release(key)));
      return requireOpen().retry(key, force).finally(wake);
    },
    retryParked: async () => requireOpen().retryParked().finally(wake),
    retryPending: async () => requireOpen().retryPending().finally(wake),
    discard: async (key) => requireOpen().discard(readDeliveryKey('discard', key)),
    purge: async (params) =>
      requireOpen().purge(readParams('inbox.purge', purgeParams, params ?? {}).olderThan),
    refused: async (params = {}) =>
      requireOpen().refused(readParams('inbox.refused', refusedParams, params).limit),
    discardRefused: async (which) => requireOpen().discardRefused(readDiscard(which)),
    async recover(params = {}) {
      requireOpen();
      const other = readWebhookOptions('inbox.recover()', recoverParams, params);
      const { secret = own.secret, scheme = own.scheme, toleranceSeconds = own.toleranceSeconds } = other;
      return intake.recover(await lateChecks({ secret, scheme, toleranceSeconds })()).finally(wake);
    },
    async drain(params) {
      requireOpen();
      if (!fulfils) throw new ConfigurationError(noFunction);
      await worker.drain(readParams('inbox.drain', drainParams, params ?? {}).forMs);
    },
    async idle() {
      while (!closing && ((await store.hasWork()) || worker.running.size > 0)) await sleep(10);
    },
    close,
    [Symbol.asyncDispose]: close,
  };

  async function handOver(delivery: Delivery): Promise<Reply> {
    try {
      await put(delivery);
      return okReply;
    } catch (error) {
      if (closing) return refuse(closed);
      await report(error);
      return refuse(failedReply);
    }
  }

  async function put(delivery: Delivery): Promise<void> {
    requireOpen();
    if (await intake.put(delivery)) wake();
  }

  function wake(): void {
    worker.active?.wake();
  }

  function refuse(reply: Reply): Reply {
    callHook('refused', { status: reply.status, code: String(reply.body.error) });
    return reply;
  }

  function requireOpen(): InboxStore {
    checkPrototype();
    if (closing) throw new ConfigurationError('The inbox is closed. Open a new one.');
    return store;
  }

  function close(): Promise<void> {
    closing ??= Promise.all([worker.close(graceMs), endPurging?.()]).then(() => store.close());
    return closing;
  }
}

const noFunction =
  'inbox.drain: this inbox has no function for "order.paid". Pass "on" to openInbox(), or let the process that has it drain.';

const closed: Reply = { status: 503, body: { error: 'closed' } };
