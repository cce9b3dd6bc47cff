import { timingSafeEqual } from 'node:crypto';
import { readScheme, type Scheme } from '../webhooks/scheme.js';
import { readKey } from '../webhooks/secret.js';
import { decodeSignature, macOf, readSignatures } from '../webhooks/signature.js';
import type { TimestampUnit } from './documented-schemes.js';
import type { KnownScheme } from './schemes.js';

/** What a signature was made of, and the signature. */
export interface SignedDelivery {
  body: Uint8Array;
  /** The texts of the two headers. */
  signature: string;
  timestamp: string;
  /** `undefined` where the timestamp is in no known form. */
  unit: TimestampUnit | undefined;
}

/**
 * The schemes that make the signature of a delivery, the likeliest first; of several with the same option, one.
 * Header, key and MAC are read by the very functions of `verify()`, so that it accepts what is found here.
 */
export function matchingSchemes(
  schemes: readonly KnownScheme[],
  { body, signature, timestamp, unit = 'seconds' }: SignedDelivery,
  secret: string,
): KnownScheme[] {
  const digests = once((_key: string, { scheme }: KnownScheme) => {
    const checked = readScheme(scheme);
    return (attempt(() => readSignatures(signature, checked)) ?? [])
      .filter((text) => text.length === lengthOf(checked))
      .flatMap((text) => attempt(() => decodeSignature(text, checked)) ?? []);
  });
  const keys = once((_key: string, { scheme }: KnownScheme) =>
    attempt(() => readKey(secret, readScheme(scheme))),
  );
  const macs = once((_key: string, known: KnownScheme) => {
    const key = keys(known.secretEncoding, known);
    return key && macOf(key, timestamp, body, readScheme(known.scheme));
  });
  const found = new Map<string, KnownScheme>();
  const fitting = [...byHeader(schemes)].filter(([header]) => hasForm(signature, header));
  for (const known of fitting.flatMap(([, those]) => those)) {
    const { unit: own, content, algorithm, encoding, secretEncoding, header } = known;
    if (own !== unit) continue;
    const given = digests(`${header} ${algorithm} ${encoding}`, known);
    if (given.length === 0) continue;
    const mac = macs(`${content} ${algorithm} ${secretEncoding}`, known);
    if (!mac || !given.some((one) => timingSafeEqual(one, mac))) continue;
    const option = JSON.stringify(known.scheme);
    if (!found.has(option)) found.set(option, known);
  }
  return [...found.values()];
}

const groups = new WeakMap<readonly KnownScheme[], Map<string, KnownScheme[]>>();

/** The schemes by the form of their header: most forms are ruled out at a glance. */
function byHeader(schemes: readonly KnownScheme[]): Map<string, KnownScheme[]> {
  const grouped = groups.get(schemes) ?? new Map<string, KnownScheme[]>();
  if (grouped.size === 0) {
    for (const known of schemes) {
      const group = grouped.get(known.header);
      if (group) group.push(known);
      else grouped.set(known.header, [known]);
    }
    groups.set(schemes, grouped);
  }
  return grouped;
}

/** How many characters a digest takes. */
function lengthOf({ algorithm, encoding }: Scheme): number {
  const bytes = Number(algorithm.slice(3)) / 8;
  if (encoding === 'hex') return bytes * 2;
  return encoding === 'base64' ? Math.ceil(bytes / 3) * 4 : Math.ceil((bytes * 4) / 3);
}

/** Whether a header can have been written by a template: it has the template's parts, and no timestamp beside them. */
function hasForm(header: string, template: string): boolean {
  const separator = /[;,](?=\w+=\{)/.exec(template)?.[0];
  if (separator === undefined) {
    const [prefix = ''] = template.split('{');
    return !/^(?:t|ts|timestamp)=/.test(header) && header.startsWith(prefix);
  }
  const parts = header.split(separator);
  const names = template.split(separator).map((part) => part.slice(0, part.indexOf('{')));
  return names.every((name) => parts.some((part) => part.startsWith(name)));
}

/** What a reader makes of its input; `undefined` where it refuses it. */
function attempt<Value>(read: () => Value): Value | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** The same function, which works each key out once. */
function once<Rest extends unknown[], Value>(
  work: (key: string, ...rest: Rest) => Value,
): (key: string, ...rest: Rest) => Value {
  const results = new Map<string, { value: Value }>();
  return (key, ...rest) => {
    const result = results.get(key) ?? { value: work(key, ...rest) };
    results.set(key, result);
    return result.value;
  };
}
