import { Buffer } from 'node:buffer';
import { createHash, createHmac } from 'node:crypto';
import type { SignedDelivery } from './scheme-search.js';

/** Lengths of common MACs and signatures in bytes, and what they are. */
const lengths: Record<number, string> = {
  16: 'HMAC-MD5',
  20: 'HMAC-SHA1',
  32: 'HMAC-SHA256',
  48: 'HMAC-SHA384',
  64: 'HMAC-SHA512, or an Ed25519 or ECDSA signature made with a private key',
  128: 'an RSA signature made with a private key',
  256: 'an RSA signature made with a private key',
  512: 'an RSA signature made with a private key',
};

/** What a signature that no scheme made looks like, in one sentence. */
export function signatureForm(header: string): string {
  if (header.trim() === '') return 'The signature header is empty.';
  const text = bare(header);
  if (/^[\w-]+\.[\w-]+\.[\w-]+$/.test(text)) return 'The signature looks like a JSON Web Token.';
  const bytes = decode(text);
  if (!bytes) return 'The signature is neither hex nor base64.';
  const inForm = /^[0-9a-f]+$/i.test(text) ? 'hex' : 'base64';
  const der = bytes[0] === 0x30 && bytes.length >= 68 && bytes.length <= 74;
  const likely = der ? 'an ECDSA signature made with a private key' : lengths[bytes.length];
  const size = `The signature is ${bytes.length} bytes in ${inForm}`;
  return likely === undefined ? `${size}: no hash has that length.` : `${size}: the length of ${likely}.`;
}

/** Names a MAC that `verify()` has no option for: an old hash, or a hash without HMAC. */
export function otherMac(delivery: SignedDelivery, secret: string): string | undefined {
  const given = decode(bare(delivery.signature));
  if (!given) return undefined;
  const { timestamp } = delivery;
  const body = Buffer.from(delivery.body);
  const joined = (...parts: (string | Uint8Array)[]) => Buffer.concat(parts.map((part) => Buffer.from(part)));
  const texts: [string, Buffer][] = [
    ['the body', body],
    ['timestamp, dot, body', joined(timestamp, '.', body)],
    ['timestamp and body', joined(timestamp, body)],
    ['body, then timestamp', joined(body, timestamp)],
  ];
  for (const [says, signed] of texts)
    for (const hash of ['md5', 'sha1', 'sha256', 'sha384', 'sha512']) {
      const plain = (content: Uint8Array) => createHash(hash).update(content).digest();
      const name = hash.toUpperCase().replace('SHA', 'SHA-');
      if (given.equals(createHmac(hash, secret).update(signed).digest())) return `HMAC-${name} of ${says}`;
      if (given.equals(plain(joined(secret, signed)))) return `${name} of secret and ${says}, without HMAC`;
      if (given.equals(plain(joined(signed, secret)))) return `${name} of ${says} and secret, without HMAC`;
      if (given.equals(plain(signed))) return `${name} of ${says} without any secret, which anybody can make`;
    }
  return undefined;
}

/** The last value of a header such as `t=1,v1=abc`, without its name. */
function bare(header: string): string {
  const part =
    header
      .trim()
      .split(/[;\s]|,(?=\w+=)/)
      .at(-1) ?? '';
  return part.replace(/^[\w-]{1,12}=(?=.)/, '').replace(/^v\d,/, '');
}

function decode(text: string): Buffer | undefined {
  if (/^(?:[0-9a-f]{2})+$/i.test(text)) return Buffer.from(text, 'hex');
  return /^[\w+/-]{20,}={0,2}$/.test(text) ? Buffer.from(text, 'base64') : undefined;
}
