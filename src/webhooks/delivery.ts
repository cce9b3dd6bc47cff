import { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';
import type { WebhookEvent } from '../schemas/event.js';
import type { VerifiedDelivery } from './verify.js';

/**
 * A verified webhook as plain JSON, to be stored in a queue or a column and verified again from there:
 * `verify({ ...delivery, secret })`.
 */
export interface Delivery {
  /**
   * What makes two deliveries the same: `order.paid:<order_id>`, or `<type>:<SHA-256 of the body in hex>` for an event
   * of another type.
   */
  key: string;
  /** The event that `verify()` returned. */
  event: WebhookEvent;
  /** The body exactly as received. A verified body is valid UTF-8, so a string holds all of it. */
  rawBody: string;
  /** The headers that were verified, by lower-case name: signature, timestamp, and those that `scheme.verify` read. */
  headers: Record<string, string>;
  /** When it was received, in ISO 8601. */
  receivedAt: string;
}

/** The delivery that a body and its headers proved to be. */
export function deliveryOf({ event, body, headers }: VerifiedDelivery, receivedAt: Date): Delivery {
  // Not TextDecoder: it would drop a byte order mark, which was signed.
  const rawBody = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString();
  return { key: keyOf(event, body), event, rawBody, headers, receivedAt: receivedAt.toISOString() };
}

/** The event's own type, as the service wrote it. */
export function typeOf(event: WebhookEvent): string {
  return event.type === 'unknown' ? event.originalType : event.type;
}

function keyOf(event: WebhookEvent, body: Uint8Array): string {
  if (event.type === 'order.paid') return `order.paid:${event.data.order_id}`;
  return `${event.originalType}:${createHash('sha256').update(body).digest('hex')}`;
}
