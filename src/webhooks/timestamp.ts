import * as z from 'zod/mini';
import { WebhookVerificationError } from '../errors.js';
import { convertedField, isValidDate } from '../input/fields.js';
import { firstMillisecond, readIsoMoment } from '../schemas/moment.js';
import type { Scheme } from './scheme.js';

const unixTime = /^[1-9]\d{0,13}$/;
const longestIso = 40;

/** Reads a timestamp header, strictly, as Unix milliseconds. */
export function readTimestamp(text: string, unit: Scheme['timestamp']): number {
  if (unit === 'iso8601') {
    const moment = text.length <= longestIso ? readIsoMoment(text) : undefined;
    if (moment) return moment.getTime();
  } else if (unixTime.test(text)) {
    const value = Number(text);
    const inSeconds = unit === 'seconds' || (unit === 'auto' && value < firstMillisecond);
    return inSeconds ? value * 1000 : value;
  }
  const otherForm = unit === 'iso8601' ? unixTime.test(text) : readIsoMoment(text) !== undefined;
  throw new WebhookVerificationError(
    otherForm
      ? `The timestamp header is in another form than scheme.timestamp "${unit}" says. Set scheme.timestamp.`
      : `The timestamp header is not ${unit === 'iso8601' ? 'ISO 8601 with a zone' : 'plain Unix time'}.`,
    'malformed_timestamp',
  );
}

/** Rejects a timestamp further in the past or future than the tolerance, which is inclusive. */
export function checkFreshness(
  sentAt: number,
  now: number,
  toleranceSeconds: number,
  unit: Scheme['timestamp'],
) {
  const skewSeconds = (now - sentAt) / 1000;
  if (Math.abs(skewSeconds) <= toleranceSeconds) return;
  const past = skewSeconds > 0;
  const other = unit === 'seconds' ? sentAt / 1000 : unit === 'milliseconds' ? sentAt * 1000 : Number.NaN;
  const hint =
    Math.abs(now - other) / 1000 <= toleranceSeconds
      ? `In ${unit === 'seconds' ? 'milliseconds' : 'seconds'} it would be fresh: set scheme.timestamp to "auto".`
      : past
        ? 'It is a replay or was queued (then pass receivedAt), or a clock is wrong.'
        : 'One of the two clocks is wrong.';
  throw new WebhookVerificationError(
    `The webhook is authentic, but its timestamp lies ${Math.abs(skewSeconds)} s in the ` +
      `${past ? 'past' : 'future'}, more than the ${toleranceSeconds} s of toleranceSeconds. ${hint}`,
    past ? 'timestamp_too_old' : 'timestamp_in_future',
    { skewSeconds },
  );
}

/** The default of `toleranceSeconds`. */
export const defaultToleranceSeconds = 300;

/** The largest difference between a timestamp and the clock, in seconds. */
export const tolerance = z.custom<number>(
  (value) => typeof value === 'number' && value > 0,
  'must be a number above 0; write Infinity to switch the check off.',
);

export const toleranceSeconds = z._default(tolerance, defaultToleranceSeconds);

/** The time at which a delivery was received, read as Unix milliseconds. */
export const receivedAtMs = convertedField((value, refuse): number => {
  const date = typeof value === 'string' && value.length <= longestIso ? readIsoMoment(value) : value;
  return isValidDate(date) ? date.getTime() : refuse('must be a valid Date or ISO 8601 with a zone.');
});
