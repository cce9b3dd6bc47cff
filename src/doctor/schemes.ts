import type { SignatureScheme } from '../webhooks/index.js';
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

/** Every combination of the lists, the likeliest first. */
export function knownSchemes(): KnownScheme[] {
  const all: KnownScheme[] = [];
  for (const content of documented.content)
    for (const algorithm of documented.algorithm)
      for (const encoding of documented.encoding)
        for (const key of documented.key)
          for (const form of documented.form)
            for (const unit of documented.unit)
              all.push(schemeOf({ content, algorithm, encoding, key, form, unit }));
  return byLikelihood(all);
}

/** The default, then what services document, then what differs least. */
export function byLikelihood(schemes: readonly KnownScheme[]): KnownScheme[] {
  const rank = ({ like, distance }: KnownScheme) => (distance === 0 ? -1 : like ? 0 : distance);
  return [...schemes].sort((a, b) => rank(a) - rank(b));
}

const defaults = new Set<unknown>(Object.values(documented).map(([first]) => first));

export function schemeOf(parts: Parts): KnownScheme {
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
export const headerOf = ([text]: Parts['form'], [algorithm]: Parts['algorithm']): string =>
  text.replace('{algorithm}', algorithm);

/** The parts by which `verify()` reads the signature header. */
type HeaderParts = Pick<Parts, 'algorithm' | 'encoding' | 'form'>;

/** The option of `webhooks.verify()` for some parts: what differs from its default. */
export function optionsOf({ content, algorithm, encoding, key, form, unit }: HeaderParts & Partial<Parts>) {
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
