import { Buffer } from 'node:buffer';
import { WebhookConfigError } from '../errors.js';
import type { Scheme } from './scheme.js';

/** A shared secret: a string, or the bytes of the key. */
export type WebhookSecret = string | Uint8Array;

/** The strings that a missing value becomes in a template string. Anybody can sign with these. */
const missingValue = /^(?:undefined|null|NaN|\[object \w+\])$/;

/** Returns the keys to try, or throws if anybody could guess a secret: such a secret must never verify anything. */
export function readKeys(secret: unknown, scheme: Scheme): WebhookSecret[] {
  if (!Array.isArray(secret)) return [readKey(secret, scheme)];
  if (secret.length === 0) throw invalidSecret('array of secrets is empty.');
  return Array.from(secret, (each) => readKey(each, scheme));
}

/** Returns the key that a secret holds, or throws if the secret is invalid. */
export function readKey(secret: unknown, scheme: Scheme): WebhookSecret {
  if (ArrayBuffer.isView(secret)) {
    if (secret.byteLength === 0) throw invalidSecret('secret has no bytes.');
    // The bytes are copied: if the caller zeroes them after use, anybody would know the key.
    return new Uint8Array(secret.buffer, secret.byteOffset, secret.byteLength).slice();
  }
  if (secret === undefined || secret === null) {
    throw invalidSecret('secret is missing. Is its environment variable set in this process?');
  }
  if (typeof secret !== 'string') throw invalidSecret('secret must be a string or bytes.');
  if (secret === '') throw invalidSecret('secret is empty. Is its environment variable set in this process?');
  if (missingValue.test(secret))
    throw invalidSecret('secret is the string of a missing value, such as "undefined".');
  if (/^(["'`]).*\1$|^<.*>$/.test(secret))
    throw invalidSecret('secret is in quotes or <…>: remove them where it is read.');
  if (secret === 'whsec_' && scheme.secretEncoding === 'utf8')
    throw invalidSecret('secret is only the prefix whsec_.');
  if (secret.trim() !== secret) {
    const where = /[\r\n]$/.test(secret) ? 'ends in a line feed' : 'begins or ends with white space';
    throw invalidSecret(`secret ${where}: remove it where it is read.`);
  }
  return scheme.secretEncoding === 'utf8' ? secret : decodeSecret(secret, scheme.secretEncoding);
}

/** Decodes a secret. `Buffer.from` skips invalid characters, down to an empty key, so the key must encode to the same string. */
function decodeSecret(secret: string, encoding: 'base64' | 'hex'): Uint8Array {
  const text = encoding === 'base64' ? secret.replace(/^whsec_/, '') : secret.toLowerCase();
  const key = Buffer.from(text, encoding);
  if (key.byteLength > 0 && key.toString(encoding) === text) return key;
  throw invalidSecret(`secret is not ${encoding}, as scheme.secretEncoding says.`);
}

function invalidSecret(problem: string): WebhookConfigError {
  return new WebhookConfigError(
    `The webhook ${problem} Pass what signs your webhooks as \`secret\`; the service does not document which secret that is, so ask it.`,
    'invalid_secret',
  );
}
