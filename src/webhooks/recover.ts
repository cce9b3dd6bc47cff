import { WebhookVerificationError } from '../errors.js';
import { readBody } from './body.js';
import { type Checks, readGivenChecks } from './checks.js';
import { type Delivery, deliveryOf } from './delivery.js';
import { invalidOptions } from './options.js';
import { isProbe } from './probe.js';
import { decodeRecoded } from './recoded.js';
import type { RefusedDelivery } from './refused.js';
import { defaultToleranceSeconds } from './timestamp.js';
import { type VerifyOptions, verifyDelivery } from './verify.js';

/** Options of `webhooks.recover()`. */
export type RecoverOptions = Pick<VerifyOptions, 'secret' | 'scheme' | 'toleranceSeconds'>;

/**
 * Returns the refused deliveries that are authentic under another secret or scheme, in their order. Each is verified as of
 * its `receivedAt`. If a platform encoded the body once more, as base64 or as a JSON string, the decoded body is verified
 * too, and becomes the `rawBody` of the returned delivery.
 *
 * Pure and synchronous: store the returned deliveries as `accept` does, then delete the records. A delivery that was stored
 * before has the same `key` and `digest`.
 *
 * @throws {WebhookConfigError} an option is invalid, or a record is not one that `refused` received.
 * @example
 * ```ts
 * import { type Delivery, recover, type RefusedDelivery } from 'merchant-payments/webhooks';
 *
 * const records: RefusedDelivery[] = []; // the deliveries that `refused` received
 * const stored: Delivery[] = []; // stands for your queue
 *
 * const secret = process.env.PAYMENTS_WEBHOOK_SECRET;
 * for (const delivery of recover(records, { secret, scheme: { encoding: 'base64' } })) stored.push(delivery);
 * ```
 */
export function recover(records: readonly RefusedDelivery[], options: RecoverOptions): Delivery[] {
  const checks = readGivenChecks('webhooks.recover()', options);
  if (!Array.isArray(records))
    throw invalidOptions('webhooks.recover() takes an array of refused deliveries.');
  const recovered: Delivery[] = [];
  let mistake: unknown;
  records.forEach((record: unknown, index) => {
    if (!isRefused(record))
      throw invalidOptions(
        `webhooks.recover(): record ${index} lacks rawBody, headers or receivedAt. Pass what the function \`refused\` was given.`,
      );
    try {
      const delivery = recoverDelivery(checks, record);
      if (!isProbe(delivery.event)) recovered.push(delivery);
    } catch (error) {
      if (!(error instanceof WebhookVerificationError)) mistake ??= error;
    }
  });
  // One record, which may be a stranger's, can make the verifier fail; the others are returned all the same.
  if (mistake !== undefined && recovered.length === 0) throw mistake;
  return recovered;
}

function isRefused(value: unknown): value is RefusedDelivery {
  if (typeof value !== 'object' || value === null) return false;
  const { rawBody, headers, receivedAt }: Partial<Record<keyof RefusedDelivery, unknown>> = value;
  const isDated = typeof receivedAt === 'string' && !Number.isNaN(Date.parse(receivedAt));
  return typeof rawBody === 'string' && typeof headers === 'object' && headers !== null && isDated;
}

/**
 * Returns the delivery that a refused one proves to be, or throws the reason for which it is not authentic. If the signed
 * time is further than `usualSeconds` from the time of receipt, one of the two clocks was wrong. Only the sender's time is
 * signed, so it becomes `receivedAt`.
 */
export function recoverDelivery(
  checks: Checks,
  { rawBody, encoding, headers, receivedAt }: Omit<RefusedDelivery, 'code' | 'bytes'>,
  usualSeconds: number = defaultToleranceSeconds,
): Delivery {
  const now = Date.parse(receivedAt);
  const body = readBody(rawBody, encoding);
  const verified = verifyEither(checks, body, { headers, now });
  const isLate = Math.abs(now - verified.sentAt) > usualSeconds * 1000;
  return deliveryOf(verified, new Date(isLate ? verified.sentAt : now));
}

/** Verifies a body as received, or else the body before a platform encoded it. */
function verifyEither(checks: Checks, body: Uint8Array, given: { headers: unknown; now: number }) {
  try {
    return verifyDelivery(checks, { ...given, rawBody: body });
  } catch (error) {
    const recoded = decodeRecoded(body);
    if (!recoded) throw error;
    return verifyDelivery(checks, { ...given, rawBody: recoded.sent });
  }
}
