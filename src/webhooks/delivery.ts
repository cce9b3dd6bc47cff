import { Buffer } from 'node:buffer';
import { idOf, unreadableEvent, type WebhookEvent } from '../schemas/event.js';
import { nodeCrypto } from './crypto.js';
import type { VerifiedDelivery } from './verify.js';

/**
 * A verified webhook as plain JSON, to be stored in a queue or a column and verified again from there:
 * `verify({ ...delivery, secret })`.
 */
export interface Delivery {
  /**
   * The identity of the delivery, equal for two deliveries of one event: `order.paid:<order_id>`,
   * `<type>:<SHA-256 of the body in hex>` for an event of another type, `invalid:<SHA-256 of the body in hex>` for an event
   * that could not be read. A NUL in the key is written `\u0000`.
   */
  key: string;
  /** The event that `verify()` returned, or an unknown event with a `problem` if it could not be read. */
  event: WebhookEvent;
  /** The body exactly as received: a string holds all of it. */
  rawBody: string;
  /** `base64` if the body is not valid UTF-8, or has a NUL, which many databases do not store; `rawBody` is base64 then. */
  encoding?: 'base64' | undefined;
  /** The headers that were verified, by lower-case name: signature, timestamp, and those that `scheme.verify` read. */
  headers: Record<string, string>;
  /** The time at which the delivery was received, in ISO 8601. */
  receivedAt: string;
  /**
   * 16 hex digits of a hash over type and data in one form. A delivery that arrives again has the same digest, unless its
   * content differs, such as another amount under one `order_id`.
   */
  digest: string;
}

/** Returns the delivery that a body and its headers proved to be. */
export function deliveryOf(
  { event: read, body, headers }: Omit<VerifiedDelivery, 'sentAt'>,
  receivedAt: Date,
): Delivery {
  const event = limitDepth(read);
  return {
    key: escapeNul(keyOf(event, body)),
    event,
    ...encodeBody(body, problemOfEvent(event) === undefined),
    headers,
    receivedAt: receivedAt.toISOString(),
    digest: digestOf(event),
  };
}

/** Returns a body as a string that holds all of it and that any database stores. */
export function encodeBody(body: Uint8Array, isText?: boolean): Pick<Delivery, 'rawBody' | 'encoding'> {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  // TextDecoder would drop a byte order mark, which was signed.
  const text = bytes.toString();
  if (isText || (!text.includes('\0') && bytes.equals(Buffer.from(text)))) return { rawBody: text };
  return { rawBody: bytes.toString('base64'), encoding: 'base64' };
}

const mostLevels = 100;

/**
 * Returns the event, or an unreadable one if it is nested too deeply: JSON.parse() reads more levels than JSON.stringify()
 * writes.
 */
export function limitDepth(event: WebhookEvent): WebhookEvent {
  let level: unknown[] = [event];
  for (let depth = 0; depth < mostLevels; depth++)
    level = level.flatMap((each) => (typeof each === 'object' && each !== null ? Object.values(each) : []));
  return level.length === 0 ? event : unreadableEvent(`it has more than ${mostLevels} levels`, typeOf(event));
}

/** Returns the event's own type, as the service wrote it. */
export function typeOf(event: WebhookEvent): string {
  return event.type === 'unknown' ? event.originalType : event.type;
}

/** Returns the reason for which an event could not be read, or `undefined` if it was read. */
export function problemOfEvent(event: WebhookEvent): string | undefined {
  return event.type === 'unknown' ? event.problem : undefined;
}

function keyOf(event: WebhookEvent, body: Uint8Array): string {
  if (event.type !== 'unknown') return `${event.type}:${idOf(event)}`;
  const type = event.problem === undefined ? event.originalType : 'invalid';
  return `${type}:${nodeCrypto().createHash('sha256').update(body).digest('hex')}`;
}

/** Escapes each NUL of a key: `node:sqlite` of Node 22 reads a text only up to its first NUL, and PostgreSQL stores none. */
export function escapeNul(key: string): string {
  return key.replaceAll('\0', '\\u0000');
}

/** Returns the digest of an event's type and data. */
export function digestOf(event: WebhookEvent): string {
  const content = oneForm([typeOf(event), event.data]);
  return nodeCrypto().createHash('sha256').update(content).digest('hex').slice(0, 16);
}

/** Returns JSON with sorted keys. Amounts need nothing more: the schema has already brought them into one form. */
function oneForm(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(oneForm).join()}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const fields = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return `{${fields.map(([name, field]) => `${JSON.stringify(name)}:${oneForm(field)}`).join()}}`;
}
