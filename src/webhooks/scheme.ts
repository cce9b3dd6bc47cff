import { invalidOptions, isOneOf, ownOptions, readFunction } from './own-options.js';

/** The argument of a scheme's custom `verify`. */
export interface SignedMessage {
  /** The body, exactly as received. */
  body: Uint8Array;
  /** The timestamp header, as received. */
  timestamp: string;
  /** What follows the prefix in the signature header. */
  signature: string;
  /** Another header of the delivery, by name in any letter case; `null` if it is missing. */
  header(name: string): string | null;
}

/**
 * How a delivery is signed. **The service does not document it, so the defaults are a guess**: HMAC-SHA256 over
 * `<timestamp>.<body>`, in hex. Set what differs in a real delivery; `merchant-payments identify` finds it.
 */
export interface SignatureScheme {
  /** Hash of the HMAC; default `sha256`. */
  algorithm: 'sha256' | 'sha384' | 'sha512';
  /** Encoding of the signature; default `hex`. Decoded strictly. */
  encoding: 'hex' | 'base64' | 'base64url';
  /** What precedes each signature, such as `v1=`; default none. */
  prefix: string;
  /** Separates several signatures in the header, one of which must match; default `undefined`: exactly one signature. */
  separator: ',' | ' ' | ';' | undefined;
  /** What is signed, with `{timestamp}` and `{body}` filled in; default `{timestamp}.{body}`. */
  content: string;
  /** Unit of the timestamp header; default `auto`: milliseconds from 1e11 on, seconds below. */
  timestamp: 'auto' | 'seconds' | 'milliseconds' | 'iso8601';
  /** How a secret that is a string becomes the key; default `utf8`. `base64` drops a leading `whsec_`. */
  secretEncoding: 'utf8' | 'base64' | 'hex';
  /** Default `x-service-signature`. */
  signatureHeader: string;
  /** Default `x-service-timestamp`. */
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

const absent = {
  algorithm: undefined,
  encoding: undefined,
  prefix: undefined,
  separator: undefined,
  content: undefined,
  timestamp: undefined,
  secretEncoding: undefined,
  signatureHeader: undefined,
  timestampHeader: undefined,
  verify: undefined,
};

const algorithms = ['sha256', 'sha384', 'sha512'] as const;
const encodings = ['hex', 'base64', 'base64url'] as const;
const separators = [',', ' ', ';'] as const;
const timestamps = ['auto', 'seconds', 'milliseconds', 'iso8601'] as const;
const secretEncodings = ['utf8', 'base64', 'hex'] as const;
const headerName = /^[\w!#$%&'*+.^`|~-]+$/;

const assumed = checkScheme({});

/** The default scheme with the given fields, or an error that names the invalid one. */
export function readScheme(given: unknown): Scheme {
  return given === undefined ? assumed : checkScheme(given);
}

function checkScheme(given: unknown): Scheme {
  const own = ownOptions(given, absent, 'scheme');
  const prefix = text(own, 'prefix', '');
  const separator = own.separator === undefined ? undefined : choice(own, 'separator', separators);
  if (separator !== undefined && prefix.includes(separator)) {
    throw invalidOptions('scheme.prefix contains scheme.separator, so the signatures cannot be separated.');
  }
  const signatureHeader = header(own, 'signatureHeader', 'x-service-signature');
  const timestampHeader = header(own, 'timestampHeader', 'x-service-timestamp');
  if (signatureHeader === timestampHeader) {
    throw invalidOptions('scheme.signatureHeader and scheme.timestampHeader name the same header.');
  }
  return {
    algorithm: choice(own, 'algorithm', algorithms),
    encoding: choice(own, 'encoding', encodings),
    prefix,
    separator,
    ...readContent(text(own, 'content', '{timestamp}.{body}')),
    timestamp: choice(own, 'timestamp', timestamps),
    secretEncoding: choice(own, 'secretEncoding', secretEncodings),
    signatureHeader,
    timestampHeader,
    verify: readFunction<[SignedMessage]>(own.verify, 'scheme.verify'),
  };
}

type Field = keyof typeof absent;
type Fields = Record<Field, unknown>;

/** A field with a fixed set of values, of which the first is the default. */
function choice<Value extends string>(
  own: Fields,
  field: Field,
  values: readonly [Value, ...Value[]],
): Value {
  const value = own[field];
  if (value === undefined) return values[0];
  if (isOneOf(value, values)) return value;
  throw invalidOptions(`scheme.${field} must be one of ${values.map((each) => `"${each}"`).join(', ')}.`);
}

function text(own: Fields, field: Field, otherwise: string): string {
  const value = own[field];
  if (value === undefined) return otherwise;
  if (typeof value === 'string') return value;
  throw invalidOptions(`scheme.${field} must be a string.`);
}

function header(own: Fields, field: Field, otherwise: string): string {
  const name = text(own, field, otherwise);
  if (headerName.test(name)) return name.toLowerCase();
  throw invalidOptions(`scheme.${field} must be the name of a header, such as "${otherwise}".`);
}

/** A template without the body, or with an unknown placeholder, would sign less than it shows. */
function readContent(content: string): Pick<Scheme, 'content' | 'before' | 'after'> {
  const [before, after, ...more] = content.split('{body}');
  if (before === undefined || after === undefined || more.length > 0) {
    throw invalidOptions('scheme.content must hold {body} exactly once.');
  }
  const cut = { before: before.split('{timestamp}'), after: after.split('{timestamp}') };
  if ([...cut.before, ...cut.after].some((part) => /[{}]/.test(part))) {
    throw invalidOptions('scheme.content may hold only the placeholders {timestamp} and {body}.');
  }
  return { content, ...cut };
}
