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
  const found: Parts[] = [];
  for (const unit of lists.unit.filter(([value]) => value === written))
    for (const form of lists.form)
      for (const algorithm of lists.algorithm)
        for (const encoding of hasForm(signature, headerOf(form, algorithm)) ? lists.encoding : []) {
          const digests = digestsIn(signature, readScheme(optionsOf({ algorithm, encoding, form })));
          if (digests.length === 0) continue;
          for (const key of lists.key)
            for (const content of lists.content) {
              const parts = { content, algorithm, encoding, key, form, unit };
              const scheme = readScheme(optionsOf(parts));
              const [mac] = attempt(() => [macOf(readKey(secret, scheme), timestamp, body, scheme)]);
              if (mac && digests.some((digest) => timingSafeEqual(digest, mac))) found.push(parts);
            }
        }
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

const digestsIn = (header: string, scheme: Scheme): Uint8Array[] =>
  attempt(() => readSignatures(header, scheme)).flatMap((text) =>
    attempt(() => [decodeSignature(text, scheme)]),
  );

/** What a reader returns; nothing if it throws. */
function attempt<Value>(read: () => Value[]): Value[] {
  try {
    return read();
  } catch {
    return [];
  }
}

function combinations(lists: Lists): Parts[] {
  const all: Parts[] = [];
  for (const content of lists.content)
    for (const algorithm of lists.algorithm)
      for (const encoding of lists.encoding)
        for (const key of lists.key)
          for (const form of lists.form)
            for (const unit of lists.unit) all.push({ content, algorithm, encoding, key, form, unit });
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
    header: headerOf(form, algorithm),
    unit: unit[0],
    distance: Object.values(parts).filter((part) => !defaults.has(part)).length,
  };
}

/** The signature header as a template. */
const headerOf = ([text]: Parts['form'], [algorithm]: Parts['algorithm']): string =>
  text.replace('{algorithm}', algorithm);

/** The parts by which `verify()` reads the signature header. */
type HeaderParts = Pick<Parts, 'algorithm' | 'encoding' | 'form'>;

/** The option of `webhooks.verify()` for some parts: what differs from its default. */
function optionsOf({ content, algorithm, encoding, key, form, unit }: HeaderParts & Partial<Parts>) {
  const prefix = headerOf(form, algorithm).replace(/^\w+=\{timestamp\}[,;]|\{signature\}$/g, '');
  const [, , separator] = form;
  const scheme: Partial<SignatureScheme> = {
    ...(content && content !== documented.content[0] && { content: content[0] }),
    ...(algorithm !== documented.algorithm[0] && { algorithm: algorithm[0] }),
    ...(encoding !== documented.encoding[0] && { encoding: encoding[0] }),
    ...(key && key !== documented.key[0] && { secretEncoding: key[0] }),
    ...(prefix !== '' && { prefix }),
    ...(separator !== undefined && { separator }),
    ...(unit?.[0] === 'iso8601' && { timestamp: unit[0] }),
  };
  return scheme;
}
