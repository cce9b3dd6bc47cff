import * as z from 'zod/mini';
import { WebhookPayloadError } from '../errors.js';
import { findUnfinished, functionSchema, isThenable } from '../input/functions.js';
import { hooksSchema } from '../input/hooks.js';
import { escapeInvisible } from '../input/visible.js';
import type { EventFunctions, UnknownEvent } from '../schemas/event.js';
import { lateChecks } from './checks.js';
import type { Delivery } from './delivery.js';
import { eventFunctions, functionFor } from './event-functions.js';
import { hookCaller, type WebhookHookFacts, type WebhookHooks, webhookHooks } from './hooks.js';
import { invalidOptions, optionsObject, readWebhookOptions } from './options.js';
import type { RefusedDelivery } from './refused.js';
import {
  createResponder,
  factsOf,
  failedReply,
  okReply,
  type ReceiverOptions,
  type Reply,
  type Responder,
  receiverShape,
  reporter,
} from './responder.js';

interface CommonOptions extends ReceiverOptions {
  /** Functions called with what happens to deliveries, for logs and metrics. */
  hooks?: WebhookHooks | undefined;
}

/**
 * Options that handle events inside the request. Nothing is stored: if your function fails, the event is lost unless the
 * service retries.
 */
export interface OnOptions extends CommonOptions {
  /**
   * Your functions, by event type. The response is sent once the promise settles: 500 if it rejects, or for a result that
   * may not have run.
   */
  on: EventFunctions;
  /**
   * Receives events that `on` has no function for, including types that this version does not know; the response is 200.
   * Default: nothing.
   */
  onUnknown?: ((event: UnknownEvent) => unknown) | undefined;
  accept?: undefined;
  refused?: undefined;
}

/** Options that store deliveries in your queue or table before the response. */
export interface AcceptOptions extends CommonOptions {
  /**
   * Stores a verified delivery of any type, including one whose event could not be read. The response is 200 once the promise
   * resolves. It is 500 if the promise rejects, if it resolves to something that may not have run, such as a query, or if there
   * is no promise: a forgotten `return` would lose the delivery.
   * The same delivery may come more than once: use `delivery.key` and `delivery.digest` as the job's key.
   */
  accept: (delivery: Delivery) => PromiseLike<unknown>;
  /**
   * Keeps a refused delivery that another scheme, secret or tolerance may prove authentic: it has a signature header and at
   * most 64 KiB. `recover()` finds the authentic ones later. The response is the refusal once the promise resolves, and 500 as
   * for `accept`. Anybody can send such deliveries, so limit how many you keep. Default: none is kept.
   */
  refused?: ((delivery: RefusedDelivery) => PromiseLike<unknown>) | undefined;
  on?: undefined;
  onUnknown?: undefined;
}

/** Options of `webhooks.handler()` and `webhooks.nodeHandler()`: either `on` or `accept`. */
export type HandlerOptions = OnOptions | AcceptOptions;

const handlerOptions = optionsObject('{ secret, on }', {
  ...receiverShape,
  hooks: z.optional(hooksSchema<WebhookHookFacts>(webhookHooks)),
  on: z.optional(eventFunctions<[]>()),
  onUnknown: z.optional(functionSchema<[UnknownEvent]>()),
  accept: z.optional(functionSchema<[Delivery]>()),
  refused: z.optional(functionSchema<[RefusedDelivery]>()),
});

/** Checks a handler's options, and returns a responder that runs `on` or passes deliveries to `accept`. */
export function readOnOrAccept(options: HandlerOptions, what: string): Responder {
  const own = readWebhookOptions(what, handlerOptions, options);
  const { accept, refused, on, onUnknown } = own;
  if (accept && (on || onUnknown)) {
    throw invalidOptions(`${what}: "accept" gets every event, so pass no "on" and no "onUnknown" beside it.`);
  }
  if (!accept && !on) {
    throw invalidOptions(
      `${what}: pass "on" to handle events in the request, or "accept" to store them first.`,
    );
  }
  if (on && !on['order.paid'])
    throw invalidOptions(`${what}: on has no function for "order.paid", so orders would be lost.`);
  if (refused && !accept)
    throw invalidOptions(
      `${what}: "refused" keeps what was not authentic, and goes with "accept", not with "on".`,
    );
  const callHook = hookCaller<WebhookHookFacts>(own.hooks);
  const report = reporter(own.onError);
  const seen = new Map<string, KnownDelivery>();
  const respond = createResponder(own.scheme, {
    checks: lateChecks(own),
    callHook,
    report,
    mustRead: on !== undefined,
    keep: refused && ((delivery) => store('refused', refused, delivery)),
    handOver: (delivery) =>
      accept ? run(delivery, () => store('accept', accept, delivery)) : handle(delivery),
  });
  return { respond, report };

  async function handle(delivery: Delivery): Promise<Reply> {
    const { key, event, digest } = delivery;
    const known = seen.get(key);
    if (known) {
      if (known.digest !== digest) return refuseConflict(key);
      callHook('duplicate', factsOf(delivery));
      return known.reply;
    }
    seen.set(key, { digest, reply: inProgress });
    const reply = await run(delivery, async () => {
      const result = await functionFor(event, on, onUnknown)?.();
      const problem = findUnfinished(result, 'Your function');
      if (problem) throw problem;
    });
    seen.delete(key);
    if (reply === okReply) remember(seen, key, { digest, reply });
    return reply;
  }

  async function run(delivery: Delivery, work: () => unknown): Promise<Reply> {
    const startedAt = performance.now();
    const facts = () => ({ ...factsOf(delivery), durationMs: performance.now() - startedAt });
    try {
      await work();
    } catch (error) {
      callHook('failed', { ...facts(), error });
      await report(error);
      return failedReply;
    }
    callHook('done', facts());
    return okReply;
  }

  async function refuseConflict(key: string): Promise<Reply> {
    await report(
      new WebhookPayloadError(
        `The webhook ${escapeInvisible(JSON.stringify(key))} arrived before with another content, such as another amount, so it was not ` +
          'handled. Compare both with your order, and ask the service.',
        'conflicting_event',
      ),
    );
    callHook('refused', { status: conflicting.status, code: 'conflicting_event' });
    return conflicting;
  }
}

/** A delivery that this process remembers by its key: the digest of its content, and the response to the same delivery. */
interface KnownDelivery {
  digest: string;
  reply: Reply;
}

const mostSeen = 10_000;

/** Remembers a handled key. Above 10,000 keys the oldest handled one is dropped; keys that are being handled stay. */
function remember(seen: Map<string, KnownDelivery>, key: string, handled: KnownDelivery): void {
  seen.set(key, handled);
  if (seen.size <= mostSeen) return;
  for (const [oldest, { reply }] of seen) if (reply === okReply) return void seen.delete(oldest);
}

const inProgress: Reply = { status: 409, body: { error: 'in_progress' } };
const conflicting: Reply = { status: 409, body: { error: 'conflicting_event' } };

/**
 * Calls the caller's function that stores a delivery. Rejects if it returns no promise, as the delivery may not be stored
 * then.
 */
async function store<Given>(
  name: string,
  keep: (delivery: Given) => unknown,
  delivery: Given,
): Promise<void> {
  const storing = keep(delivery);
  if (!isThenable(storing)) {
    throw invalidOptions(
      `${name} returned no promise, so the delivery may not be stored, and the response is 500. ` +
        'Make it async, and await or return the promise of your queue.',
    );
  }
  const problem = findUnfinished(await storing, name);
  if (problem) throw problem;
}
