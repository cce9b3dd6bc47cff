import { Buffer } from 'node:buffer';
import { WebhookPayloadError, WebhookVerificationError } from '../errors.js';
import { escapeInvisible } from '../input/visible.js';
import { idOf, summaryOf } from '../schemas/event.js';
import type { Checks } from '../webhooks/checks.js';
import { type Delivery, deliveryOf, problemOfEvent } from '../webhooks/delivery.js';
import type { RefusedDelivery, WebhookEvent } from '../webhooks/index.js';
import { isProbe } from '../webhooks/probe.js';
import { recoverDelivery } from '../webhooks/recover.js';
import { factsOf } from '../webhooks/responder.js';
import { eventOf } from '../webhooks/verify.js';
import { unreadableText } from './attempt.js';
import type { Claim, RefusedEntry } from './entry.js';
import type { InboxSettings } from './options.js';
import type { InboxStore } from './store.js';

/** The result of `recover()`. */
export interface Recovered {
  /** Deliveries that are authentic under the new scheme, secret or tolerance, and were stored. */
  recovered: number;
  /** Authentic deliveries that had been stored before. */
  duplicates: number;
  /** Deliveries that are still not authentic, or too late; they stay in the quarantine. */
  refused: number;
}

/** Creates the functions that store, refuse and recover deliveries before anybody works on them. Nothing authentic is dropped. */
export function createIntake(settings: InboxSettings, store: InboxStore) {
  const { callHook, report, keepRefused, toleranceSeconds } = settings;
  return { put, reread, refuse, recover };

  /** Stores a delivery; `false` if it is a duplicate. A delivery that cannot be read is parked. */
  async function put(given: Delivery): Promise<boolean> {
    const delivery = readAgain(given);
    const problem = problemOfEvent(delivery.event);
    return keep(delivery.key, delivery, problem === undefined ? undefined : unreadableText(problem));
  }

  /** Stores a delivery under a key, parked if it has a `lastError`. Another content under a known key is parked beside the first. */
  async function keep(key: string, delivery: Delivery, lastError?: string): Promise<boolean> {
    const { event, digest } = delivery;
    const facts = factsOf({ key, event });
    const known = await store.insert(key, delivery, lastError);
    if (known && known.digest !== digest) {
      // A delivery with an error keeps it: the known one is of an order whose id looks like this key.
      const why = lastError ?? escapeInvisible(conflictText(key, known.event, event));
      return keep(`${key}#${digest}`, delivery, why);
    }
    if (known) callHook('duplicate', facts);
    else if (lastError !== undefined) {
      const message = escapeInvisible(`${lastError} It is stored and parked as ${JSON.stringify(key)}.`);
      const isRead = problemOfEvent(event) === undefined;
      await report(new WebhookPayloadError(message, isRead ? 'conflicting_event' : 'invalid_event'));
      callHook('parked', { ...facts, attempt: 0, lastError });
    }
    return known === undefined;
  }

  /** Reads a claimed delivery again whose type or content an earlier version did not know; `false` if nothing changed. */
  async function reread(claim: Claim): Promise<boolean> {
    const delivery = readAgain(claim.delivery);
    // Under its own key, also as another content, the delivery would be a duplicate of itself, and be deleted.
    const own = [delivery.key, `${delivery.key}#${delivery.digest}`];
    if (delivery === claim.delivery || own.includes(claim.delivery.key)) return false;
    await put(delivery);
    // The claim is removed last: after a crash in between, the delivery is read again, and is a duplicate.
    await store.remove(claim);
    return true;
  }

  /** Keeps a refused delivery for `recover()`; returns the line that says so. */
  async function refuse(refused: RefusedDelivery): Promise<string | undefined> {
    if (keepRefused === 0) return undefined;
    const kept = await store.refuse(refused, keepRefused);
    const facts = `(${refused.code}, ${refused.bytes} bytes)`;
    const full = 'the quarantine is full (keepRefused)';
    if (!kept || kept.dropped.includes(kept.id))
      return `A refused delivery ${facts} is not kept for recover(): ${full}`;
    const instead = kept.dropped.length > 0 ? ` in place of ${kept.dropped.join(', ')}: ${full}` : '';
    return `Refused delivery ${kept.id} ${facts} is kept for recover()${instead}`;
  }

  /** Verifies the quarantine again, each delivery as of when it was received, the oldest first. */
  async function recover(checks: Checks): Promise<Recovered> {
    const result = { recovered: 0, duplicates: 0, refused: 0 };
    for (let [entry] = await store.refused(1, 0); entry; [entry] = await store.refused(1, entry.id)) {
      const delivery = await recoverEither(checks, entry);
      if (!delivery) {
        result.refused++;
        continue;
      }
      if (isProbe(delivery.event)) {
        await store.forget(entry);
        continue;
      }
      callHook('received', { ...factsOf(delivery), bytes: entry.bytes });
      if (await put(delivery)) result.recovered++;
      else result.duplicates++;
      await store.forget(entry);
    }
    return result;
  }

  /** Verifies the first attempt of an entry, and its last one if the first is still refused. */
  async function recoverEither(checks: Checks, entry: RefusedEntry): Promise<Delivery | undefined> {
    const { rawBody, encoding } = entry;
    const attempts = [entry, { rawBody, encoding, headers: entry.lastHeaders, receivedAt: entry.lastAt }];
    for (const attempt of entry.times > 1 ? attempts : [entry]) {
      try {
        return recoverDelivery(checks, attempt, toleranceSeconds);
      } catch (error) {
        // An entry that the shop's verifier cannot take, or whose time is no date, must not stop the others.
        if (!(error instanceof WebhookVerificationError)) await report(error);
      }
    }
    return undefined;
  }
}

/** Returns the delivery as this version reads it, if an earlier version could not read it or did not know its type. */
function readAgain(delivery: Delivery): Delivery {
  if (delivery.event.type !== 'unknown') return delivery;
  const body = Buffer.from(delivery.rawBody, delivery.encoding ?? 'utf8');
  const { headers, receivedAt } = delivery;
  const read = deliveryOf({ event: eventOf(body), body, headers }, new Date(receivedAt));
  const isNew = read.event.type !== 'unknown' || problemOfEvent(delivery.event) !== undefined;
  return isNew && problemOfEvent(read.event) === undefined ? read : delivery;
}

function conflictText(key: string, before: WebhookEvent | null, now: WebhookEvent): string {
  const [other, own] = [before, now].map((event) => event && event.type !== 'unknown' && idOf(event));
  if (other && own && other !== own)
    return (
      `${JSON.stringify(key)} was taken: ${JSON.stringify(other)} is stored under it, and this one ` +
      `is ${JSON.stringify(own)}. Compare it with your order, then retry or discard this one.`
    );
  const [first, second] = [before, now].map(contentText);
  const fields = first === second ? ' Other fields differ.' : '';
  return (
    `${JSON.stringify(key)} arrived before with ${first}, and now with ${second}.${fields} ` +
    'Compare both with your order, then retry or discard this one.'
  );
}

function contentText(event: WebhookEvent | null): string {
  if (event === null) return 'a content that was purged';
  return event.type === 'unknown' ? 'other data' : JSON.stringify(summaryOf(event)).slice(1, -1);
}
