import { Buffer, isUtf8 } from 'node:buffer';
import * as z from 'zod/mini';
import { WebhookPayloadError, WebhookVerificationError } from '../errors.js';
import { isObject } from '../input/object.js';
import { readEvent, unreadableEvent, type WebhookEvent } from '../schemas/event.js';
import { type RawBody, rawBytes, readBody } from './body.js';
import { type Checks, checksShape, readChecks } from './checks.js';
import { nodeCrypto } from './crypto.js';
import { checkContainer, type HeaderReader, readHeaders, type WebhookHeaders } from './headers.js';
import { optionsObject, readWebhookOptions } from './options.js';
import { decodeRecoded, decodingOf } from './recoded.js';
import type { SignatureScheme } from './scheme.js';
import type { WebhookSecret } from './secret.js';
import { isAccepted, isSigned, readSignatures } from './signature.js';
import { checkFreshness, readTimestamp, receivedAtMs } from './timestamp.js';

/** Options of `webhooks.verify()`. */
export interface VerifyOptions {
  /** The body exactly as received: `Buffer`, any other view, `ArrayBuffer` or a string. Never the parsed object. */
  rawBody: RawBody;
  /** `base64` if `rawBody` comes from a stored `Delivery` whose body is not UTF-8; default: text or bytes. */
  encoding?: 'base64' | undefined;
  /** The headers of the delivery: `Headers`, Node's header object, a `Map` or pairs. */
  headers: WebhookHeaders;
  /** The webhook secret, or several while one is being replaced. Required unless `scheme.verify` is given. */
  secret?: WebhookSecret | readonly WebhookSecret[] | undefined;
  /**
   * The largest difference between the timestamp and the clock, past or future, in seconds; default 300. `Infinity` turns
   * the check off.
   */
  toleranceSeconds?: number | undefined;
  /**
   * The time at which the delivery was received: a `Date` or ISO 8601 with a zone; default now. For stored deliveries and
   * tests.
   */
  receivedAt?: Date | string | undefined;
  /** The fields of the signature scheme that differ from the default. */
  scheme?: Partial<SignatureScheme> | undefined;
}

const anything = z.optional(z.unknown());

const verifyOptions = optionsObject('{ rawBody, headers, secret }', {
  rawBody: anything,
  headers: anything,
  ...checksShape,
  receivedAt: z.optional(receivedAtMs),
  encoding: z.optional(z.literal('base64', 'must be "base64", or left out where rawBody is text.')),
});

/**
 * Verifies a webhook delivery and returns its event. It is synchronous, so no `await` can be forgotten.
 *
 * **The service does not document how it signs.** The default scheme is a guess: HMAC-SHA256 over `<timestamp>.<body>`,
 * in hex. Compare it with a real delivery (`merchant-payments identify`) and set the fields that differ in `scheme`.
 *
 * An event of a type that this version does not know is returned as `{ type: 'unknown', originalType, data }`.
 * A delivery may arrive more than once: fulfil once per `order_id`. A stored `Delivery` is verified again with
 * `verify({ ...delivery, secret })`.
 *
 * @throws {WebhookConfigError} an option, the secret, or the form of body or headers is invalid: respond with 500.
 * @throws {WebhookVerificationError} the delivery is not proved authentic or fresh: respond with 400.
 * @throws {WebhookPayloadError} the delivery is authentic, but its event cannot be read: respond with 500 and look into it.
 * @see docs/service.md, "Events"
 * @example
 * ```ts
 * import { sign, verify } from 'merchant-payments/webhooks';
 *
 * const secret = 'whsec_example';
 * const rawBody = '{"type":"order.paid","data":{"order_id":"ord_1","amount":"19.90","currency":"USD"}}';
 * const event = verify({ rawBody, headers: sign({ rawBody, secret }), secret });
 * if (event.type === 'order.paid') console.log(event.data.order_id);
 * ```
 */
export function verify(options: VerifyOptions): WebhookEvent {
  const own = readWebhookOptions('webhooks.verify()', verifyOptions, removeDelivery(options));
  const { rawBody, encoding, headers, receivedAt: now = Date.now() } = own;
  return requireReadable(verifyDelivery(readChecks(own), { rawBody, encoding, headers, now }).event);
}

/**
 * Fields of a `Delivery`, stored or passed by an inbox, that are not options. They are ignored: the event is read from the
 * body again.
 */
const deliveryFields = new Set(['key', 'event', 'digest', 'attempt', 'commit', 'done', 'signal']);

function removeDelivery(options: unknown): unknown {
  if (!isObject(options) || !('event' in options)) return options;
  return Object.fromEntries(Object.entries(options).filter(([name]) => !deliveryFields.has(name)));
}

/** An authentic delivery. */
export interface VerifiedDelivery {
  /** The event, with a `problem` if it could not be read. */
  event: WebhookEvent;
  body: Uint8Array;
  /** The headers that were read, by name. */
  headers: Record<string, string>;
  /** The signed time, from the sender's clock, in milliseconds. */
  sentAt: number;
}

/** Verifies a delivery: runs the checks in order, and parses nothing of the body before it is authenticated. */
export function verifyDelivery(
  { scheme, keys, toleranceSeconds }: Checks,
  given: { rawBody: unknown; encoding?: unknown; headers: unknown; now: number },
): VerifiedDelivery {
  const body = readBody(given.rawBody, given.encoding);
  const read = readHeaders(given.headers);
  const headers: Record<string, string> = {};
  const header: HeaderReader = (name) => {
    const value = read(name);
    if (value !== undefined) headers[name] = value;
    return value;
  };
  const signatureHeader = header(scheme.signatureHeader);
  const timestamp = header(scheme.timestampHeader);
  if (signatureHeader === undefined) {
    checkContainer(given.headers);
    throw missingHeader(scheme.signatureHeader, 'missing_signature');
  }
  if (timestamp === undefined) throw missingHeader(scheme.timestampHeader, 'missing_timestamp');

  const sentAt = readTimestamp(timestamp, scheme.timestamp);
  const signatures = readSignatures(signatureHeader, scheme);
  const authentic = scheme.verify
    ? isAccepted(scheme.verify, signatures, timestamp, body, header)
    : isSigned(keys, signatures, timestamp, body, scheme);
  if (!authentic) throw signatureMismatch(body, keys);
  checkFreshness(sentAt, given.now, toleranceSeconds, scheme.timestamp);
  return { event: eventOf(body), body, headers, sentAt };
}

const bodyIs = 'its body is ';

/** Parses the very bytes that were signed. The parser's own error is dropped, because it quotes the body. */
export function eventOf(body: Uint8Array): WebhookEvent {
  let parsed: unknown;
  // Jest with jsdom has no TextDecoder, which would also drop a byte order mark.
  const text = isUtf8(body) ? Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString() : '';
  try {
    parsed = JSON.parse(text.replace(/^\ufeff/, ''));
  } catch {
    return unreadableEvent(bodyIs + (body.byteLength === 0 ? 'empty' : 'not JSON in UTF-8'));
  }
  return readEvent(parsed);
}

/** Returns the event, or throws a `WebhookPayloadError` if it could not be read. */
export function requireReadable(event: WebhookEvent): WebhookEvent {
  if (event.type !== 'unknown' || event.problem === undefined) return event;
  const isJson = !event.problem.startsWith(bodyIs);
  throw new WebhookPayloadError(
    isJson
      ? `The webhook is authentic, but not an event that this version can read: ${event.problem}. Compare it with the delivery.`
      : `The webhook is authentic, but ${event.problem}. Look at the delivery itself.`,
    isJson ? 'invalid_event' : 'invalid_json',
  );
}

function missingHeader(
  name: string,
  code: 'missing_signature' | 'missing_timestamp',
): WebhookVerificationError {
  return new WebhookVerificationError(
    `The header ${name} is missing: the request is not a webhook delivery, or a proxy dropped the header.`,
    code,
  );
}

function signatureMismatch(body: Uint8Array, keys: readonly WebhookSecret[]): WebhookVerificationError {
  const bytes = body.byteLength;
  const received = { bytes, sha256: nodeCrypto().createHash('sha256').update(body).digest('hex') };
  const recoded = decodeRecoded(body);
  const hint = recoded
    ? decodingOf[recoded.form]
    : bytes === 0
      ? `The body is empty: a body parser may have read the stream. ${rawBytes}.`
      : keys.some((key) => typeof key === 'string' && /^service_(?:live|test)_/.test(key))
        ? 'The secret looks like an API key. The service does not document which secret signs webhooks: ask it, or try `merchant-payments identify`.'
        : 'Either the body was changed in transit (pass the raw bytes; `received` describes those verified), ' +
          "or the secret or the scheme is not the sender's.";
  return new WebhookVerificationError(`The signature does not match. ${hint}`, 'signature_mismatch', {
    received,
  });
}
