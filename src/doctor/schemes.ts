import { timingSafeEqual } from 'node:crypto';
import type { SignatureScheme } from '../webhooks/index.js';
import { readScheme, type Scheme } from '../webhooks/scheme.js';
import { readKey } from '../webhooks/secret.js';
import { decodeSignature, macOf, readSignatures } from '../webhooks/signature.js';
import {
  contentsWithUrl,
  documented,
  documentedSchemes,
  type Lists,
  type Parts,
  sources,
  type TimestampUnit,
} from './documented-schemes.js';

/** One way to sign a delivery. */
export interface KnownScheme {
  /** In words. */
  readonly name: string;
  /** A service that documents just this, where one is known. */
  readonly like: { service: string; source: string } | undefined;
  /** The option of `webhooks.verify()`: what differs from its default. */
  readonly scheme: Partial<SignatureScheme>;
  /** The signature header, with `{timestamp}` and `{signature}` to be filled in. */
  readonly header: string;
  readonly unit: TimestampUnit;
  /** How many parts differ from the default scheme. */
  readonly distance: number;
}

/**
 * The documented lists. With the URL of the webhook, also the contents that include it; with a prefix of the signature
 * header that no service here uses, also that one.
 */
export function listsFor({ url, prefix }: { url?: string | undefined; prefix?: string | undefined }): Lists {
  const contents = url === undefined ? [] : contentsWithUrl(url);
  const forms: Lists['form'] =
    prefix === undefined ? [] : [[`${prefix}{signature}`, `with "${prefix}" before it`]];
  const { content, form } = documented;
  return { ...documented, content: [...content, ...contents], form: [...form, ...forms] };
}

/** Every combination of the documented lists, the likeliest first. */
export const knownSchemes = (): KnownScheme[] => byLikelihood(combinations(documented));

/** What was signed, and the signature. */
export interface SignedDelivery {
  body: Uint8Array;
  /** The values of the two headers. */
  signature: string;
  timestamp: string;
  /** `undefined` if the timestamp has no known format. */
  unit: TimestampUnit | undefined;
}

/**
 * The schemes that make the signature of a delivery, the likeliest first; of several with the same option, one.
 * Header, key and MAC are read by the very functions of `verify()`, so that it accepts what is found here.
 */
export function matchingSchemes(
  lists: Lists,
  { body, signature, timestamp, unit: written = 'seconds' }: SignedDelivery,
  secret: string,
): KnownScheme[] {
  // Which header it can be is asked first: that leaves few MACs to make.
  const isRead = (parts: HeaderParts) =>
    parts.unit[0] === written &&
    hasForm(signature, headerOf(parts)) &&
    holds(parts, (scheme) => digestsIn(scheme).length > 0);
  const digestsIn = (scheme: Scheme) =>
    readSignatures(signature, scheme).map((text) => decodeSignature(text, scheme));
  const found = combinations(lists, isRead).filter((parts) =>
    holds(parts, (scheme) => {
      const mac = macOf(readKey(secret, scheme), timestamp, body, scheme);
      return digestsIn(scheme).some((digest) => timingSafeEqual(digest, mac));
    }),
  );
  const options = new Set<string>();
  return byLikelihood(found).filter(({ scheme }) => {
    const option = JSON.stringify(scheme);
    return !options.has(option) && options.add(option);
  });
}

/** Whether a header may be written by a template: both list a timestamp, or it begins as the template does. */
const hasForm = (header: string, template: string): boolean =>
  /(?:^|[,;])(?:t|ts|timestamp)=/.test(header)
    ? template.includes('{timestamp}')
    : !template.includes('{timestamp}') && header.startsWith(template.slice(0, template.indexOf('{')));

/** Whether something is so by a scheme, and nothing that is read by it is malformed. */
function holds(parts: HeaderParts, isSo: (scheme: Scheme) => boolean): boolean {
  try {
    return isSo(readScheme(optionsOf(parts)));
  } catch {
    return false;
  }
}

function combinations(lists: Lists, isPossible: (parts: HeaderParts) => boolean = () => true): Parts[] {
  const all: Parts[] = [];
  for (const unit of lists.unit)
    for (const form of lists.form)
      for (const algorithm of lists.algorithm)
        for (const encoding of lists.encoding)
          if (isPossible({ algorithm, encoding, form, unit }))
            for (const key of lists.key)
              for (const content of lists.content)
                all.push({ content, algorithm, encoding, key, form, unit });
  return all;
}

/** The default, then what services document, then what differs least. */
function byLikelihood(combined: readonly Parts[]): KnownScheme[] {
  const rank = ({ like, distance }: KnownScheme) => (distance === 0 ? -1 : like ? 0 : distance);
  return combined.map(schemeOf).sort((a, b) => rank(a) - rank(b));
}

const defaults = new Set<unknown>(Object.values(documented).map(([first]) => first));

function schemeOf(parts: Parts): KnownScheme {
  const { content, algorithm, encoding, key, form, unit } = parts;
  const written = [content[0], algorithm[0], encoding[0], key[0], form[0], unit[0]].join(' ');
  const service = documentedSchemes[written];
  return {
    name:
      `${algorithm[1]} of ${content[1]}, in ${encoding[1]}, keyed with ${key[1]}; ` +
      `signature ${form[1]}; timestamp in ${unit[1]}`,
    like: service && { service, source: sources[service] },
    scheme: optionsOf(parts),
    header: headerOf(parts),
    unit: unit[0],
    distance: Object.values(parts).filter((part) => !defaults.has(part)).length,
  };
}

/** The parts by which `verify()` reads the two headers. */
type HeaderParts = Omit<Parts, 'content' | 'key'> & Partial<Parts>;

/** The signature header as a template. */
const headerOf = ({ form, algorithm }: HeaderParts): string => form[0].replace('{algorithm}', algorithm[0]);

/** The option of `webhooks.verify()` for some parts: what differs from its default. */
function optionsOf(parts: HeaderParts): Partial<SignatureScheme> {
  const { content, algorithm, encoding, key, form, unit } = parts;
  const prefix = headerOf(parts).replace(/^\w+=\{timestamp\}[,;]|\{signature\}$/g, '');
  const [, , separator] = form;
  return {
    ...(content && content !== documented.content[0] && { content: content[0] }),
    ...(algorithm !== documented.algorithm[0] && { algorithm: algorithm[0] }),
    ...(encoding !== documented.encoding[0] && { encoding: encoding[0] }),
    ...(key && key !== documented.key[0] && { secretEncoding: key[0] }),
    ...(prefix !== '' && { prefix }),
    ...(separator !== undefined && { separator }),
    ...(unit[0] === 'iso8601' && { timestamp: unit[0] }),
  };
}
