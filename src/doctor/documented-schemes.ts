// How services that document their webhooks sign them. The first row of each list is the default's.
import type { SignatureScheme } from '../webhooks/index.js';

/** One value of one part of a scheme, in words, and a service that documents it. */
export type Part<Value> = readonly [value: Value, says: string, service: string];

/** What is signed. */
export const contents: readonly Part<string>[] = [
  ['{timestamp}.{body}', 'timestamp, dot, body', 'Stripe'],
  ['{timestamp}{body}', 'timestamp and body, nothing between', 'Airwallex'],
  ['{timestamp}:{body}', 'timestamp, colon, body', 'Paddle'],
  ['v0:{timestamp}:{body}', '"v0", timestamp and body with colons between', 'Slack'],
  ['v1.{timestamp}.{body}', '"v1", timestamp and body with dots between', 'Revolut'],
  ['{timestamp}|{body}', 'timestamp, bar, body', 'Telnyx'],
  ['{body}', 'the body alone', 'GitHub'],
  ['{body}{timestamp}', 'body, then timestamp', 'Box'],
];

/** What is signed by services whose signed text includes the URL of the webhook. */
export function contentsWithUrl(url: string): readonly Part<string>[] {
  const path = URL.canParse(url) ? new URL(url).pathname : '/';
  return [
    [`${url}{body}`, 'URL, body', 'Square'],
    [`POST${url}{body}{timestamp}`, 'method, URL, body, timestamp', 'HubSpot'],
    [`{timestamp}POST${url}{body}`, 'timestamp, method, URL, body', 'UPayments'],
    [`{timestamp}POST${path}{body}`, 'timestamp, method, path, body', 'Alchemy Pay'],
    [
      `v1:{timestamp}|POST|${url}|{body}`,
      '"v1:", timestamp, method, URL and body with bars between',
      'SMSPortal',
    ],
  ];
}

export const algorithms: readonly Part<SignatureScheme['algorithm']>[] = [
  ['sha256', 'HMAC-SHA256', 'Stripe'],
  ['sha512', 'HMAC-SHA512', 'Paystack'],
  ['sha384', 'HMAC-SHA384', 'RFC 4231'],
];

export const encodings: readonly Part<SignatureScheme['encoding']>[] = [
  ['hex', 'hex', 'GitHub'],
  ['base64', 'base64', 'Shopify'],
  ['base64url', 'base64url', 'Merge'],
];

export const keys: readonly Part<SignatureScheme['secretEncoding']>[] = [
  ['utf8', 'the secret as text', 'Stripe'],
  ['base64', 'the secret decoded from base64', 'Standard Webhooks'],
  ['hex', 'the secret decoded from hex', 'Adyen'],
];

/** The signature header, and the options by which `verify()` reads it. */
export interface HeaderForm {
  text: string;
  prefix: string;
  separator?: SignatureScheme['separator'];
}

export const headerForms: readonly Part<HeaderForm>[] = [
  [{ text: '{signature}', prefix: '' }, 'alone in its header', 'Shopify'],
  [{ text: '{algorithm}={signature}', prefix: '{algorithm}=' }, 'with the algorithm before it', 'GitHub'],
  [{ text: 'v0={signature}', prefix: 'v0=' }, 'with "v0=" before it', 'Slack'],
  [
    { text: 'v1={signature}', prefix: 'v1=', separator: ',' },
    'with "v1=" before it, several separated by commas',
    'Revolut',
  ],
  [{ text: 't={timestamp},v1={signature}', prefix: 'v1=', separator: ',' }, 'in the list t=…,v1=…', 'Stripe'],
  [
    { text: 'ts={timestamp};h1={signature}', prefix: 'h1=', separator: ';' },
    'in the list ts=…;h1=…',
    'Paddle',
  ],
  [
    { text: 'v1,{signature}', prefix: 'v1,', separator: ' ' },
    'with "v1," before it, several separated by spaces',
    'Standard Webhooks',
  ],
  [{ text: 't={timestamp},s={signature}', prefix: 's=', separator: ',' }, 'in the list t=…,s=…', 'Billit'],
  [
    { text: 'timestamp={timestamp},signature={signature}', prefix: 'signature=', separator: ',' },
    'in the list timestamp=…,signature=…',
    'Buildkite',
  ],
];

/** How the timestamp is written. */
export type TimestampUnit = 'seconds' | 'milliseconds' | 'iso8601';

export const units: readonly Part<TimestampUnit>[] = [
  ['seconds', 'Unix seconds', 'Stripe'],
  ['milliseconds', 'Unix milliseconds', 'Airwallex'],
  ['iso8601', 'ISO 8601', 'Zendesk'],
];

/**
 * Whole schemes that services document and that two headers can carry: the likeliest ones. Content, algorithm,
 * encoding, key, header and unit, as the lists above write them.
 */
export const documentedSchemes: readonly { service: keyof typeof sources; parts: string }[] = [
  { service: 'Stripe', parts: '{timestamp}.{body} sha256 hex utf8 t={timestamp},v1={signature} seconds' },
  { service: 'Airwallex', parts: '{timestamp}{body} sha256 hex utf8 {signature} milliseconds' },
  { service: 'Cashfree', parts: '{timestamp}{body} sha256 base64 utf8 {signature} milliseconds' },
  { service: 'Close', parts: '{timestamp}{body} sha256 hex hex {signature} seconds' },
  { service: 'Revolut', parts: 'v1.{timestamp}.{body} sha256 hex utf8 v1={signature} milliseconds' },
  { service: 'Slack', parts: 'v0:{timestamp}:{body} sha256 hex utf8 v0={signature} seconds' },
  { service: 'Paddle', parts: '{timestamp}:{body} sha256 hex utf8 ts={timestamp};h1={signature} seconds' },
  { service: 'Zendesk', parts: '{timestamp}{body} sha256 base64 utf8 {signature} iso8601' },
  { service: 'Box', parts: '{body}{timestamp} sha256 base64 utf8 {signature} iso8601' },
  { service: 'PaySway', parts: '{timestamp}.{body} sha256 hex base64 t={timestamp},v1={signature} seconds' },
  { service: 'Standard Webhooks', parts: '{timestamp}.{body} sha256 base64 base64 v1,{signature} seconds' },
  { service: 'Xobni', parts: '{timestamp}.{body} sha256 hex utf8 {algorithm}={signature} seconds' },
  {
    service: 'Buildkite',
    parts: '{timestamp}.{body} sha256 hex utf8 timestamp={timestamp},signature={signature} seconds',
  },
  { service: 'Billit', parts: '{timestamp}.{body} sha256 hex utf8 t={timestamp},s={signature} seconds' },
  { service: 'GitHub', parts: '{body} sha256 hex utf8 {algorithm}={signature} seconds' },
  { service: 'Linear', parts: '{body} sha256 hex utf8 {signature} seconds' },
  { service: 'Shopify', parts: '{body} sha256 base64 utf8 {signature} seconds' },
  { service: 'Paystack', parts: '{body} sha512 hex utf8 {signature} seconds' },
];

/** Where the services document it. */
export const sources = {
  Stripe: 'https://docs.stripe.com/webhooks#verify-manually',
  Airwallex: 'https://www.airwallex.com/docs/developer-tools/webhooks/listen-for-webhook-events',
  Paddle: 'https://developer.paddle.com/webhooks/signature-verification',
  Slack: 'https://docs.slack.dev/authentication/verifying-requests-from-slack',
  Revolut:
    'https://developer.revolut.com/docs/guides/accept-payments/tutorials/work-with-webhooks/verify-the-payload-signature',
  Telnyx: 'https://developers.telnyx.com/docs/messaging/messages/receiving-webhooks',
  GitHub: 'https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries',
  Box: 'https://developer.box.com/guides/webhooks/v2/signatures-v2/',
  Paystack: 'https://paystack.com/docs/payments/webhooks/',
  'RFC 4231': 'https://www.rfc-editor.org/rfc/rfc4231',
  Shopify: 'https://shopify.dev/docs/apps/build/webhooks/subscribe/https',
  Merge: 'https://docs.merge.dev/basics/webhooks/merge-webhooks',
  'Standard Webhooks':
    'https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md',
  Adyen: 'https://docs.adyen.com/development-resources/webhooks/verify-hmac-signatures',
  Billit: 'https://docs.billit.be/reference/webhook',
  Buildkite: 'https://buildkite.com/docs/apis/webhooks/pipelines#webhook-signature',
  Zendesk: 'https://developer.zendesk.com/documentation/webhooks/verifying/',
  Square: 'https://developer.squareup.com/docs/webhooks/step3validate',
  HubSpot: 'https://developers.hubspot.com/docs/api/webhooks/validating-requests',
  UPayments: 'https://developers.upayments.com/reference/validating-incoming-webhook-signatures',
  'Alchemy Pay': 'https://alchemypay.readme.io/docs/webhook-signature',
  SMSPortal: 'https://docs.smsportal.com/docs/webhook-signatures',
  Cashfree: 'https://www.cashfree.com/docs/api-reference/webhooks/payloads-and-signatures',
  Close: 'https://developer.close.com/resources/webhook-subscriptions/',
  PaySway: 'https://docs.paysway.io/webhooks/verify-requests',
  Xobni: 'https://www.xobni.ai/docs/webhooks/security',
  Linear: 'https://linear.app/developers/webhooks',
};
