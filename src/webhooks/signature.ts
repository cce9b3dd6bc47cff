import { Buffer } from 'node:buffer';
import { WebhookConfigError, WebhookVerificationError } from '../errors.js';
import { isThenable } from '../input/functions.js';
import { nodeCrypto } from './crypto.js';
import type { HeaderReader } from './headers.js';
import { invalidOptions } from './options.js';
import type { Scheme, SignedMessage } from './scheme.js';
import type { WebhookSecret } from './secret.js';

const longestHeader = 4096;

/** The length of a MAC in bytes, by algorithm. */
const digestBytes = { sha256: 32, sha384: 48, sha512: 64 };

/** Returns the signatures in the header without the prefix, and skips those with another prefix, which are of another version. */
export function readSignatures(header: string, { prefix, separator }: Scheme): string[] {
  if (header.length > longestHeader) throw malformedSignature(`is longer than ${longestHeader} characters`);
  const signatures: string[] = [];
  for (const part of separator === undefined ? [header] : header.split(separator)) {
    if (!part.startsWith(prefix)) {
      // node:http joins repeated headers with a comma and a space: two headers are not several signatures.
      if (part === '' || /^\s/.test(part))
        throw malformedSignature('holds an empty signature, or white space before one');
    } else if (part.length === prefix.length) throw malformedSignature('holds an empty signature');
    else signatures.push(part.slice(prefix.length));
  }
  if (signatures.length === 0) throw malformedSignature('does not begin with scheme.prefix');
  return signatures;
}

/** Returns the bytes of a signature. `Buffer.from` skips invalid characters, so the bytes must encode to the same string. */
export function decodeSignature(text: string, { algorithm, encoding, prefix }: Scheme): Uint8Array {
  const length = digestBytes[algorithm];
  if (encoding !== 'hex' || (text.length === 2 * length && /^[0-9a-fA-F]+$/.test(text))) {
    const bytes = Buffer.from(text, encoding);
    if (bytes.byteLength === length && (encoding === 'hex' || bytes.toString(encoding) === text))
      return bytes;
  }
  throw malformedSignature(`is not ${length} bytes in ${encoding}`, likelyForm(text, prefix));
}

/** Returns the MAC of timestamp and body. The body is never decoded. */
export function macOf(key: WebhookSecret, timestamp: string, body: Uint8Array, scheme: Scheme): Buffer {
  const hmac = nodeCrypto()
    .createHmac(scheme.algorithm, key)
    .update(scheme.before.join(timestamp))
    .update(body);
  const after = scheme.after.join(timestamp);
  if (after !== '') hmac.update(after);
  // `digest()` would allocate memory outside the heap for each MAC, which takes a tenth of the time of `verify()`.
  return Buffer.from(hmac.digest('hex'), 'hex');
}

/** True if one of the keys produces one of the signatures. The bytes are compared in constant time. */
export function isSigned(
  keys: readonly WebhookSecret[],
  signatures: readonly string[],
  timestamp: string,
  body: Uint8Array,
  scheme: Scheme,
): boolean {
  const decoded = signatures.map((signature) => decodeSignature(signature, scheme));
  return keys.some((key) => {
    const mac = macOf(key, timestamp, body, scheme);
    return decoded.some((signature) => nodeCrypto().timingSafeEqual(mac, signature));
  });
}

/**
 * True if the caller's own verifier returns `true` for one of the signatures. A promise is always truthy, so it does not
 * count.
 */
export function isAccepted(
  verify: (message: SignedMessage) => unknown,
  signatures: readonly string[],
  timestamp: string,
  body: Uint8Array,
  readHeader: HeaderReader,
): boolean {
  const header = (name: string) => readHeader(name.toLowerCase()) ?? null;
  return signatures.some((signature) => {
    try {
      const result = verify({ body, timestamp, signature, header });
      if (!isThenable(result)) return result === true;
      // Nothing awaits the promise, so its rejection would end the process.
      Promise.resolve(result).catch(() => {});
    } catch (error) {
      if (error instanceof WebhookVerificationError || error instanceof WebhookConfigError) throw error;
      throw invalidOptions('scheme.verify threw. Let it return false for an invalid signature.');
    }
    throw invalidOptions('scheme.verify returned a promise. Verify synchronously: node:crypto has verify().');
  });
}

function likelyForm(text: string, prefix: string): string | undefined {
  if (prefix === '' && /^\w{1,10}[=,]./.test(text)) return 'It seems to have a prefix: set scheme.prefix';
  const bare = text.replace(/(?<!=)=+$/, '');
  for (const [algorithm, length] of Object.entries(digestBytes)) {
    const explainForm = (form: string) =>
      `It looks like ${algorithm} in ${form}: set scheme.algorithm and scheme.encoding`;
    if (text.length === 2 * length && /^[0-9a-f]+$/i.test(text)) return explainForm('hex');
    if (bare.length === Math.ceil((length * 4) / 3) && /^[\w+/-]+$/.test(bare)) return explainForm('base64');
  }
  return undefined;
}

function malformedSignature(
  problem: string,
  hint = 'If real deliveries have another form, set scheme',
): Error {
  return new WebhookVerificationError(`The signature header ${problem}. ${hint}.`, 'malformed_signature');
}
