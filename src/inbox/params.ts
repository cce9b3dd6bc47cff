import * as z from 'zod/mini';
import { InvalidParamsError } from '../errors.js';
import { type Duration, durationMs } from '../input/duration.js';
import { validDate } from '../input/fields.js';
import { integer, readParams } from '../input/read.js';
import { readIsoMoment } from '../schemas/moment.js';
import { type Delivery, digestOf, escapeNul, limitDepth } from '../webhooks/delivery.js';
import type { WebhookEvent } from '../webhooks/index.js';
import { type InboxState, inboxStates } from './entry.js';

/** Parameters of `list()`, which returns the newest deliveries first. */
export interface ListParams {
  /** The state of the deliveries. Default: every state. */
  state?: InboxState | undefined;
  /** The most deliveries to return, from 1 to 1000; default 100. */
  limit?: number | undefined;
  /** The key of the last entry of the page before. */
  after?: string | undefined;
}

/** Parameters of `discardRefused()`: exactly one of these. */
export type DiscardRefusedParams =
  | {
      /** The `id` of an entry. */
      id: number;
    }
  | {
      /** A duration or a date: entries that were refused the last time before that. */
      olderThan: Duration | Date;
    }
  | {
      /** Every entry. */
      all: true;
    };

const noKey = 'must be the key of a delivery, such as "order.paid:ord_1001".';
const key = z.pipe(z.string(noKey).check(z.minLength(1, noKey)), z.transform(escapeNul));
const limit = z._default(integer(1, 1000), 100);

const keyParams = z.strictObject({ key });

/** Reads the key that a method takes. */
export function readDeliveryKey(method: string, key: unknown): string {
  return readParams(`inbox.${method}`, keyParams, { key }).key;
}

export const listParams = z.strictObject({
  state: z.optional(z.enum(inboxStates)),
  limit,
  after: z.optional(key),
});

export const refusedParams = z.strictObject({ limit });

export const retryOptions = z.strictObject({ force: z._default(z.boolean(), false) });

export const drainParams = z.strictObject({ forMs: durationMs() });

/** The schema of an age. `olderThan` takes an age or a date. */
const age = z.pipe(
  durationMs(),
  z.transform((ageMs) => ({ ageMs })),
);
const olderThan = z.union([validDate, age], 'must be a duration such as "90d", or a valid Date.');

export const purgeParams = z.strictObject({ olderThan });

const discardRefusedParams = z.strictObject({
  id: z.optional(integer(1, Number.MAX_SAFE_INTEGER)),
  olderThan: z.optional(olderThan),
  all: z.optional(z.literal(true)),
});

/** Reads which entries of the quarantine to delete. */
export function readDiscard(given: DiscardRefusedParams) {
  const operation = 'inbox.discardRefused';
  const { id, olderThan: before, all } = readParams(operation, discardRefusedParams, given);
  if ([id, before, all].filter((each) => each !== undefined).length !== 1) {
    const message = 'must be one of { id }, { olderThan } and { all: true }.';
    throw new InvalidParamsError({ operation }, [{ path: '', message }]);
  }
  if (id !== undefined) return { id };
  return before === undefined ? 'all' : { before };
}

const headers = z.custom<Record<string, string>>(
  (value) => typeof value === 'object' && value !== null,
  'must be an object.',
);

const noMoment = 'must be ISO 8601 with a zone.';

const deliverySchema = z.object(
  {
    key,
    event: z.custom<WebhookEvent>(isEvent, 'must be an event of verify().'),
    rawBody: z.string(),
    encoding: z.optional(z.literal('base64')),
    headers,
    receivedAt: z.string(noMoment).check(z.refine((text) => readIsoMoment(text) !== undefined, noMoment)),
  },
  'must be a delivery.',
);

/** Reads the fields of a delivery, which have to be readable later from what is stored. */
export function readDelivery(given: unknown): Delivery {
  const { encoding, ...delivery } = readParams('inbox.accept', deliverySchema, given);
  const event = limitDepth(delivery.event);
  return { ...delivery, event, ...(encoding && { encoding }), digest: digestOf(event) };
}

function isEvent(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const { type, originalType }: { type?: unknown; originalType?: unknown } = value;
  return typeof (type === 'unknown' ? originalType : type) === 'string';
}
