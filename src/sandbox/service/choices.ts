import * as z from 'zod/mini';
import type { Issue } from '../../errors.js';
import { type Duration, durationMs } from '../../input/duration.js';
import { convertedField } from '../../input/fields.js';
import { readInto } from '../../input/read.js';
import type { SignatureScheme } from '../../webhooks/index.js';
import { schemeSchema } from '../../webhooks/scheme.js';
import { nameIn } from '../checks.js';
import { type EventLink, eventLinks } from './event.js';

export const errorStatuses = {
  validation: 400,
  malformed_json: 400,
  content_type: 415,
  unknown_id: 404,
  unknown_path: 404,
  wrong_method: 405,
  archived_product: 409,
  body_too_large: 413,
  too_many_objects: 507,
} as const;

/** Reason why a request is refused. */
export type ErrorKind = keyof typeof errorStatuses;

/**
 * A choice that cannot be changed, for behaviour that the specification does not describe: the key is checked before the
 * path, an empty PATCH is refused, numbers in metadata become strings, a price is returned as sent, characters are code
 * points, an image is `http:` or `https:`, no URL has a user, creating a checkout requires only `productId`, an error is
 * `{ code, message }` with the HTTP status as its code, a list begins with the newest product and has no items past its last
 * page, a currency is three upper-case letters.
 */
export type FixedChoice =
  | 'authOrder'
  | 'emptyUpdate'
  | 'metadata'
  | 'priceText'
  | 'nameLength'
  | 'imageScheme'
  | 'urlCredentials'
  | 'checkoutRequired'
  | 'errors'
  | 'errorStatus'
  | 'listOrder'
  | 'currencyForm';

/**
 * Choices for behaviour that the specification does not describe. They are no promise of the service, and you can change
 * them. A response that depended on a choice names it in the header `x-sandbox-unspecified`.
 */
export interface UnspecifiedChoices {
  /** Response to creating a checkout. Default `'session'`, the shape of retrieval; the spec promises only `url`. */
  checkoutCreated: 'session' | 'url';
  /** Time for which a checkout can be paid, and the unit of `expiresAt`. Default 30 minutes, in milliseconds. */
  expiresIn:
    | Duration
    | {
        /** Time for which a checkout can be paid. */
        after: Duration;
        /** The unit of `expiresAt`. */
        unit: 'ms' | 's';
      };
  /** Treatment of fields that the spec does not list. Default `'ignore'`, with a warning in the request log. */
  unknownFields: 'ignore' | 'reject';
  /** Path in an event's body that holds the checkout's id. Default `'none'`. In `'data.reference'` the id follows `checkout:`. */
  eventLink: EventLink;
  /** Form of `data.amount` in an event. Default `'text'`, a string. */
  webhookBody: 'text' | 'number';
  /** Signature scheme of deliveries: the fields that differ from the default of `webhooks.verify()`. */
  signature: Partial<SignatureScheme>;
  /** Delays before the second and later attempts; `[]` for one attempt. Default 5 s, 30 s, 2 min, 10 min. */
  retries: readonly Duration[];
  /** Time limit of a receiver's response. Default 10 seconds, in real time. */
  deliveryTimeout: Duration;
  /** Effect of cancelling on the checkout. Default `'stay-open'`: the customer can come back and pay. */
  cancel: 'stay-open' | 'close';
  /** Time for which a payment stays `pending`. Default 24 hours; `0` makes it `available` at once. */
  settlement: Duration;
}

const defaultRetries: Duration[] = ['5s', '30s', '2m', '10m'];

const inMs = z.transform((after: number) => ({ after, unit: 'ms' as const }));
const expiry = z.union(
  [z.strictObject({ after: durationMs(), unit: z.enum(['ms', 's']) }), z.pipe(durationMs(), inMs)],
  'must be a duration such as "30m", or { after: "30m", unit: "ms" | "s" }.',
);

/** The schema of a signature scheme that can sign. It keeps the fields as they were passed. */
export const signingScheme = convertedField((given, refuse): Partial<SignatureScheme> => {
  const issues: Issue[] = [];
  const read = readInto(issues, schemeSchema, given);
  for (const { path, message } of issues) refuse(message, path === '' ? [] : path.split('.'));
  if (read?.verify) refuse('cannot sign. Leave it out: the sandbox signs with a secret.', ['verify']);
  return { ...Object(given) };
});

const choicesShape = {
  checkoutCreated: z._default(z.enum(['session', 'url']), 'session'),
  expiresIn: z.prefault(expiry, '30m'),
  unknownFields: z._default(z.enum(['ignore', 'reject']), 'ignore'),
  eventLink: z._default(nameIn(eventLinks), 'none'),
  webhookBody: z._default(z.enum(['text', 'number']), 'text'),
  signature: z._default(signingScheme, {}),
  retries: z.prefault(z.array(durationMs(), 'must be durations, such as ["5s", "30s"].'), defaultRetries),
  deliveryTimeout: z.prefault(durationMs(), '10s'),
  cancel: z._default(z.enum(['stay-open', 'close']), 'stay-open'),
  settlement: z.prefault(durationMs(), '24h'),
} satisfies Record<keyof UnspecifiedChoices, z.ZodMiniType>;

export const choicesSchema = z.strictObject(choicesShape);

/** Checked choices, with durations in milliseconds. */
export type Choices = z.output<typeof choicesSchema>;
