import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import tls from 'node:tls';
import { vi } from 'vitest';

/** A key and its certificate as PEM text, made on the spot: nothing to install and nothing that expires. */
export interface Identity {
  key: string;
  cert: string;
}

/** An authority and the server certificates that it signs. */
export class Authority {
  /** Its own certificate, to be trusted by a test, or to serve as one that is self-signed. */
  readonly identity: Identity;
  readonly #keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  readonly #name: Buffer;

  constructor(name: string) {
    this.#name = distinguishedName(name);
    const der = certificate({
      subject: this.#name,
      issuer: this.#name,
      publicKey: this.#keys.publicKey,
      signedBy: this.#keys.privateKey,
      days: [-1, 1],
      extension: extension([0x55, 0x1d, 0x13], sequence(element(0x01, Buffer.from([0xff])))),
    });
    this.identity = { key: pemOfKey(this.#keys.privateKey), cert: pem(der) };
  }

  /** A certificate for a host name; `days` are its beginning and end from now. */
  issue(host: string, days: [number, number] = [-1, 1]): Identity {
    const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const der = certificate({
      subject: distinguishedName(host),
      issuer: this.#name,
      publicKey: keys.publicKey,
      signedBy: this.#keys.privateKey,
      days,
      extension: extension([0x55, 0x1d, 0x11], sequence(element(0x82, Buffer.from(host)))),
    });
    return { key: pemOfKey(keys.privateKey), cert: pem(der) };
  }
}

/** Has certificates checked against this authority and no other, as if the system knew it. The spy ends with the test. */
export function trustAuthority({ identity }: Authority): void {
  const { createSecureContext } = tls;
  vi.spyOn(tls, 'createSecureContext').mockImplementation((options) =>
    createSecureContext({ ...options, ca: identity.cert }),
  );
}

interface Certificate {
  subject: Buffer;
  issuer: Buffer;
  publicKey: KeyObject;
  signedBy: KeyObject;
  days: [number, number];
  extension: Buffer;
}

/** RFC 5280, section 4.1, with what TLS needs of it and no more. */
function certificate({ subject, issuer, publicKey, signedBy, days, extension }: Certificate): Buffer {
  const ecdsaWithSha256 = sequence(objectId([0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02]));
  const toBeSigned = sequence(
    element(0xa0, integer(Buffer.from([2]))),
    integer(Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    ecdsaWithSha256,
    issuer,
    sequence(...days.map(time)),
    subject,
    publicKey.export({ type: 'spki', format: 'der' }),
    element(0xa3, sequence(extension)),
  );
  const signature = Buffer.concat([Buffer.from([0]), sign('sha256', toBeSigned, signedBy)]);
  return sequence(toBeSigned, ecdsaWithSha256, element(0x03, signature));
}

function distinguishedName(commonName: string): Buffer {
  const attribute = sequence(objectId([0x55, 0x04, 0x03]), element(0x0c, Buffer.from(commonName)));
  return sequence(element(0x31, attribute));
}

function time(daysFromNow: number): Buffer {
  const iso = new Date(Date.now() + daysFromNow * 86_400_000).toISOString();
  return element(0x17, Buffer.from(`${iso.replace(/\D/g, '').slice(2, 14)}Z`));
}

function extension(id: number[], value: Buffer): Buffer {
  return sequence(objectId(id), element(0x04, value));
}

function sequence(...parts: Buffer[]): Buffer {
  return element(0x30, Buffer.concat(parts));
}

function objectId(bytes: number[]): Buffer {
  return element(0x06, Buffer.from(bytes));
}

function integer(value: Buffer): Buffer {
  return element(0x02, value);
}

function element(tag: number, content: Buffer): Buffer {
  const size = content.length;
  const length = size < 0x80 ? [size] : size < 0x100 ? [0x81, size] : [0x82, size >> 8, size & 0xff];
  return Buffer.concat([Buffer.from([tag, ...length]), content]);
}

function pemOfKey(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }).toString();
}

function pem(der: Buffer): string {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n');
}
