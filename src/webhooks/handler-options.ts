import type { OrderPaidEvent, UnknownEvent } from '../schemas/event.js';
import type { Delivery } from './delivery.js';
import { readHooks, type WebhookHookFacts, type WebhookHooks, webhookHooks } from './hooks.js';
import { invalidOptions, ownOptions, readFunction } from './own-options.js';
import {
  createReceiver,
  factsOf,
  internalError,
  type Receive,
  type ReceiverHooks,
  type ReceiverOptions,
  type Reply,
  readReport,
  received,
  receiverOptions,
} from './receiver.js';
import { SeenKeys } from './seen-keys.js';

interface CommonOptions extends ReceiverOptions {
  /** Functions called with what happens to deliveries, for logs and metrics. */
  hooks?: WebhookHooks | undefined;
}

/** Handles events inside the request. Nothing is stored: if your function fails, the event is lost unless the service retries. */
export interface OnOptions extends CommonOptions {
  /** Your functions, by event type. The response is sent once the promise settles: 500 if it rejects. */
  on: {
    /** A customer paid: fulfil the order. */
    'order.paid': (event: OrderPaidEvent) => unknown;
  };
  /** Gets events of a type that this version does not know; the response is 200. Default: nothing. */
  onUnknown?: ((event: UnknownEvent) => unknown) | undefined;
  accept?: undefined;
}

/** Stores deliveries before the response, in your queue or table. */
export interface AcceptOptions extends CommonOptions {
  /**
   * Stores a verified delivery of any type. The response is 200 once the promise resolves, and 500 if it rejects.
   * The same delivery may come more than once: use `delivery.key` as the job's key.
   */
  accept: (delivery: Delivery) => unknown;
  on?: undefined;
  onUnknown?: undefined;
}

/** Options of `webhooks.handler()` and `webhooks.nodeHandler()`: either `on` or `accept`. */
export type HandlerOptions = OnOptions | AcceptOptions;

const absent = { ...receiverOptions, on: undefined, onUnknown: undefined, accept: undefined };
const former = ['claim', 'release', 'finish'];

/** Returns what a handler does with each delivery; throws if an option is invalid. */
export function readHandlerOptions(options: HandlerOptions, what: string): Receive {
  const own = ownOptions(options, absent, what, former);
  const gone = former.find((name) => Object.hasOwn(options, name));
  if (gone !== undefined) {
    throw invalidOptions(
      `${what}: there is no option "${gone}", because a claim is lost with its process. ` +
        'Pass "accept" to store deliveries in a queue of yours, or use openInbox() of merchant-payments/inbox.',
    );
  }
  const accept = readFunction<[Delivery]>(own.accept, 'accept');
  if (accept && (own.on !== undefined || own.onUnknown !== undefined)) {
    throw invalidOptions(`${what}: "accept" gets every event, so pass no "on" and no "onUnknown" beside it.`);
  }
  if (!accept && own.on === undefined) {
    throw invalidOptions(
      `${what}: pass "on" to handle events in the request, or "accept" to store them first.`,
    );
  }
  const tell = readHooks<WebhookHookFacts>(own.hooks, webhookHooks, what);
  const report = readReport(own.onError);
  const handle = accept ? undefined : readOn(own, what);
  const seen = new SeenKeys();
  const hooks: ReceiverHooks = {
    received: (facts) => tell('received', facts),
    refused: (facts) => tell('refused', facts),
  };
  return createReceiver(own, hooks, report, (delivery) =>
    accept ? run(delivery, () => accept(delivery)) : handOver(delivery),
  );

  async function handOver(delivery: Delivery): Promise<Reply> {
    const { key, event } = delivery;
    if (event.type === 'unknown') return run(delivery, () => handle?.onUnknown?.(event));
    const state = seen.take(key);
    if (state !== 'taken') {
      tell('duplicate', factsOf(delivery));
      return state === 'finished' ? received : inProgress;
    }
    const reply = await run(delivery, () => handle?.onPaid(event));
    if (reply === received) seen.finish(key);
    else seen.release(key);
    return reply;
  }

  async function run(delivery: Delivery, work: () => unknown): Promise<Reply> {
    const startedAt = performance.now();
    const facts = () => ({ ...factsOf(delivery), durationMs: performance.now() - startedAt });
    try {
      await work();
    } catch (error) {
      tell('failed', { ...facts(), error });
      await report(error);
      return internalError;
    }
    tell('done', facts());
    return received;
  }
}

const inProgress: Reply = { status: 409, body: { error: 'in_progress' } };

function readOn(own: { on: unknown; onUnknown: unknown }, what: string) {
  const on = ownOptions(own.on, { 'order.paid': undefined }, `${what}: on`);
  const onPaid = readFunction<[OrderPaidEvent]>(on['order.paid'], 'on["order.paid"]');
  if (!onPaid) throw invalidOptions(`${what}: on has no function for "order.paid", so orders would be lost.`);
  return { onPaid, onUnknown: readFunction<[UnknownEvent]>(own.onUnknown, 'onUnknown') };
}
