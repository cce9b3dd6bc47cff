import { Buffer } from 'node:buffer';
import crypto from 'node:crypto';
import type { SignatureScheme } from './scheme.js';
import type { WebhookSecret } from './secret.js';

type Algorithm = SignatureScheme['algorithm'];

/** Bytes of a MAC. */
export const digestBytes = { sha256: 32, sha384: 48, sha512: 64 };

/** Bytes that the hash works on at a time. FIPS 180-4. */
const blockBytes = { sha256: 64, sha384: 128, sha512: 128 };

/** Node has hashes in one go from 20.12 on; other platforms may have none. */
const hashInOneGo: typeof crypto.hash | undefined = crypto.hash;

/** From about 8 KB on, the copy costs more than it saves. */
const longestCopy = 4096;
const inner = Buffer.alloc(128 + longestCopy);
const outer = Buffer.alloc(128 + 64);

/** What is signed: a body between two texts. */
interface Message {
  before: string;
  body: Uint8Array;
  after: string;
}

/** HMAC of the message. */
export function hmac(algorithm: Algorithm, key: WebhookSecret, message: Message): Buffer {
  const { before, body, after } = message;
  // A character is at most three bytes.
  const mostBytes = before.length * 3 + body.byteLength + after.length * 3;
  if (hashInOneGo && mostBytes <= longestCopy && Buffer.byteLength(key) <= blockBytes[algorithm]) {
    return hmacInOneGo(hashInOneGo, algorithm, key, message);
  }
  return crypto.createHmac(algorithm, key).update(before).update(body).update(after).digest();
}

/** RFC 2104 as it stands, for a key of at most one block: half the time of an Hmac object at 300 bytes. */
function hmacInOneGo(
  hash: typeof crypto.hash,
  algorithm: Algorithm,
  key: WebhookSecret,
  { before, body, after }: Message,
): Buffer {
  const block = blockBytes[algorithm];
  if (typeof key === 'string') inner.fill(0, inner.write(key), block);
  else {
    inner.set(key);
    inner.fill(0, key.byteLength, block);
  }
  for (let index = 0; index < block; index++) {
    const byte = inner[index] ?? 0;
    inner[index] = byte ^ 0x36;
    outer[index] = byte ^ 0x5c;
  }
  let length = block + inner.write(before, block);
  inner.set(body, length);
  length += body.byteLength;
  length += inner.write(after, length);
  outer.write(hash(algorithm, inner.subarray(0, length), 'binary'), block, 'binary');
  const mac = hash(algorithm, outer.subarray(0, block + digestBytes[algorithm]), 'binary');
  // No key stays behind between calls.
  inner.fill(0, 0, block);
  outer.fill(0, 0, block);
  return Buffer.from(mac, 'binary');
}
