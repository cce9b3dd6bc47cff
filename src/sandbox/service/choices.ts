import * as z from 'zod/mini';
import { isPaymentsError } from '../../errors.js';
import { type Duration, durationMs } from '../../input/duration.js';
import { valueWithout } from '../../input/fields.js';
import type { SignatureScheme } from '../../webhooks/index.js';
import { readScheme } from '../../webhooks/scheme.js';
import { checked, choiceOf, closed, nameIn, problemIn } from '../checks.js';
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

/** What went wrong with a request. */
export type ErrorKind = keyof typeof errorStatuses;

/**
 * Where the specification is silent and the sandbox always does the same: the key is checked before the path, an empty
 * PATCH is refused, numbers in metadata become strings, a price is returned as sent, characters are code points, an image
 * is `http:` or `https:`, no URL has a user, creating a checkout needs a `productId` alone, an error is `{ code, message }`
 * with the HTTP status as its code, a list begins with the newest product and has no items past its last page, a currency
 * is three upper-case letters.
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
 * What the sandbox does where the specification is silent: never a promise of the service, and changeable. A response
 * that depended on a choice names it in the header `x-sandbox-unspecified`.
 */
export interface UnspecifiedChoices {
  /** What creating a checkout returns. Default `'session'`, the shape of retrieval; the spec promises `url` alone. */
  checkoutCreated: 'session' | 'url';
  /** How long a checkout can be paid, and the unit of `expiresAt`. Default 30 minutes, in milliseconds. */
  expiresIn:
    | Duration
    | {
        /** How long it can be paid. */
        after: Duration;
        /** The unit of `expiresAt`. */
        unit: 'ms' | 's';
      };
  /** Fields that the spec does not list. Default `'ignore'`, with a warning in the request log. */
  unknownFields: 'ignore' | 'reject';
  /** The path in an event's body that names its checkout. Default `'none'`. `'data.reference'` has it after `checkout:`. */
  eventLink: EventLink;
  /** How `data.amount` is written in an event. Default `'text'`, a string. */
  webhookBody: 'text' | 'number';
  /** How deliveries are signed: what differs from the default scheme of `webhooks.verify()`. */
  signature: Partial<SignatureScheme>;
  /** The delays before the second and later attempts; `[]` for one attempt. Default 5 s, 30 s, 2 min, 10 min. */
  retries: readonly Duration[];
  /** How long a receiver may take. Default 10 seconds, in real time. */
  deliveryTimeout: Duration;
  /** What cancelling does to the checkout. Default `'stay-open'`: the customer can come back and pay. */
  cancel: 'stay-open' | 'close';
  /** How long a payment stays `pending`. Default 24 hours; `0` makes it `available` at once. */
  settlement: Duration;
}

const defaultRetries: Duration[] = ['5s', '30s', '2m', '10m'];

const inMs = z.transform((after: number) => ({ after, unit: 'ms' as const }));
const expiry = z.union(
  [z.strictObject({ after: durationMs(), unit: z.enum(['ms', 's']) }), z.pipe(durationMs(), inMs)],
  'pass a duration such as "30m", or { after: "30m", unit: "ms" | "s" }.',
);

const schema = closed({
  checkoutCreated: choiceOf('session', 'url'),
  expiresIn: z.prefault(expiry, '30m'),
  unknownFields: choiceOf('ignore', 'reject'),
  eventLink: z._default(nameIn(eventLinks), 'none'),
  webhookBody: choiceOf('text', 'number'),
  signature: z._default(valueWithout<Partial<SignatureScheme>>(schemeProblem), {}),
  retries: z.prefault(z.array(durationMs(), 'pass durations, such as ["5s", "30s"].'), defaultRetries),
  deliveryTimeout: z.prefault(durationMs(), '10s'),
  cancel: choiceOf('stay-open', 'close'),
  settlement: z.prefault(durationMs(), '24h'),
} satisfies Record<keyof UnspecifiedChoices, z.ZodMiniType>);

export function schemeProblem(scheme: unknown): string | undefined {
  try {
    const { verify } = readScheme(scheme);
    return verify && 'scheme.verify cannot sign. Leave it out: the sandbox signs with a secret.';
  } catch (error) {
    if (!isPaymentsError(error)) throw error;
    return error.message.replace(/^SignatureScheme: /, '');
  }
}

export const choicesProblem = (given: object) => problemIn(schema, given);

/** The choices as the code uses them: durations in milliseconds. */
export type Choices = ReturnType<typeof readChoices>;

export const readChoices = (given: Partial<UnspecifiedChoices> = {}) =>
  checked(schema, given, 'createSandbox: unspecified');
