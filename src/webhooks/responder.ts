import * as z from 'zod/mini';
import {
  isPaymentsError,
  WebhookConfigError,
  WebhookPayloadError,
  WebhookVerificationError,
} from '../errors.js';
import { functionSchema } from '../input/functions.js';
import { checkPrototype } from '../input/pollution.js';
import type { RawBody } from './body.js';
import { type Checks, checksShape, type LateSecret } from './checks.js';
import { type Delivery, deliveryOf, typeOf } from './delivery.js';
import type { DeliveryFacts, WebhookHookFacts } from './hooks.js';
import { invalidOptions } from './options.js';
import { isProbe } from './probe.js';
import { type RefusedDelivery, toRefused } from './refused.js';
import type { Scheme } from './scheme.js';
import { requireReadable, type VerifyOptions, verifyDelivery } from './verify.js';
import { withTimeout } from './with-timeout.js';

/** Options of every webhook receiver. */
export interface ReceiverOptions extends Pick<VerifyOptions, 'toleranceSeconds' | 'scheme'> {
  /**
   * The webhook secret, or several while one is being replaced. Required unless `scheme.verify` is given. A function
   * is called at the first delivery, for build steps that run without the environment, and has 10 seconds.
   */
  secret?: LateSecret;
  /**
   * Called with every error: the reason for which a delivery was rejected, and each error that your functions throw during
   * their attempt. A body over 1 MiB calls only the hook `refused`. The response waits for this function, 2 seconds at most.
   * Default: `console.error`, with one line for an error of this package.
   */
  onError?: ((error: unknown) => unknown) | undefined;
}

/** A request from any kind of server. */
export interface Incoming {
  method: string | undefined;
  headers: unknown;
  /** The raw body, or `undefined` if it is longer than `longestBody`. */
  read(): Promise<RawBody | undefined>;
}

/** A response: a status, and JSON that gives the reason. */
export interface Reply {
  status: number;
  body: Record<string, unknown>;
}

/** A function that responds to requests, and one to report errors around it, which never rejects. */
export interface Responder {
  respond: Respond;
  report: Report;
}

export type Respond = (incoming: Incoming) => Promise<Reply>;

/**
 * A function that passes an error to `onError`, or prints it after the text `happened`. Never rejects: logging must not
 * change the response.
 */
export type Report = (error: unknown, happened?: string) => Promise<void>;

export const okReply: Reply = { status: 200, body: { received: true } };
export const failedReply: Reply = { status: 500, body: { error: 'internal_error' } };

/** The options that all receivers have. */
export const receiverShape = { ...checksShape, onError: z.optional(functionSchema<[unknown]>()) };

interface Destination {
  checks(): Promise<Checks>;
  callHook<Name extends 'received' | 'refused'>(name: Name, facts: WebhookHookFacts[Name]): void;
  report: Report;
  /** Refuses authentic events that cannot be read, with 500. */
  mustRead: boolean;
  /** Takes over an authentic delivery; its reply is the response. */
  handOver(delivery: Delivery): Promise<Reply>;
  /** Keeps a delivery that is refused, if another scheme may prove it authentic. May return a line that says so. */
  keep?: ((refused: RefusedDelivery) => Promise<unknown>) | undefined;
}

/**
 * Returns a function that verifies requests and passes authentic deliveries to `handOver`. It rejects only if `handOver`
 * does.
 */
export function createResponder(
  { signatureHeader, timestampHeader, verify }: Scheme,
  { checks, callHook, report, mustRead, handOver, keep }: Destination,
): Respond {
  return async ({ method, headers, read }) => {
    if (method !== 'POST') return { status: 405, body: { error: 'method_not_allowed' } };
    let delivery: Delivery;
    let rawBody: RawBody | undefined;
    const receivedAt = new Date();
    try {
      checkPrototype(invalidOptions);
      rawBody = await read();
      if (rawBody === undefined) return refuse({ status: 413, body: { error: 'body_too_large' } });
      const verified = verifyDelivery(await checks(), { rawBody, headers, now: receivedAt.getTime() });
      delivery = deliveryOf(verified, receivedAt);
      if (mustRead) requireReadable(delivery.event);
      callHook('received', { ...factsOf(delivery), bytes: verified.body.byteLength });
    } catch (error) {
      let reply = refusal(error);
      const errors: Parameters<Report>[] = [[error]];
      if (keep && rawBody !== undefined) {
        const signatureHeaders = [signatureHeader, timestampHeader];
        const request = { rawBody, headers, receivedAt, signatureHeaders, readsAny: verify !== undefined };
        try {
          const refused = toRefused({ code: String(reply.body.error), ...request });
          const kept = refused && (await keep(refused));
          if (typeof kept === 'string') errors[0] = [error, kept];
        } catch (failure) {
          // The delivery is stored nowhere, so the response must let the sender retry.
          reply = failedReply;
          errors.push([failure]);
        }
      }
      await Promise.all(errors.map((each) => report(...each)));
      return refuse(reply);
    }
    return isProbe(delivery.event) ? okReply : handOver(delivery);
  };

  function refuse(reply: Reply): Reply {
    callHook('refused', { status: reply.status, code: String(reply.body.error) });
    return reply;
  }
}

/** The longest time that a response waits for `onError`. */
const longestReportMs = 2000;

/**
 * Returns a function that passes errors to `onError`, or prints them: one line for an error of this package, any other error
 * whole.
 */
export function reporter(onError: ((error: unknown) => unknown) | undefined): Report {
  return async (error, happened) => {
    try {
      await withTimeout(longestReportMs, onError ? onError(error) : print(error, happened));
    } catch {}
  };
}

function print(error: unknown, happened?: string): void {
  const shown = isPaymentsError(error) ? `${error.name} ${error.code}: ${error.message}` : error;
  if (happened === undefined) console.error(shown);
  else console.error('%s:', happened, shown);
}

/** Returns the facts of a delivery that hooks receive. */
export function factsOf({ key, event }: Pick<Delivery, 'key' | 'event'>): DeliveryFacts {
  return { key, type: typeOf(event) };
}

/**
 * Returns the response that names the failed check. After a mismatch it describes the verified body, which the service can
 * compare with the body that it sent.
 */
function refusal(error: unknown): Reply {
  if (error instanceof WebhookVerificationError) {
    return { status: error.httpStatus, body: { error: error.code, ...error.received } };
  }
  const ours = error instanceof WebhookConfigError || error instanceof WebhookPayloadError;
  return ours ? { status: error.httpStatus, body: { error: error.code } } : failedReply;
}
