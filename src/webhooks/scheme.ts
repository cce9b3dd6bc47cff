import * as z from 'zod/mini';
import { functionSchema } from '../input/functions.js';
import { readWebhookOptions } from './options.js';

/** The argument of a scheme's custom `verify`. */
export interface SignedMessage {
  /** The body, exactly as received. */
  body: Uint8Array;
  /** The timestamp header, as received. */
  timestamp: string;
  /** The text after the prefix in the signature header. */
  signature: string;
  /** Another header of the delivery, by name in any letter case; `null` if it is missing. */
  header(name: string): string | null;
}

/**
 * The way in which deliveries are signed. **The service does not document it, so the defaults are a guess**: HMAC-SHA256
 * over `<timestamp>.<body>`, in hex. Set the fields that differ in a real delivery; `merchant-payments identify` finds them.
 */
export interface SignatureScheme {
  /** Hash of the HMAC; default `sha256`. */
  algorithm: 'sha256' | 'sha384' | 'sha512';
  /** Encoding of the signature; default `hex`. Decoded strictly. */
  encoding: 'hex' | 'base64' | 'base64url';
  /** Text before each signature, such as `v1=`; default none. */
  prefix: string;
  /** Separates several signatures in the header, one of which must match; default `undefined`: exactly one signature. */
  separator: ',' | ' ' | ';' | undefined;
  /** Template of the signed bytes, with the placeholders `{timestamp}` and `{body}`; default `{timestamp}.{body}`. */
  content: string;
  /** Unit of the timestamp header; default `auto`: milliseconds from 1e11 on, seconds below. */
  timestamp: 'auto' | 'seconds' | 'milliseconds' | 'iso8601';
  /** Encoding in which a secret string holds the key; default `utf8`. `base64` drops a leading `whsec_`. */
  secretEncoding: 'utf8' | 'base64' | 'hex';
  /** Name of the signature header; default `x-service-signature`. */
  signatureHeader: string;
  /** Name of the timestamp header; default `x-service-timestamp`. */
  timestampHeader: string;
  /**
   * Replaces only the MAC step, for asymmetric keys; no secret is needed then. Must be synchronous and return `true` to
   * accept; a promise is rejected.
   */
  verify?: ((message: SignedMessage) => boolean) | undefined;
}

/** A checked scheme: header names in lower case, the content cut at its placeholders. */
export interface Scheme extends Omit<SignatureScheme, 'verify'> {
  verify: ((message: SignedMessage) => unknown) | undefined;
  /** Text before and after `{body}`, each cut at `{timestamp}`. */
  before: readonly string[];
  after: readonly string[];
}

function headerName(usual: string) {
  const error = `must be the name of a header, such as "${usual}".`;
  const name = z.string(error).check(z.regex(/^[\w!#$%&'*+.^`|~-]+$/, error), z.toLowerCase());
  return z._default(name, usual);
}

const schemeFields = z.strictObject({
  algorithm: z._default(z.enum(['sha256', 'sha384', 'sha512']), 'sha256'),
  encoding: z._default(z.enum(['hex', 'base64', 'base64url']), 'hex'),
  prefix: z._default(z.string(), ''),
  separator: z.optional(z.enum([',', ' ', ';'])),
  content: z._default(z.string(), '{timestamp}.{body}'),
  timestamp: z._default(z.enum(['auto', 'seconds', 'milliseconds', 'iso8601']), 'auto'),
  secretEncoding: z._default(z.enum(['utf8', 'base64', 'hex']), 'utf8'),
  signatureHeader: headerName('x-service-signature'),
  timestampHeader: headerName('x-service-timestamp'),
  verify: z.optional(functionSchema<[SignedMessage]>()),
});

/** A scheme as a caller passes it: fields that differ from the default. */
export const schemeSchema = z.pipe(
  schemeFields,
  z.transform((scheme, { issues }): Scheme => {
    const refuse = (field: keyof SignatureScheme, message: string) =>
      issues.push({ code: 'custom', message, input: scheme, path: [field] });
    const { content, prefix, separator, signatureHeader, timestampHeader, verify } = scheme;
    if (separator !== undefined && prefix.includes(separator))
      refuse('prefix', 'contains scheme.separator, so the signatures cannot be separated.');
    if (signatureHeader === timestampHeader)
      refuse('signatureHeader', 'and scheme.timestampHeader name the same header.');
    const cut = cutContent(content);
    if (typeof cut === 'string') refuse('content', cut);
    const parts = typeof cut === 'string' ? { before: [], after: [] } : cut;
    return { ...scheme, separator, verify, ...parts };
  }),
);

/** The option `scheme`, or the default scheme. */
export const schemeOption = z._default(schemeSchema, z.parse(schemeSchema, {}));

const schemeAlone = z.strictObject({ scheme: schemeOption });

/** Returns the default scheme with the given fields, or throws an error that names the invalid one. */
export function readScheme(scheme: unknown): Scheme {
  return readWebhookOptions('SignatureScheme', schemeAlone, { scheme }).scheme;
}

/**
 * Returns the template cut at its placeholders, or the problem of the template. A template without the body, or with an
 * unknown placeholder, would sign less than it shows.
 */
function cutContent(content: string): Pick<Scheme, 'before' | 'after'> | string {
  const [before, after, ...more] = content.split('{body}');
  if (before === undefined || after === undefined || more.length > 0) {
    return 'must hold {body} exactly once.';
  }
  const cut = { before: before.split('{timestamp}'), after: after.split('{timestamp}') };
  if ([...cut.before, ...cut.after].some((part) => /[{}]/.test(part))) {
    return 'may hold only the placeholders {timestamp} and {body}.';
  }
  return cut;
}
