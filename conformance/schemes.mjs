// Signature schemes of services. `content` is what is signed; a header's parts are joined by commas.

/** The scheme of cases.json. */
export const merchantPayments = {
  content: '{timestamp}.{body}',
  encoding: 'hex',
  headers: { 'x-service-signature': ['{signature}'], 'x-service-timestamp': ['{timestamp}'] },
};

export const schemes = {
  default: merchantPayments,
  // https://docs.stripe.com/webhooks/signature
  stripe: {
    content: '{timestamp}.{body}',
    encoding: 'hex',
    headers: { 'stripe-signature': ['t={timestamp}', 'v1={signature}'] },
    lists: true,
    freshness: 'past',
  },
  // https://github.com/standard-webhooks/standard-webhooks
  'standard-webhooks': {
    content: 'msg_conformance.{timestamp}.{body}',
    encoding: 'base64',
    secretPrefix: 'whsec_',
    lists: true,
    headers: {
      'webhook-id': ['msg_conformance'],
      'webhook-timestamp': ['{timestamp}'],
      'webhook-signature': ['v1,{signature}'],
    },
  },
  // https://docs.github.com/webhooks/using-webhooks/validating-webhook-deliveries
  github: {
    content: '{body}',
    encoding: 'hex',
    headers: { 'x-hub-signature-256': ['sha256={signature}'] },
  },
};

/** Returns the reason why a case says nothing about a scheme, or `undefined` if it does. */
export function inapplicable(one, scheme) {
  if (!one.recipe) return 'it is about an option of the default scheme';
  if (scheme === merchantPayments) return undefined;
  const { repeated, content, signature = '', timestamp = '', offsetSeconds } = one.recipe;
  const parts = Object.values(scheme.headers).flat().join();
  if (one.kind === 'payload') return 'the shape of events is each service’s own';
  if (repeated) return 'what becomes of a repeated header is decided before the verifier sees it';
  if (signature.includes(',') && scheme.lists) return 'the service lists signatures in one header';
  if (signature.includes('{upper}')) return 'the service documents lower case';
  if (/\{(?:half|start|rest|base64)\}|\{mac\}00|00\{mac\}/.test(signature) && scheme.encoding !== 'hex') {
    return 'it is about hex digits';
  }
  if (!parts.includes('{timestamp}')) {
    if (one.group === 'timestamp') return 'the scheme has no timestamp';
    if (content) return 'the scheme signs the body alone';
  }
  if (timestamp.includes('{milliseconds}')) return 'the service documents seconds';
  if (scheme.freshness === 'past' && offsetSeconds > 300) {
    return 'the service documents no limit for timestamps in the future';
  }
  return undefined;
}

/** Returns the reason why a case says nothing with the real clock, or `undefined` if it does. */
export function tooNear(one) {
  const offset = Math.abs(one.recipe?.offsetSeconds ?? 0);
  return offset > 240 && offset < 360 ? 'it is about one second, which may pass on the way' : undefined;
}
