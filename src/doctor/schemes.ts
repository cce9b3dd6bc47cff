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
  readonly content: string;
  readonly algorithm: SignatureScheme['algorithm'];
  readonly encoding: SignatureScheme['encoding'];
  readonly secretEncoding: SignatureScheme['secretEncoding'];
  /** The signature header, with `{timestamp}` and `{signature}` to be filled in. */
  readonly header: string;
  readonly unit: TimestampUnit;
  /** How many parts differ from the default scheme. */
  readonly distance: number;
}

let known: readonly KnownScheme[] | undefined;

/**
 * Every combination of the parts, the likeliest first: what services document, then what differs least. With the
 * address of the webhook, also those that sign it; with a prefix of the header that no service here uses, also that.
 */
export function knownSchemes({
  url,
  prefix,
}: {
  url?: string | undefined;
  prefix?: string | undefined;
} = {}) {
  if (url === undefined && prefix === undefined) {
    known ??= combinations(contents, headerForms);
    return known;
  }
  return combinations(
    url === undefined ? contents : [...contents, ...contentsWithUrl(url)],
    prefix === undefined ? headerForms : [...headerForms, formWith(prefix)],
  );
}

function formWith(prefix: string): Part<HeaderForm> {
  return {
    value: { text: `${prefix}{signature}`, prefix },
    says: `with "${prefix}" before it`,
    service: 'the service itself',
    source: 'the captured header',
  };
}

function combinations(
  contents: readonly Part<string>[],
  headerForms: readonly Part<HeaderForm>[],
): readonly KnownScheme[] {
  const documented = new Map(documentedSchemes.map(({ parts, ...like }) => [parts, like]));
  const all: KnownScheme[] = [];
  for (const content of contents)
    for (const algorithm of algorithms)
      for (const encoding of encodings)
        for (const key of keys)
          for (const form of headerForms)
            for (const unit of units)
              all.push(new Combination({ content, algorithm, encoding, key, form, unit }, documented));
  const rank = ({ like, distance }: KnownScheme) => (distance === 0 ? -1 : like ? 0 : distance);
  return all.sort((a, b) => rank(a) - rank(b));
}

interface Parts {
  content: Part<string>;
  algorithm: Part<SignatureScheme['algorithm']>;
  encoding: Part<SignatureScheme['encoding']>;
  key: Part<SignatureScheme['secretEncoding']>;
  form: Part<HeaderForm>;
  unit: Part<TimestampUnit>;
}

/** Words and options are made when asked for: most combinations are looked at once and left. */
class Combination implements KnownScheme {
  readonly #parts: Parts;
  readonly like: KnownScheme['like'];
  readonly content: string;
  readonly algorithm: SignatureScheme['algorithm'];
  readonly encoding: SignatureScheme['encoding'];
  readonly secretEncoding: SignatureScheme['secretEncoding'];
  readonly header: string;
  readonly unit: TimestampUnit;
  readonly distance: number;

  constructor(parts: Parts, documented: ReadonlyMap<string, KnownScheme['like']>) {
    const { content, algorithm, encoding, key, form, unit } = parts;
    const own = [content, algorithm, encoding, key].map((part) => part.value);
    this.#parts = parts;
    this.like = documented.get([...own, form.value.text, unit.value].join(' '));
    this.content = content.value;
    this.algorithm = algorithm.value;
    this.encoding = encoding.value;
    this.secretEncoding = key.value;
    this.header = form.value.text.replace('{algorithm}', algorithm.value);
    this.unit = unit.value;
    this.distance =
      Number(content !== contents[0]) +
      Number(algorithm !== algorithms[0]) +
      Number(encoding !== encodings[0]) +
      Number(key !== keys[0]) +
      Number(form !== headerForms[0]) +
      Number(unit !== units[0]);
  }

  get name(): string {
    const { content, algorithm, encoding, key, form, unit } = this.#parts;
    return (
      `${algorithm.says} of ${content.says}, in ${encoding.says}, keyed with ${key.says}; ` +
      `signature ${form.says}; timestamp in ${unit.says}`
    );
  }

  get scheme(): Partial<SignatureScheme> {
    const { content, algorithm, encoding, key, form, unit } = this.#parts;
    const { prefix, separator } = form.value;
    return {
      ...(content === contents[0] ? {} : { content: content.value }),
      ...(algorithm === algorithms[0] ? {} : { algorithm: algorithm.value }),
      ...(encoding === encodings[0] ? {} : { encoding: encoding.value }),
      ...(key === keys[0] ? {} : { secretEncoding: key.value }),
      ...(prefix === '' ? {} : { prefix: prefix.replace('{algorithm}', algorithm.value) }),
      ...(separator === undefined ? {} : { separator }),
      ...(unit.value === 'iso8601' ? { timestamp: unit.value } : {}),
    };
  }
}
