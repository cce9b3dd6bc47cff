// How services that document their webhooks sign them. The first of each list is the default's.
import type { SignatureScheme } from '../webhooks/index.js';

/** One value of one part of a scheme, a service that documents it, and where. */
export interface Part<Value> {
  value: Value;
  /** For people: completes "HMAC-SHA256 of …, in …, keyed with …". */
  says: string;
  service: string;
  source: string;
}

/** What is signed. */
export const contents: readonly Part<string>[] = [
  {
    value: '{timestamp}.{body}',
    says: 'timestamp, dot, body',
    service: 'Stripe',
    source: 'https://docs.stripe.com/webhooks#verify-manually',
  },
  {
    value: '{timestamp}{body}',
    says: 'timestamp and body, nothing between',
    service: 'Airwallex',
    source: 'https://www.airwallex.com/docs/developer-tools/webhooks/listen-for-webhook-events',
  },
  {
    value: '{timestamp}:{body}',
    says: 'timestamp, colon, body',
    service: 'Paddle',
    source: 'https://developer.paddle.com/webhooks/signature-verification',
  },
  {
    value: 'v0:{timestamp}:{body}',
    says: '"v0", timestamp and body with colons between',
    service: 'Slack',
    source: 'https://docs.slack.dev/authentication/verifying-requests-from-slack',
  },
  {
    value: 'v1.{timestamp}.{body}',
    says: '"v1", timestamp and body with dots between',
    service: 'Revolut',
    source:
      'https://developer.revolut.com/docs/guides/accept-payments/tutorials/work-with-webhooks/verify-the-payload-signature',
  },
  {
    value: '{timestamp}|{body}',
    says: 'timestamp, bar, body',
    service: 'Telnyx',
    source: 'https://developers.telnyx.com/docs/messaging/messages/receiving-webhooks',
  },
  {
    value: '{body}',
    says: 'the body alone',
    service: 'GitHub',
    source: 'https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries',
  },
  {
    value: '{body}{timestamp}',
    says: 'body, then timestamp',
    service: 'Box',
    source: 'https://developer.box.com/guides/webhooks/v2/signatures-v2/',
  },
];

export const algorithms: readonly Part<SignatureScheme['algorithm']>[] = [
  {
    value: 'sha256',
    says: 'HMAC-SHA256',
    service: 'Stripe',
    source: 'https://docs.stripe.com/webhooks#verify-manually',
  },
  {
    value: 'sha512',
    says: 'HMAC-SHA512',
    service: 'Paystack',
    source: 'https://paystack.com/docs/payments/webhooks/',
  },
  {
    value: 'sha384',
    says: 'HMAC-SHA384',
    service: 'RFC 4231',
    source: 'https://www.rfc-editor.org/rfc/rfc4231',
  },
];

export const encodings: readonly Part<SignatureScheme['encoding']>[] = [
  {
    value: 'hex',
    says: 'hex',
    service: 'GitHub',
    source: 'https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries',
  },
  {
    value: 'base64',
    says: 'base64',
    service: 'Shopify',
    source: 'https://shopify.dev/docs/apps/build/webhooks/subscribe/https',
  },
  {
    value: 'base64url',
    says: 'base64url',
    service: 'Merge',
    source: 'https://docs.merge.dev/basics/webhooks/merge-webhooks',
  },
];

export const keys: readonly Part<SignatureScheme['secretEncoding']>[] = [
  {
    value: 'utf8',
    says: 'the secret as text',
    service: 'Stripe',
    source: 'https://docs.stripe.com/webhooks#verify-manually',
  },
  {
    value: 'base64',
    says: 'the secret decoded from base64',
    service: 'Standard Webhooks',
    source: 'https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md',
  },
  {
    value: 'hex',
    says: 'the secret decoded from hex',
    service: 'Adyen',
    source: 'https://docs.adyen.com/development-resources/webhooks/verify-hmac-signatures',
  },
];

/** How the signature stands in its header, and the options by which `verify()` reads that. */
export interface HeaderForm {
  text: string;
  prefix: string;
  separator?: SignatureScheme['separator'];
}

export const headerForms: readonly Part<HeaderForm>[] = [
  {
    value: { text: '{signature}', prefix: '' },
    says: 'alone in its header',
    service: 'Shopify',
    source: 'https://shopify.dev/docs/apps/build/webhooks/subscribe/https',
  },
  {
    value: { text: '{algorithm}={signature}', prefix: '{algorithm}=' },
    says: 'with the algorithm before it',
    service: 'GitHub',
    source: 'https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries',
  },
  {
    value: { text: 'v0={signature}', prefix: 'v0=' },
    says: 'with "v0=" before it',
    service: 'Slack',
    source: 'https://docs.slack.dev/authentication/verifying-requests-from-slack',
  },
  {
    value: { text: 'v1={signature}', prefix: 'v1=', separator: ',' },
    says: 'with "v1=" before it, several separated by commas',
    service: 'Revolut',
    source:
      'https://developer.revolut.com/docs/guides/accept-payments/tutorials/work-with-webhooks/verify-the-payload-signature',
  },
  {
    value: { text: 't={timestamp},v1={signature}', prefix: 'v1=', separator: ',' },
    says: 'in the list t=…,v1=…',
    service: 'Stripe',
    source: 'https://docs.stripe.com/webhooks#verify-manually',
  },
  {
    value: { text: 'ts={timestamp};h1={signature}', prefix: 'h1=', separator: ';' },
    says: 'in the list ts=…;h1=…',
    service: 'Paddle',
    source: 'https://developer.paddle.com/webhooks/signature-verification',
  },
  {
    value: { text: 'v1,{signature}', prefix: 'v1,', separator: ' ' },
    says: 'with "v1," before it, several separated by spaces',
    service: 'Standard Webhooks',
    source: 'https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md',
  },
  {
    value: { text: 't={timestamp},s={signature}', prefix: 's=', separator: ',' },
    says: 'in the list t=…,s=…',
    service: 'Billit',
    source: 'https://docs.billit.be/reference/webhook',
  },
  {
    value: { text: 'timestamp={timestamp},signature={signature}', prefix: 'signature=', separator: ',' },
    says: 'in the list timestamp=…,signature=…',
    service: 'Buildkite',
    source: 'https://buildkite.com/docs/apis/webhooks/pipelines#webhook-signature',
  },
];

/** How the timestamp is written. */
export type TimestampUnit = 'seconds' | 'milliseconds' | 'iso8601';

export const units: readonly Part<TimestampUnit>[] = [
  {
    value: 'seconds',
    says: 'Unix seconds',
    service: 'Stripe',
    source: 'https://docs.stripe.com/webhooks#verify-manually',
  },
  {
    value: 'milliseconds',
    says: 'Unix milliseconds',
    service: 'Airwallex',
    source: 'https://www.airwallex.com/docs/developer-tools/webhooks/listen-for-webhook-events',
  },
  {
    value: 'iso8601',
    says: 'ISO 8601',
    service: 'Zendesk',
    source: 'https://developer.zendesk.com/documentation/webhooks/verifying/',
  },
];

/**
 * Whole schemes that services document and that two headers can carry: the likeliest ones. Content, algorithm,
 * encoding, key, header form and unit, as the lists above write them.
 */
export const documentedSchemes: readonly { service: string; parts: string; source: string }[] = [
  {
    service: 'Stripe',
    parts: '{timestamp}.{body} sha256 hex utf8 t={timestamp},v1={signature} seconds',
    source: 'https://docs.stripe.com/webhooks#verify-manually',
  },
  {
    service: 'Airwallex',
    parts: '{timestamp}{body} sha256 hex utf8 {signature} milliseconds',
    source: 'https://www.airwallex.com/docs/developer-tools/webhooks/listen-for-webhook-events',
  },
  {
    service: 'Cashfree',
    parts: '{timestamp}{body} sha256 base64 utf8 {signature} milliseconds',
    source: 'https://www.cashfree.com/docs/api-reference/webhooks/payloads-and-signatures',
  },
  {
    service: 'Close',
    parts: '{timestamp}{body} sha256 hex hex {signature} seconds',
    source: 'https://developer.close.com/resources/webhook-subscriptions/',
  },
  {
    service: 'Revolut',
    parts: 'v1.{timestamp}.{body} sha256 hex utf8 v1={signature} milliseconds',
    source:
      'https://developer.revolut.com/docs/guides/accept-payments/tutorials/work-with-webhooks/verify-the-payload-signature',
  },
  {
    service: 'Slack',
    parts: 'v0:{timestamp}:{body} sha256 hex utf8 v0={signature} seconds',
    source: 'https://docs.slack.dev/authentication/verifying-requests-from-slack',
  },
  {
    service: 'Paddle',
    parts: '{timestamp}:{body} sha256 hex utf8 ts={timestamp};h1={signature} seconds',
    source: 'https://developer.paddle.com/webhooks/signature-verification',
  },
  {
    service: 'Zendesk',
    parts: '{timestamp}{body} sha256 base64 utf8 {signature} iso8601',
    source: 'https://developer.zendesk.com/documentation/webhooks/verifying/',
  },
  {
    service: 'Box',
    parts: '{body}{timestamp} sha256 base64 utf8 {signature} iso8601',
    source: 'https://developer.box.com/guides/webhooks/v2/signatures-v2/',
  },
  {
    service: 'PaySway',
    parts: '{timestamp}.{body} sha256 hex base64 t={timestamp},v1={signature} seconds',
    source: 'https://docs.paysway.io/webhooks/verify-requests',
  },
  {
    service: 'Standard Webhooks, without its id',
    parts: '{timestamp}.{body} sha256 base64 base64 v1,{signature} seconds',
    source: 'https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md',
  },
  {
    service: 'Xobni',
    parts: '{timestamp}.{body} sha256 hex utf8 {algorithm}={signature} seconds',
    source: 'https://www.xobni.ai/docs/webhooks/security',
  },
  {
    service: 'Buildkite',
    parts: '{timestamp}.{body} sha256 hex utf8 timestamp={timestamp},signature={signature} seconds',
    source: 'https://buildkite.com/docs/apis/webhooks/pipelines#webhook-signature',
  },
  {
    service: 'Billit',
    parts: '{timestamp}.{body} sha256 hex utf8 t={timestamp},s={signature} seconds',
    source: 'https://docs.billit.be/reference/webhook',
  },
  {
    service: 'GitHub',
    parts: '{body} sha256 hex utf8 {algorithm}={signature} seconds',
    source: 'https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries',
  },
  {
    service: 'Linear',
    parts: '{body} sha256 hex utf8 {signature} seconds',
    source: 'https://linear.app/developers/webhooks',
  },
  {
    service: 'Shopify',
    parts: '{body} sha256 base64 utf8 {signature} seconds',
    source: 'https://shopify.dev/docs/apps/build/webhooks/subscribe/https',
  },
  {
    service: 'Paystack',
    parts: '{body} sha512 hex utf8 {signature} seconds',
    source: 'https://paystack.com/docs/payments/webhooks/',
  },
];

/** Signed text that holds the address of the webhook too. */
export function contentsWithUrl(url: string): readonly Part<string>[] {
  const path = URL.canParse(url) ? new URL(url).pathname : '/';
  return [
    {
      value: `${url}{body}`,
      says: 'URL, body',
      service: 'Square',
      source: 'https://developer.squareup.com/docs/webhooks/step3validate',
    },
    {
      value: `POST${url}{body}{timestamp}`,
      says: 'method, URL, body, timestamp',
      service: 'HubSpot',
      source: 'https://developers.hubspot.com/docs/api/webhooks/validating-requests',
    },
    {
      value: `{timestamp}POST${url}{body}`,
      says: 'timestamp, method, URL, body',
      service: 'UPayments',
      source: 'https://developers.upayments.com/reference/validating-incoming-webhook-signatures',
    },
    {
      value: `{timestamp}POST${path}{body}`,
      says: 'timestamp, method, path, body',
      service: 'Alchemy Pay',
      source: 'https://alchemypay.readme.io/docs/webhook-signature',
    },
    {
      value: `v1:{timestamp}|POST|${url}|{body}`,
      says: '"v1:", timestamp, method, URL and body with bars between',
      service: 'SMSPortal',
      source: 'https://docs.smsportal.com/docs/webhook-signatures',
    },
  ];
}
