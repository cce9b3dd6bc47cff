// How services that document their webhooks sign them. The first row of each list is the default's.
import type { SignatureScheme } from '../webhooks/index.js';

/** One value of one part of a scheme, and what it is in words. */
export type Part<Value> = readonly [value: Value, says: string];

export type TimestampUnit = 'seconds' | 'milliseconds' | 'iso8601';

/** One choice for every part of a scheme. */
export interface Parts {
  content: Part<string>;
  algorithm: Part<SignatureScheme['algorithm']>;
  encoding: Part<SignatureScheme['encoding']>;
  key: Part<SignatureScheme['secretEncoding']>;
  /** The signature header; `separator` separates signatures, if it may hold several. */
  form: readonly [text: string, says: string, separator?: SignatureScheme['separator']];
  unit: Part<TimestampUnit>;
}

/** The lists whose combinations are the known schemes. */
export type Lists = { readonly [Name in keyof Parts]: readonly Parts[Name][] };

export const documented: Lists = {
  content: [
    ['{timestamp}.{body}', 'timestamp, dot, body'],
    ['{timestamp}{body}', 'timestamp and body, nothing between'],
    ['{timestamp}:{body}', 'timestamp, colon, body'],
    ['v0:{timestamp}:{body}', '"v0", timestamp and body with colons between'],
    ['v1.{timestamp}.{body}', '"v1", timestamp and body with dots between'],
    ['{timestamp}|{body}', 'timestamp, bar, body'],
    ['{body}', 'the body alone'],
    ['{body}{timestamp}', 'body, then timestamp'],
  ],
  algorithm: [
    ['sha256', 'HMAC-SHA256'],
    ['sha512', 'HMAC-SHA512'],
    ['sha384', 'HMAC-SHA384'],
  ],
  encoding: [
    ['hex', 'hex'],
    ['base64', 'base64'],
    ['base64url', 'base64url'],
  ],
  key: [
    ['utf8', 'the secret as text'],
    ['base64', 'the secret decoded from base64'],
    ['hex', 'the secret decoded from hex'],
  ],
  form: [
    ['{signature}', 'alone in its header'],
    ['{algorithm}={signature}', 'with the algorithm before it'],
    ['v0={signature}', 'with "v0=" before it'],
    ['v1={signature}', 'with "v1=" before it, several separated by commas', ','],
    ['t={timestamp},v1={signature}', 'in the list t=…,v1=…', ','],
    ['ts={timestamp};h1={signature}', 'in the list ts=…;h1=…', ';'],
    ['v1,{signature}', 'with "v1," before it, several separated by spaces', ' '],
    ['t={timestamp},s={signature}', 'in the list t=…,s=…', ','],
    ['timestamp={timestamp},signature={signature}', 'in the list timestamp=…,signature=…', ','],
  ],
  unit: [
    ['seconds', 'Unix seconds'],
    ['milliseconds', 'Unix milliseconds'],
    ['iso8601', 'ISO 8601'],
  ],
};

/** What Square, HubSpot, UPayments, Alchemy Pay and SMSPortal sign: the URL of the webhook too. */
export function contentsWithUrl(url: string): readonly Part<string>[] {
  const path = URL.canParse(url) ? new URL(url).pathname : '/';
  return [
    [`${url}{body}`, 'URL, body'],
    [`POST${url}{body}{timestamp}`, 'method, URL, body, timestamp'],
    [`{timestamp}POST${url}{body}`, 'timestamp, method, URL, body'],
    [`{timestamp}POST${path}{body}`, 'timestamp, method, path, body'],
    [`v1:{timestamp}|POST|${url}|{body}`, '"v1:", timestamp, method, URL and body with bars between'],
  ];
}

/**
 * Whole schemes that services document and that two headers can carry: the likeliest ones. Content, algorithm,
 * encoding, key, header and unit, as the lists above write them.
 */
export const documentedSchemes: Readonly<Record<string, keyof typeof sources>> = {
  '{timestamp}.{body} sha256 hex utf8 t={timestamp},v1={signature} seconds': 'Stripe',
  '{timestamp}{body} sha256 hex utf8 {signature} milliseconds': 'Airwallex',
  '{timestamp}{body} sha256 base64 utf8 {signature} milliseconds': 'Cashfree',
  'v1.{timestamp}.{body} sha256 hex utf8 v1={signature} milliseconds': 'Revolut',
  'v0:{timestamp}:{body} sha256 hex utf8 v0={signature} seconds': 'Slack',
  '{timestamp}:{body} sha256 hex utf8 ts={timestamp};h1={signature} seconds': 'Paddle',
  '{timestamp}{body} sha256 base64 utf8 {signature} iso8601': 'Zendesk',
  '{body}{timestamp} sha256 base64 utf8 {signature} iso8601': 'Box',
  '{timestamp}.{body} sha256 base64 base64 v1,{signature} seconds': 'Standard Webhooks',
  '{timestamp}.{body} sha256 hex utf8 timestamp={timestamp},signature={signature} seconds': 'Buildkite',
  '{timestamp}.{body} sha256 hex utf8 t={timestamp},s={signature} seconds': 'Billit',
  '{body} sha256 hex utf8 {algorithm}={signature} seconds': 'GitHub',
  '{body} sha256 hex utf8 {signature} seconds': 'Linear',
  '{body} sha256 base64 utf8 {signature} seconds': 'Shopify',
  '{body} sha512 hex utf8 {signature} seconds': 'Paystack',
};

/** Where the services document it. */
export const sources = {
  Stripe: 'https://docs.stripe.com/webhooks#verify-manually',
  Airwallex: 'https://www.airwallex.com/docs/developer-tools/webhooks/listen-for-webhook-events',
  Paddle: 'https://developer.paddle.com/webhooks/signature-verification',
  Slack: 'https://docs.slack.dev/authentication/verifying-requests-from-slack',
  Revolut:
    'https://developer.revolut.com/docs/guides/accept-payments/tutorials/work-with-webhooks/verify-the-payload-signature',
  GitHub: 'https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries',
  Box: 'https://developer.box.com/guides/webhooks/v2/signatures-v2/',
  Paystack: 'https://paystack.com/docs/payments/webhooks/',
  Shopify: 'https://shopify.dev/docs/apps/build/webhooks/subscribe/https',
  'Standard Webhooks':
    'https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md',
  Billit: 'https://docs.billit.be/reference/webhook',
  Buildkite: 'https://buildkite.com/docs/apis/webhooks/pipelines#webhook-signature',
  Zendesk: 'https://developer.zendesk.com/documentation/webhooks/verifying/',
  Cashfree: 'https://www.cashfree.com/docs/api-reference/webhooks/payloads-and-signatures',
  Linear: 'https://linear.app/developers/webhooks',
};
