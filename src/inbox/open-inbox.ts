import { setTimeout as sleep } from 'node:timers/promises';
import { ConfigurationError } from '../errors.js';
import type { Delivery } from '../webhooks/delivery.js';
import { fetchHandler } from '../webhooks/handler.js';
import type { WebhookEvent } from '../webhooks/index.js';
import { nodeListener } from '../webhooks/node-handler.js';
import {
  createReceiver,
  factsOf,
  internalError,
  type Receive,
  type Reply,
  received,
} from '../webhooks/receiver.js';
import type { InboxDelivery } from './attempt.js';
import { Entries } from './entries.js';
import { fileInPlace } from './file-in-place.js';
import type { Inbox } from './inbox.js';
import { createTables, openFile } from './open-database.js';
import { type InboxOptions, readInboxOptions } from './options.js';
import { bytesOf, readAge, readDelivery, readDeliveryKey, readList } from './params.js';
import { whenFree } from './patience.js';
import { Redactor } from './redact.js';
import { databaseClass } from './sqlite.js';
import { InboxStore } from './store.js';
import { Worker } from './worker.js';

/**
 * Opens a durable webhook receiver on a SQLite file: a delivery is on the disk before the response is 200, and your
 * function is called until it succeeds, across crashes and restarts. Several processes may share the file.
 *
 * Needs `node:sqlite`: Node 22.13 or later. It keeps the process alive until `close()`, as a listening server does, unless
 * `work` is `false`.
 *
 * @throws {ConfigurationError} this runtime has no `node:sqlite`, or the file or database cannot be used.
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
export function openInbox(options: InboxOptions): Inbox {
  databaseClass();
  const { own, place, work, onPaid, onUnknown, tell, report, graceMs, ...limits } = readInboxOptions(options);
  const redactor = new Redactor(own.secret);
  const receive = createReceiver(
    { ...own, secret: redactor.secret },
    { received: (facts) => tell('received', facts), refused: (facts) => tell('refused', facts) },
    report,
    deliver,
  );
  const database = 'file' in place ? openFile(place.file, { create: true }) : place.database;
  if ('database' in place) createTables(database, 'database');
  const checkFile = fileInPlace(database);
  const store = new InboxStore(database);
  const entries = new Entries(database);
  const textOf = (error: unknown) => redactor.textOf(error);
  const worker = work ? new Worker({ ...limits, store, find, tell, report, textOf }) : undefined;
  let closing: Promise<void> | undefined;

  const receiveWhileOpen: Receive = async (incoming) => (closing ? refuse(closed) : receive(incoming));
  return {
    handler: fetchHandler(receiveWhileOpen),
    nodeHandler: nodeListener(receiveWhileOpen),
    async accept(given) {
      const delivery = readDelivery(given);
      tell('received', { ...factsOf(delivery), bytes: bytesOf(delivery) });
      await put(delivery);
    },
    stats: () => open(entries).stats(Date.now()),
    list(params = {}) {
      const { state, limit, after } = readList(params);
      return open(entries).list(state, limit, after);
    },
    get: (key) => open(entries).get(readDeliveryKey('get', key)),
    retry: (key) => wakeAfter(open(entries).retry(readDeliveryKey('retry', key), Date.now())) === 1,
    retryParked: () => wakeAfter(open(entries).retry(undefined, Date.now())),
    discard: (key) => open(entries).discard(readDeliveryKey('discard', key), Date.now()),
    purge: ({ olderThan }) => open(entries).purge(readAge(olderThan, Date.now())),
    async idle() {
      while (!closing && (store.hasWork(Date.now()) || worker?.isIdle === false)) await sleep(10);
    },
    close,
    [Symbol.asyncDispose]: close,
  };

  function find(event: WebhookEvent): ((delivery: InboxDelivery) => unknown) | undefined {
    if (event.type === 'order.paid') return onPaid && ((delivery) => onPaid(event, delivery));
    return onUnknown && ((delivery) => onUnknown(event, delivery));
  }

  async function deliver(delivery: Delivery): Promise<Reply> {
    try {
      await put(delivery);
      return received;
    } catch (error) {
      if (closing) return refuse(closed);
      await report(error);
      return refuse(internalError);
    }
  }

  async function put(delivery: Delivery): Promise<void> {
    const isNew = await whenFree(() => open(store).insert(delivery, Date.now()));
    checkFile();
    if (isNew) worker?.wake();
    else tell('duplicate', factsOf(delivery));
  }

  function refuse(reply: Reply): Reply {
    tell('refused', { status: reply.status, code: String(reply.body.error) });
    return reply;
  }

  function wakeAfter(changed: number): number {
    worker?.wake();
    return changed;
  }

  function open<Part>(part: Part): Part {
    if (closing) throw new ConfigurationError('The inbox is closed. Open a new one.');
    return part;
  }

  function close(): Promise<void> {
    closing ??= end();
    return closing;
  }

  async function end(): Promise<void> {
    await worker?.close(graceMs);
    if ('file' in place) database.close();
  }
}

const closed: Reply = { status: 503, body: { error: 'closed' } };
