import { closest } from '../../schemas/closest.js';
import { type SignatureScheme, sign } from '../../webhooks/index.js';
import { SandboxError } from '../sandbox-error.js';
import type { Duration } from './duration.js';
import { milliseconds } from './duration.js';
import { type EventLink, eventLinks } from './event-links.js';

/** What went wrong with a request, for `errors` and `errorStatus`. */
export type ErrorKind =
  | 'validation'
  | 'malformed_json'
  | 'content_type'
  | 'unknown_id'
  | 'unknown_path'
  | 'wrong_method'
  | 'archived_product'
  | 'body_too_large'
  | 'too_many_objects';

/**
 * What the sandbox does where the specification is silent. Each is the sandbox's own choice, never a promise of the
 * service; each can be changed. An answer that depended on one names it in the header `x-sandbox-unspecified`.
 */
export interface UnspecifiedChoices {
  /** What creating a checkout returns. Default `'session'`, the shape of retrieval; the spec promises `url` alone. */
  checkoutCreated: 'session' | 'url';
  /** Which fields creating a checkout needs. Default `['productId']`. */
  checkoutRequired: readonly ('productId' | 'successUrl' | 'cancelUrl' | 'displayMerchantName')[];
  /** How long a checkout can be paid, and the unit of `expiresAt`. Default 30 minutes, in milliseconds. */
  expiresIn:
    | Duration
    | {
        /** How long it can be paid. */
        after: Duration;
        /** The unit of `expiresAt`. */
        unit: 'ms' | 's';
      };
  /**
   * The body of every error but 401. Default `'envelope'`: `{ code: <status>, message }`, by analogy with the 401.
   * A function makes the whole answer.
   */
  errors: 'envelope' | ((kind: ErrorKind, message: string) => Response);
  /** The status of each kind of error. Default: 400, unknown id or path 404, wrong method 405, archived 409, 413, 415. */
  errorStatus: Readonly<Partial<Record<ErrorKind, number>>>;
  /** Default `'first'`: the key is checked before path and body. `'after-path'`: an unknown path is 404 without a key. */
  authOrder: 'first' | 'after-path';
  /** Fields that the spec does not list. Default `'ignore'`, with a warning in the request log. */
  unknownFields: 'ignore' | 'reject';
  /** Default `'newest-first'`. A page past the end has no items. */
  listOrder: 'newest-first' | 'oldest-first';
  /** Default `'to-text'`: numbers and booleans are taken and returned as text. `'text-only'` refuses them. */
  metadata: 'to-text' | 'text-only';
  /** The price in the answers to create and update. Default `'as-sent'`: `"19.9"` stays `"19.9"`. */
  priceText: 'as-sent' | 'two-decimals';
  /** How the characters of a name are counted. Default `'code-points'`: an emoji is one. */
  nameLength: 'code-points' | 'utf-16';
  /** Default `'own'`: unrelated to the checkout's id. */
  orderId: 'own' | 'checkout-id';
  /**
   * Where an event names its checkout, as a path in its body. Default `'none'`: the specification ties the two nowhere.
   * `'order_id'` is `orderId: 'checkout-id'`; `'data.reference'` has the id after `checkout:`.
   */
  eventLink: EventLink;
  /** How `data.amount` is written in an event. Default `'text'`. */
  webhookBody: 'text' | 'number';
  /** How deliveries are signed: where it differs from the default scheme of `webhooks.verify()`. */
  signature: Partial<SignatureScheme>;
  /** The waits before the second and later attempts; `[]` for one attempt. Default 5 s, 30 s, 2 min, 10 min. */
  retries: readonly Duration[];
  /** What cancelling does to the checkout. Default `'stay-open'`: the customer can come back and pay. */
  cancel: 'stay-open' | 'close';
  /** Default `'exact'`: the customer is sent to the very URL given. `'with-ids'` adds `checkout_id` and `order_id`. */
  redirect: 'exact' | 'with-ids';
  /** How long a payment stays `pending`. Default 24 hours; `0` makes it `available` at once. */
  settlement: Duration;
  /** What is kept of each payment, in percent with at most two decimals. Default `'0'`. */
  fees: `${number}`;
}

/** The choices as the code uses them: durations in milliseconds. */
export interface Choices
  extends Omit<UnspecifiedChoices, 'expiresIn' | 'retries' | 'settlement' | 'errorStatus'> {
  expiresIn: { afterMs: number; unit: 'ms' | 's' };
  retries: readonly number[];
  settlementMs: number;
  errorStatus: Readonly<Record<ErrorKind, number>>;
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

export const defaultChoices: UnspecifiedChoices = {
  checkoutCreated: 'session',
  checkoutRequired: ['productId'],
  expiresIn: '30m',
  errors: 'envelope',
  errorStatus: statuses,
  authOrder: 'first',
  unknownFields: 'ignore',
  listOrder: 'newest-first',
  metadata: 'to-text',
  priceText: 'as-sent',
  nameLength: 'code-points',
  orderId: 'own',
  eventLink: 'none',
  webhookBody: 'text',
  signature: {},
  retries: ['5s', '30s', '2m', '10m'],
  cancel: 'stay-open',
  redirect: 'exact',
  settlement: '24h',
  fees: '0',
};

/** The closed sets, to refuse a choice that does not exist. */
const alternatives: { [Name in keyof UnspecifiedChoices]?: readonly unknown[] } = {
  checkoutCreated: ['session', 'url'],
  authOrder: ['first', 'after-path'],
  unknownFields: ['ignore', 'reject'],
  listOrder: ['newest-first', 'oldest-first'],
  metadata: ['to-text', 'text-only'],
  priceText: ['as-sent', 'two-decimals'],
  nameLength: ['code-points', 'utf-16'],
  orderId: ['own', 'checkout-id'],
  eventLink: Object.keys(eventLinks),
  webhookBody: ['text', 'number'],
  cancel: ['stay-open', 'close'],
  redirect: ['exact', 'with-ids'],
};

/** Defaults and the caller's choices, checked. */
export function readChoices(given: Partial<UnspecifiedChoices> = {}): Choices {
  const names = Object.keys(defaultChoices);
  for (const name of Object.keys(given)) {
    if (names.includes(name)) continue;
    const meant = closest(name, names);
    throw invalid(
      `${name} is no choice. ${meant === undefined ? `Known are ${names.join(', ')}.` : `Did you mean ${meant}?`}`,
    );
  }
  const defined = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  const chosen: UnspecifiedChoices = { ...defaultChoices, ...defined };
  for (const [name, allowed] of Object.entries(alternatives)) {
    const value: unknown = Reflect.get(chosen, name);
    if (!allowed.includes(value))
      throw invalid(`${name}: pass ${allowed.map((one) => `"${one}"`).join(' or ')}.`);
  }
  if (chosen.errors !== 'envelope' && typeof chosen.errors !== 'function')
    throw invalid('errors: pass "envelope" or a function that makes the answer.');
  if (!/^\d{1,2}(\.\d{1,2})?$/.test(chosen.fees))
    throw invalid('fees: pass a percentage as text, such as "2.9".');
  for (const [kind, status] of Object.entries(chosen.errorStatus)) {
    if (!Object.hasOwn(statuses, kind))
      throw invalid(
        `errorStatus: ${kind} is no kind of error. Known are ${Object.keys(statuses).join(', ')}.`,
      );
    if (!Number.isInteger(status) || status < 400 || status > 599)
      throw invalid(`errorStatus.${kind}: pass a status from 400 to 599.`);
  }
  sign({ rawBody: '', secret: 'checks the scheme', scheme: chosen.signature });
  const lifetime =
    typeof chosen.expiresIn === 'object'
      ? chosen.expiresIn
      : { after: chosen.expiresIn, unit: 'ms' as const };
  return {
    ...chosen,
    errorStatus: { ...statuses, ...chosen.errorStatus },
    expiresIn: {
      afterMs: milliseconds(lifetime.after, 'unspecified.expiresIn'),
      unit: lifetime.unit === 's' ? 's' : 'ms',
    },
    retries: chosen.retries.map((wait) => milliseconds(wait, 'unspecified.retries')),
    settlementMs: milliseconds(chosen.settlement, 'unspecified.settlement'),
  };
}

function invalid(message: string): SandboxError {
  return new SandboxError('invalid_options', `createSandbox: unspecified.${message}`);
}
