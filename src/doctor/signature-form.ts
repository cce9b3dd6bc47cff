import { Buffer } from 'node:buffer';
import { createHash, createHmac, type Hash, type Hmac } from 'node:crypto';
import { readScheme } from '../webhooks/scheme.js';
import { documented } from './documented-schemes.js';
import { type SignedDelivery, signedContent } from './schemes.js';

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
export function otherMac({ body, signature, timestamp }: SignedDelivery, secret: string): string | undefined {
  const given = decode(bare(signature))?.toString('hex');
  for (const content of documented.content) {
    const says = signedContent(content);
    const { before, after } = readScheme({ content });
    const signed = [before.join(timestamp), body, after.join(timestamp)];
    for (const hash of ['md5', 'sha1', 'sha256', 'sha384', 'sha512']) {
      const isOf = (made: Hash | Hmac, ...parts: (string | Uint8Array)[]) =>
        given === parts.reduce((sum: Hash | Hmac, part) => sum.update(part), made).digest('hex');
      const name = hash.toUpperCase().replace('SHA', 'SHA-');
      if (isOf(createHmac(hash, secret), ...signed)) return `HMAC-${name} of ${says}`;
      if (isOf(createHash(hash), secret, ...signed)) return `${name} of secret and ${says}, without HMAC`;
      if (isOf(createHash(hash), ...signed, secret)) return `${name} of ${says} and secret, without HMAC`;
      if (isOf(createHash(hash), ...signed))
        return `${name} of ${says} without any secret, which anybody can make`;
    }
  }
  return undefined;
}

/** The last value of a header such as `t=1,v1=abc`, without its name. */
function bare(header: string): string {
  const [part = ''] = /[^;,\s=]+=*$/.exec(header.trim()) ?? [];
  return part;
}

function decode(text: string): Buffer | undefined {
  if (/^(?:[0-9a-f]{2})+$/i.test(text)) return Buffer.from(text, 'hex');
  return /^[\w+/-]{20,}={0,2}$/.test(text) ? Buffer.from(text, 'base64') : undefined;
}
