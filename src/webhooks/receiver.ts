import { WebhookConfigError, WebhookPayloadError, WebhookVerificationError } from '../errors.js';
import type { OrderPaidEvent, UnknownEvent, WebhookEvent } from '../schemas/event.js';
import { invalidBody, type RawBody } from './body.js';
import { type ClaimOptions, Claims } from './claims.js';
import { invalidOptions, ownOptions, readFunction } from './own-options.js';
import { type VerifyOptions, verifyDelivery } from './verify.js';

/** Options of `webhooks.handler()` and `webhooks.nodeHandler()`. */
export interface HandlerOptions
  extends Pick<VerifyOptions, 'secret' | 'toleranceSeconds' | 'scheme'>,
    ClaimOptions {
  /** What to do, by event type. The delivery is answered once the promise settles; a rejection answers 500. */
  on: {
    /** A customer paid: fulfil the order. */
    'order.paid': (event: OrderPaidEvent) => unknown;
  };
  /** Gets events of a type that this version does not know; they are answered 200. Default: nothing. */
  onUnknown?: ((event: UnknownEvent) => unknown) | undefined;
  /** Gets every error: refused deliveries, and what your own functions threw. Default: `console.error`. */
  onError?: ((error: unknown) => unknown) | undefined;
}

/** A delivery, whichever server it came through. */
export interface Delivery {
  method: string | undefined;
  headers: unknown;
  /** The raw body, or `undefined` where it is longer than `longestBody`. */
  read(): Promise<RawBody | undefined>;
}

/** What to answer: a status, and JSON that tells the sender's log why. */
export interface Answer {
  status: number;
  body: Record<string, unknown>;
}

const absent = {
  secret: undefined,
  toleranceSeconds: undefined,
  scheme: undefined,
  on: undefined,
  onUnknown: undefined,
  onError: undefined,
  claim: undefined,
  release: undefined,
  finish: undefined,
};

/** Verifies deliveries, hands each event to its function once, and says what to answer; it never rejects. */
export function createReceiver(
  options: HandlerOptions,
  what: string,
): (delivery: Delivery) => Promise<Answer> {
  const own = ownOptions(options, absent, what);
  const { secret, toleranceSeconds, scheme } = own;
  const on = ownOptions(own.on, { 'order.paid': undefined }, `${what}: on`);
  const onPaid = readFunction<OrderPaidEvent>(on['order.paid'], 'on["order.paid"]');
  const onUnknown = readFunction<UnknownEvent>(own.onUnknown, 'onUnknown');
  const onError = readFunction<unknown>(own.onError, 'onError') ?? console.error;
  const claims = new Claims({
    claim: readFunction<string>(own.claim, 'claim'),
    release: readFunction<string>(own.release, 'release'),
    finish: readFunction<string>(own.finish, 'finish'),
  });

  return async ({ method, headers, read }) => {
    if (method !== undefined && method !== 'POST')
      return { status: 405, body: { error: 'method_not_allowed' } };
    let event: WebhookEvent;
    try {
      if (method === undefined) throw invalidBody('no request was given', 'With Hono, pass c.req.raw');
      const rawBody = await read();
      if (rawBody === undefined) return { status: 413, body: { error: 'body_too_large' } };
      event = verifyDelivery({ rawBody, headers, secret, toleranceSeconds, scheme });
    } catch (error) {
      await report(error);
      return refusal(error);
    }
    try {
      if (event.type === 'order.paid') return await fulfilOnce(event);
      await onUnknown?.(event);
      return handled;
    } catch (error) {
      await report(error);
      return failed;
    }
  };

  async function fulfilOnce(event: OrderPaidEvent): Promise<Answer> {
    if (!onPaid)
      throw invalidOptions(`${what}: on has no function for "order.paid", so an order would be lost.`);
    const key = `order.paid:${event.data.order_id}`;
    const claim = await claims.take(key);
    if (claim === 'finished') return handled;
    if (claim === 'running') return { status: 409, body: { error: 'in_progress' } };
    try {
      await onPaid(event);
    } catch (error) {
      await claims.release(key).catch(report);
      throw error;
    }
    // The order is fulfilled: a store that cannot note it is reported, and no reason to have it fulfilled again.
    await claims.finish(key).catch(report);
    return handled;
  }

  async function report(error: unknown): Promise<void> {
    try {
      await onError(error);
    } catch {
      // What a log does must not decide what the sender is told.
    }
  }
}

const handled: Answer = { status: 200, body: { received: true } };
const failed: Answer = { status: 500, body: { error: 'internal_error' } };

/** Names the check that failed. With a mismatch the sender can compare the body that was verified with its own. */
function refusal(error: unknown): Answer {
  if (error instanceof WebhookVerificationError) {
    return { status: error.httpStatus, body: { error: error.code, ...error.received } };
  }
  const ours = error instanceof WebhookConfigError || error instanceof WebhookPayloadError;
  return ours ? { status: error.httpStatus, body: { error: error.code } } : failed;
}
