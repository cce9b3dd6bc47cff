import * as z from 'zod/mini';
import { type SignatureScheme, sign } from '../../webhooks/index.js';
import { closed, problemOf } from '../closed.js';
import { SandboxError } from '../sandbox-error.js';
import { duration, milliseconds } from './duration.js';
import { type EventLink, eventLinks } from './event-links.js';
import type { ErrorKind, UnspecifiedChoices } from './unspecified.js';

/** One of these; the first is the default. */
function oneOf<const T extends string>(first: T, ...others: T[]) {
  const named = [first, ...others].map((one) => `"${one}"`);
  return z._default(z.enum([first, ...others], `pass ${named.join(' or ')}.`), first);
}

const statuses: Record<ErrorKind, number> = {
  validation: 400,
  malformed_json: 400,
  content_type: 415,
  unknown_id: 404,
  unknown_path: 404,
  wrong_method: 405,
  archived_product: 409,
  body_too_large: 413,
  too_many_objects: 507,
};

const isStatus = (value: unknown) => Number.isInteger(value) && Number(value) >= 400 && Number(value) <= 599;
const status = z.optional(z.custom<number>(isStatus, 'pass a status from 400 to 599.'));
const errorStatus = closed(
  {
    validation: status,
    malformed_json: status,
    content_type: status,
    unknown_id: status,
    unknown_path: status,
    wrong_method: status,
    archived_product: status,
    body_too_large: status,
    too_many_objects: status,
  } satisfies Record<ErrorKind, typeof status>,
  'a kind of error',
);

const checkoutField = z.enum(
  ['productId', 'successUrl', 'cancelUrl', 'displayMerchantName'],
  'pass productId, successUrl, cancelUrl or displayMerchantName.',
);

const isScheme = (value: unknown): value is Partial<SignatureScheme> =>
  typeof value === 'object' && value !== null;

const isLink = (value: unknown) => typeof value === 'string' && Object.hasOwn(eventLinks, value);

/** Every choice with its alternatives and its default. */
const schema = closed(
  {
    checkoutCreated: oneOf('session', 'url'),
    checkoutRequired: z._default(z.array(checkoutField, 'pass an array of field names.'), ['productId']),
    expiresIn: z._default(
      z.union([z.strictObject({ after: duration, unit: z.enum(['ms', 's']) }), duration], {
        error: 'pass a duration such as "30m", or { after: "30m", unit: "ms" | "s" }.',
      }),
      '30m',
    ),
    errors: z._default(
      z.union(
        [
          z.literal('envelope'),
          z.custom<Exclude<UnspecifiedChoices['errors'], string>>((value) => typeof value === 'function'),
        ],
        'pass "envelope" or a function that makes the response.',
      ),
      'envelope',
    ),
    errorStatus: z._default(errorStatus, {}),
    authOrder: oneOf('first', 'after-path'),
    unknownFields: oneOf('ignore', 'reject'),
    listOrder: oneOf('newest-first', 'oldest-first'),
    emptyUpdate: oneOf('reject', 'accept'),
    metadata: oneOf('to-text', 'text-only'),
    priceText: oneOf('as-sent', 'two-decimals'),
    nameLength: oneOf('code-points', 'utf-16'),
    currencyForm: oneOf('upper-case', 'any-case', 'iso-4217'),
    imageScheme: oneOf('http', 'https', 'any'),
    urlCredentials: oneOf('reject', 'accept'),
    orderId: oneOf('own', 'checkout-id'),
    eventLink: z._default(
      z.custom<EventLink>(isLink, `pass one of ${Object.keys(eventLinks).join(', ')}.`),
      'none',
    ),
    webhookBody: oneOf('text', 'number'),
    signature: z._default(
      z.custom<Partial<SignatureScheme>>(isScheme, 'pass an object: a signature scheme.'),
      {},
    ),
    retries: z._default(z.array(duration, 'pass an array of durations.'), ['5s', '30s', '2m', '10m']),
    deliveryTimeout: z._default(duration, '10s'),
    cancel: oneOf('stay-open', 'close'),
    redirect: oneOf('exact', 'with-ids'),
    settlement: z._default(duration, '24h'),
    fees: z._default(
      z.custom<`${number}`>(
        (value) => typeof value === 'string' && /^\d{1,2}(\.\d{1,2})?$/.test(value),
        'pass a percentage as a string, such as "2.9".',
      ),
      '0',
    ),
  } satisfies Record<keyof UnspecifiedChoices, z.ZodMiniType>,
  'a choice',
);

/** The names of all choices. */
export const choiceNames = Object.keys(schema.def.shape);

/** Whether values that come from outside are choices, and what is wrong if not. */
export const areChoices = (given: object): given is Partial<UnspecifiedChoices> =>
  schema.safeParse(given).success;
export const choicesProblem = (given: object): string => {
  const { error } = schema.safeParse(given);
  return error ? problemOf(error) : '';
};

/** The choices as the code uses them: durations in milliseconds. */
export type Choices = ReturnType<typeof readChoices>;

/** The caller's choices and the defaults of the others, checked. */
export function readChoices(given: Partial<UnspecifiedChoices> = {}) {
  const result = schema.safeParse(given);
  if (!result.success)
    throw new SandboxError('invalid_options', `createSandbox: unspecified.${problemOf(result.error)}`);
  const { expiresIn, settlement, deliveryTimeout, ...chosen } = result.data;
  sign({ rawBody: '', secret: 'checks the scheme', scheme: chosen.signature });
  const { after, unit } =
    typeof expiresIn === 'object' ? expiresIn : { after: expiresIn, unit: 'ms' as const };
  return {
    ...chosen,
    statusOf: (kind: ErrorKind) => chosen.errorStatus[kind] ?? statuses[kind],
    expiresIn: { afterMs: milliseconds(after, 'expiresIn'), unit },
    retries: chosen.retries.map((wait) => milliseconds(wait, 'retries')),
    settlementMs: milliseconds(settlement, 'settlement'),
    deliveryTimeoutMs: milliseconds(deliveryTimeout, 'deliveryTimeout'),
  };
}
