import * as z from 'zod/mini';
import { isPaymentsError } from '../../errors.js';
import { field, optionalField } from '../../schemas/fields.js';
import type { SignatureScheme } from '../../webhooks/index.js';
import { readScheme } from '../../webhooks/scheme.js';
import { checked, choiceOf, closed, type Duration, durationMs, nameIn, oneOf, problemOf } from '../checks.js';
import { eventLinks } from './event.js';
import { type ErrorKind, errorStatuses, type UnspecifiedChoices } from './unspecified.js';

const isStatus = (value: unknown) => Number.isInteger(value) && Number(value) >= 400 && Number(value) <= 599;
const status = optionalField<number>(isStatus, 'pass a status from 400 to 599.');
const errorStatus = closed(
  Object.fromEntries(Object.keys(errorStatuses).map((kind) => [kind, status])),
  'a kind of error',
);

const isPercentage = (value: unknown) => typeof value === 'string' && /^\d{1,2}(\.\d{1,2})?$/.test(value);
const defaultRetries: Duration[] = ['5s', '30s', '2m', '10m'];

export const checkoutFields = ['productId', 'successUrl', 'cancelUrl', 'displayMerchantName'] as const;

/** Every choice with its alternatives and its default. */
const schema = closed(
  {
    checkoutCreated: choiceOf('session', 'url'),
    checkoutRequired: z._default(z.array(oneOf(checkoutFields), 'pass field names, such as ["productId"].'), [
      'productId',
    ]),
    expiresIn: z.prefault(
      z.union([z.strictObject({ after: durationMs, unit: z.enum(['ms', 's']) }), durationMs], {
        error: 'pass a duration such as "30m", or { after: "30m", unit: "ms" | "s" }.',
      }),
      '30m',
    ),
    errors: z._default(
      z.custom<UnspecifiedChoices['errors']>(
        (value) => value === 'envelope' || typeof value === 'function',
        'pass "envelope" or a function that makes the response.',
      ),
      'envelope',
    ),
    errorStatus: z._default(errorStatus, {}),
    unknownFields: choiceOf('ignore', 'reject'),
    listOrder: choiceOf('newest-first', 'oldest-first'),
    metadata: choiceOf('to-text', 'text-only'),
    currencyForm: choiceOf('upper-case', 'any-case', 'iso-4217'),
    orderId: choiceOf('own', 'checkout-id'),
    eventLink: z._default(nameIn(eventLinks), 'none'),
    webhookBody: choiceOf('text', 'number'),
    signature: z._default(field<Partial<SignatureScheme>>(schemeProblem), {}),
    retries: z.prefault(z.array(durationMs, 'pass durations, such as ["5s", "30s"].'), defaultRetries),
    deliveryTimeout: z.prefault(durationMs, '10s'),
    cancel: choiceOf('stay-open', 'close'),
    redirect: choiceOf('exact', 'with-ids'),
    settlement: z.prefault(durationMs, '24h'),
    fees: z._default(
      z.custom<`${number}`>(isPercentage, 'pass a percentage as a string, such as "2.9".'),
      '0',
    ),
  } satisfies Record<keyof UnspecifiedChoices, z.ZodMiniType>,
  'a choice',
);

/** What is wrong with a signature scheme; `undefined` if nothing is. */
export function schemeProblem(scheme: unknown): string | undefined {
  try {
    const { verify } = readScheme(scheme);
    return verify && 'scheme.verify cannot sign. Leave it out: the sandbox signs with a secret.';
  } catch (error) {
    if (!isPaymentsError(error)) throw error;
    return error.message.replace(/^scheme: /, '');
  }
}

export const choiceNames = Object.keys(schema.def.shape);

/** What is wrong with unchecked choices; `undefined` if nothing is. */
export function choicesProblem(given: object): string | undefined {
  const { error } = schema.safeParse(given);
  return error && problemOf(error);
}

/** The choices as the code uses them: durations in milliseconds. */
export type Choices = ReturnType<typeof readChoices>;

export function readChoices(given: Partial<UnspecifiedChoices> = {}) {
  const chosen = checked(schema, given, 'createSandbox: unspecified');
  const { expiresIn, settlement: settlementMs, deliveryTimeout: deliveryTimeoutMs, ...others } = chosen;
  return {
    ...others,
    settlementMs,
    deliveryTimeoutMs,
    statusOf: (kind: ErrorKind) => chosen.errorStatus[kind] ?? errorStatuses[kind],
    expiresInMs: typeof expiresIn === 'object' ? expiresIn.after : expiresIn,
    expiresUnit: typeof expiresIn === 'object' ? expiresIn.unit : 'ms',
  };
}
