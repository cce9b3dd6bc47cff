import type { Outgoing } from '../sending/delivery.js';
import { type SignatureScheme, sign } from '../webhooks/index.js';
import { readScheme } from '../webhooks/scheme.js';
import { readKey } from '../webhooks/secret.js';
import { isSigned, readSignatures } from '../webhooks/signature.js';
import { documented, type Lists, type Parts, serviceOf, type TimestampUnit } from './documented-schemes.js';
import { type Signer, toOutgoing } from './signed.js';

export type KnownScheme = ReturnType<typeof schemeOf>;

export const knownSchemes = (): KnownScheme[] => byLikelihood(combinations(documented));

interface SignedDelivery {
  body: Uint8Array;
  signature: string;
  timestamp: string;
  /** `undefined` if the timestamp has no known format. */
  unit: TimestampUnit | undefined;
}

/** Signs a body with a scheme of the table. Returns `undefined` if the secret is no valid key for that scheme. */
export function signAs(known: KnownScheme, body: string, { secret, scheme }: Signer): Outgoing | undefined {
  const { signatureHeader, timestampHeader } = readScheme(scheme);
  const { separator: _, ...written } = known.scheme;
  // A prefix such as `whsec_` is not hex, so it is removed. Base64 keys are read without it anyway.
  const key = written.secretEncoding === 'hex' ? secret.replace(/^[a-z]{2,10}_/i, '') : secret;
  try {
    const own = sign({
      rawBody: body,
      secret: key,
      scheme: { ...written, prefix: '', signatureHeader, timestampHeader, timestamp: known.unit },
    });
    const timestamp = own[timestampHeader] ?? '';
    const signature = known.header
      .replace('{timestamp}', timestamp)
      .replace('{signature}', own[signatureHeader] ?? '');
    return toOutgoing(body, { [signatureHeader]: signature, [timestampHeader]: timestamp });
  } catch {
    return undefined;
  }
}

/** Returns the schemes that produce a signature, the likeliest first. The signature is read as `verify()` reads it, so `verify()` accepts them. */
export function matchingSchemes(
  lists: Lists,
  { body, signature, timestamp, unit = 'seconds' }: SignedDelivery,
  secret: string,
): KnownScheme[] {
  /** True if one of the secrets produces the signature; `undefined` if the header has another form, or a secret is no valid key. */
  const isMadeBy = (secrets: readonly string[], parts: Parts): boolean | undefined => {
    try {
      const scheme = readScheme(optionsOf(parts));
      const keys = secrets.map((each) => readKey(each, scheme));
      return isSigned(keys, readSignatures(signature, scheme), timestamp, body, scheme);
    } catch {
      return undefined;
    }
  };
  const written = { ...lists, unit: [unit], form: lists.form.filter(([form]) => hasForm(signature, form)) };
  // The form of the header is checked first, which leaves few MACs to compute.
  const readable = combinations({ ...written, key: ['utf8'], content: ['{body}'] });
  const found = readable
    .filter((parts) => isMadeBy([], parts) !== undefined)
    .flatMap(({ algorithm, encoding, form }) =>
      combinations({ ...written, algorithm: [algorithm], encoding: [encoding], form: [form] }),
    )
    .filter((parts) => isMadeBy([secret], parts));
  return byLikelihood(found);
}

/** True if a header may have been written by a template: both contain a timestamp, or neither does. */
const hasForm = (header: string, template: string): boolean =>
  /(?:^|[,;])(?:t|ts|timestamp)=/.test(header) === template.includes('{timestamp}');

function combinations(lists: Lists): Parts[] {
  const all: Parts[] = [];
  for (const unit of lists.unit)
    for (const form of lists.form)
      for (const algorithm of lists.algorithm)
        for (const encoding of lists.encoding)
          for (const key of lists.key)
            for (const content of lists.content) all.push({ content, algorithm, encoding, key, form, unit });
  return all;
}

/** Sorts the default scheme first, then documented schemes, then the others by their distance from the default. */
function byLikelihood(combined: readonly Parts[]): KnownScheme[] {
  const rank = ({ like, distance }: KnownScheme) => (distance === 0 ? -1 : like ? 0 : distance);
  return combined.map(schemeOf).sort((a, b) => rank(a) - rank(b));
}

function schemeOf(parts: Parts) {
  const { content, algorithm, encoding, key, unit } = parts;
  const header = headerOf(parts);
  const held =
    header === '{signature}' ? 'the header holds only the signature' : `signature header ${header}`;
  return {
    name:
      `HMAC-${algorithm.toUpperCase()} of ${content === '{body}' ? 'the body alone' : content}, in ${encoding}, ` +
      `keyed with the secret ${key === 'utf8' ? 'as text' : `decoded from ${key}`}; ` +
      `${held}; timestamp in ${unit === 'iso8601' ? 'ISO 8601' : `Unix ${unit}`}`,
    like: serviceOf(parts),
    scheme: optionsOf(parts),
    /** The signature header, with `{timestamp}` and `{signature}` to be filled in. */
    header,
    unit,
    /** Number of parts that differ from the default scheme. */
    distance: partNames.filter((name) => parts[name] !== documented[name][0]).length,
  };
}

const partNames = ['content', 'algorithm', 'encoding', 'key', 'form', 'unit'] as const;

const headerOf = ({ form, algorithm }: Parts): string => form[0].replace('{algorithm}', algorithm);

/** Returns the `scheme` option of `webhooks.verify()` for some parts: the fields that differ from the default. */
function optionsOf(parts: Parts): Partial<SignatureScheme> {
  const { content, algorithm, encoding, key, form, unit } = parts;
  const prefix = headerOf(parts).replace(/^\w+=\{timestamp\}[,;]|\{signature\}$/g, '');
  const [, separator] = form;
  return {
    ...(content !== documented.content[0] && { content }),
    ...(algorithm !== documented.algorithm[0] && { algorithm }),
    ...(encoding !== documented.encoding[0] && { encoding }),
    ...(key !== documented.key[0] && { secretEncoding: key }),
    ...(prefix !== '' && { prefix }),
    ...(separator !== undefined && { separator }),
    ...(unit === 'iso8601' && { timestamp: unit }),
  };
}
