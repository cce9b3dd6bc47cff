// Parts of the signature schemes that services document. The first row of each list belongs to the default scheme.
import type { SignatureScheme } from '../webhooks/index.js';

export type TimestampUnit = 'seconds' | 'milliseconds' | 'iso8601';

export interface Parts {
  content: string;
  algorithm: SignatureScheme['algorithm'];
  encoding: SignatureScheme['encoding'];
  key: SignatureScheme['secretEncoding'];
  /** The signature header, and the separator if the header may hold several signatures. */
  form: readonly [header: string, separator?: SignatureScheme['separator']];
  unit: TimestampUnit;
}

export type Lists = { readonly [Name in keyof Parts]: readonly Parts[Name][] };

export const documented: Lists = {
  content: [
    '{timestamp}.{body}',
    '{timestamp}{body}',
    '{timestamp}:{body}',
    'v0:{timestamp}:{body}',
    'v1.{timestamp}.{body}',
    '{timestamp}|{body}',
    '{body}',
    '{body}{timestamp}',
  ],
  algorithm: ['sha256', 'sha512', 'sha384'],
  encoding: ['hex', 'base64', 'base64url'],
  key: ['utf8', 'base64', 'hex'],
  form: [
    ['{signature}'],
    ['{algorithm}={signature}'],
    ['v0={signature}'],
    ['v1={signature}', ','],
    ['t={timestamp},v1={signature}', ','],
    ['ts={timestamp};h1={signature}', ';'],
    ['v1,{signature}', ' '],
    ['t={timestamp},s={signature}', ','],
    ['timestamp={timestamp},signature={signature}', ','],
  ],
  unit: ['seconds', 'milliseconds', 'iso8601'],
};

/** Returns the documented lists, extended by contents with the webhook's URL and by an undocumented prefix, if they are given. */
export function listsFor({ url, prefix }: { url?: string | undefined; prefix?: string | undefined }): Lists {
  const { content, form } = documented;
  return {
    ...documented,
    content: url === undefined ? content : [...content, ...contentsWithUrl(url)],
    form: prefix === undefined ? form : [...form, [`${prefix}{signature}`]],
  };
}

/** Returns the contents that Square, HubSpot, UPayments, Alchemy Pay and SMSPortal sign: they include the webhook's URL. */
function contentsWithUrl(url: string): readonly string[] {
  const path = URL.canParse(url) ? new URL(url).pathname : '/';
  return [
    `${url}{body}`,
    `POST${url}{body}{timestamp}`,
    `{timestamp}POST${url}{body}`,
    `{timestamp}POST${path}{body}`,
    `v1:{timestamp}|POST|${url}|{body}`,
  ];
}

/** The likeliest schemes: services document them, and two headers can carry them. Each key joins one value from each list above. */
const documentedSchemes: Readonly<Record<string, keyof typeof sources>> = {
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

const sources = {
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

/** Returns the service that documents exactly these parts, and its page; `undefined` if none is known. */
export function serviceOf({ content, algorithm, encoding, key, form, unit }: Parts) {
  const service = documentedSchemes[[content, algorithm, encoding, key, form[0], unit].join(' ')];
  return service && { service, source: sources[service] };
}
