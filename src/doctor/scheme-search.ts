import { timingSafeEqual } from 'node:crypto';
import { readScheme, type Scheme } from '../webhooks/scheme.js';
import { readKey } from '../webhooks/secret.js';
import { decodeSignature, macOf, readSignatures } from '../webhooks/signature.js';
import type { Lists, TimestampUnit } from './documented-schemes.js';
import { byLikelihood, headerOf, type KnownScheme, optionsOf, schemeOf } from './schemes.js';

/** What a signature was made of, and the signature. */
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
  const found: KnownScheme[] = [];
  const contents = lists.content.map((content) => ({ content, read: readScheme({ content: content[0] }) }));
  for (const unit of lists.unit.filter(([value]) => value === written))
    for (const form of lists.form)
      for (const algorithm of lists.algorithm) {
        if (!hasForm(signature, headerOf(form, algorithm))) continue;
        for (const encoding of lists.encoding) {
          const checked = readScheme(optionsOf({ algorithm, encoding, form }));
          const digests = digestsOf(signature, checked);
          for (const key of digests.length > 0 ? lists.key : []) {
            const keyBytes = attempt(() => readKey(secret, { ...checked, secretEncoding: key[0] }));
            for (const { content, read } of keyBytes ? contents : []) {
              const mac = keyBytes && macOf(keyBytes, timestamp, body, { ...read, algorithm: algorithm[0] });
              if (mac && digests.some((digest) => timingSafeEqual(digest, mac)))
                found.push(schemeOf({ content, algorithm, encoding, key, form, unit }));
            }
          }
        }
      }
  const options = new Set<string>();
  return byLikelihood(found).filter(({ scheme }) => {
    const option = JSON.stringify(scheme);
    return !options.has(option) && options.add(option);
  });
}

function digestsOf(signature: string, scheme: Scheme): Uint8Array[] {
  return (attempt(() => readSignatures(signature, scheme)) ?? []).flatMap(
    (text) => attempt(() => decodeSignature(text, scheme)) ?? [],
  );
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

/** What a reader returns; `undefined` if it throws. */
function attempt<Value>(read: () => Value): Value | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
