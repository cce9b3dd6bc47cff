import type { SignatureScheme } from '../webhooks/index.js';
import {
  algorithms,
  contents,
  contentsWithUrl,
  documentedSchemes,
  encodings,
  type HeaderForm,
  headerForms,
  keys,
  type Part,
  sources,
  type TimestampUnit,
  units,
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

/** One choice from every list. */
export interface Parts {
  content: Part<string>;
  algorithm: Part<SignatureScheme['algorithm']>;
  encoding: Part<SignatureScheme['encoding']>;
  key: Part<SignatureScheme['secretEncoding']>;
  form: Part<HeaderForm>;
  unit: Part<TimestampUnit>;
}

/** The lists whose combinations are the known schemes. */
export type Lists = { readonly [Name in keyof Parts]: readonly Parts[Name][] };

/**
 * The documented lists. With the URL of the webhook, also the contents that include it; with a prefix of the signature
 * header that no service here uses, also that one.
 */
export function listsFor({ url, prefix }: { url?: string | undefined; prefix?: string | undefined }): Lists {
  const own: Part<HeaderForm>[] =
    prefix === undefined
      ? []
      : [[{ text: `${prefix}{signature}`, prefix }, `with "${prefix}" before it`, 'the captured header']];
  return {
    content: url === undefined ? contents : [...contents, ...contentsWithUrl(url)],
    algorithm: algorithms,
    encoding: encodings,
    key: keys,
    form: [...headerForms, ...own],
    unit: units,
  };
}

/** How many schemes the lists make. */
export const countOf = (lists: Lists): number =>
  Object.values(lists).reduce((product, list) => product * list.length, 1);

/** Every combination of the lists, the likeliest first. */
export function knownSchemes(lists = listsFor({})): KnownScheme[] {
  const all: KnownScheme[] = [];
  for (const content of lists.content)
    for (const algorithm of lists.algorithm)
      for (const encoding of lists.encoding)
        for (const key of lists.key)
          for (const form of lists.form)
            for (const unit of lists.unit)
              all.push(schemeOf({ content, algorithm, encoding, key, form, unit }));
  return byLikelihood(all);
}

/** The default, then what services document, then what differs least. */
export function byLikelihood(schemes: readonly KnownScheme[]): KnownScheme[] {
  const rank = ({ like, distance }: KnownScheme) => (distance === 0 ? -1 : like ? 0 : distance);
  return [...schemes].sort((a, b) => rank(a) - rank(b));
}

const documented = new Map(documentedSchemes.map(({ service, parts }) => [parts, service]));

export function schemeOf(parts: Parts): KnownScheme {
  const { content, algorithm, encoding, key, form, unit } = parts;
  const service = documented.get(
    [content[0], algorithm[0], encoding[0], key[0], form[0].text, unit[0]].join(' '),
  );
  const defaults = [contents[0], algorithms[0], encodings[0], keys[0], headerForms[0], units[0]];
  return {
    name:
      `${algorithm[1]} of ${content[1]}, in ${encoding[1]}, keyed with ${key[1]}; ` +
      `signature ${form[1]}; timestamp in ${unit[1]}`,
    like: service && { service, source: sources[service] },
    scheme: optionsOf(parts),
    header: headerOf(form, algorithm),
    unit: unit[0],
    distance: [content, algorithm, encoding, key, form, unit].filter(
      (part, index) => part !== defaults[index],
    ).length,
  };
}

/** The signature header as a template. */
export const headerOf = ([{ text }]: Parts['form'], [algorithm]: Parts['algorithm']): string =>
  text.replace('{algorithm}', algorithm);

/** The option of `webhooks.verify()` for some parts: what differs from its default. */
export function optionsOf({ content, algorithm, encoding, key, form, unit }: Partial<Parts>) {
  const { prefix = '', separator } = form?.[0] ?? {};
  const scheme: Partial<SignatureScheme> = {
    ...(content && content !== contents[0] && { content: content[0] }),
    ...(algorithm && algorithm !== algorithms[0] && { algorithm: algorithm[0] }),
    ...(encoding && encoding !== encodings[0] && { encoding: encoding[0] }),
    ...(key && key !== keys[0] && { secretEncoding: key[0] }),
    ...(prefix !== '' && { prefix: prefix.replace('{algorithm}', algorithm?.[0] ?? '') }),
    ...(separator !== undefined && { separator }),
    ...(unit?.[0] === 'iso8601' && { timestamp: unit[0] }),
  };
  return scheme;
}
