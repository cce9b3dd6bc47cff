// Wycheproof's HMAC vectors, which look for what implementations get wrong: keys around the block size, truncated tags,
// damaged tags. Debian's librust-hmac-dev carries the valid ones, 66 for each algorithm, half of them with a truncated tag.
// The damaged ones are made of them here, in all the ways that Wycheproof names, and for every bit.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { sign, verify } from 'merchant-payments/webhooks';

const registry = '/usr/share/cargo/registry';
const algorithms = [
  { algorithm: 'sha256', tagBytes: 32 },
  { algorithm: 'sha384', tagBytes: 48 },
  { algorithm: 'sha512', tagBytes: 64 },
] as const;

for (const { algorithm, tagBytes } of algorithms) {
  const scheme = { algorithm, content: '{body}' };
  const vectors = readVectors(algorithm);
  const whole = vectors.filter(({ tag }) => tag.length === tagBytes);
  const truncated = vectors.filter(({ tag }) => tag.length < tagBytes);

  /** The code of what verify() throws. None of these bodies is an event, so an authentic one is `invalid_json`. */
  const codeOf = ({ key, message }: Vector, tag: Buffer): unknown => {
    const headers = { 'x-service-signature': tag.toString('hex'), 'x-service-timestamp': '1767225600' };
    const receivedAt = new Date('2026-01-01T00:00:00Z');
    try {
      verify({ rawBody: message, headers, secret: key, receivedAt, scheme });
    } catch (error) {
      return error instanceof Error && 'code' in error ? error.code : error;
    }
    return undefined;
  };

  test(`Wycheproof, ${algorithm}: sign() makes the tag of each vector`, () => {
    assert.deepEqual([whole.length, truncated.length], [33, 33]);
    for (const { key, message, tag } of vectors) {
      const made = sign({ rawBody: message, secret: key, scheme })['x-service-signature'];
      assert.equal(made?.slice(0, tag.length * 2), tag.toString('hex'));
    }
  });

  test(`Wycheproof, ${algorithm}: verify() accepts the tag of each vector, and no truncated one`, () => {
    for (const vector of whole) assert.equal(codeOf(vector, vector.tag), 'invalid_json');
    for (const vector of truncated) assert.equal(codeOf(vector, vector.tag), 'malformed_signature');
  });

  test(`Wycheproof, ${algorithm}: verify() rejects each damaged tag`, () => {
    for (const vector of whole) {
      for (const tag of damaged(vector.tag)) assert.equal(codeOf(vector, tag), 'signature_mismatch');
    }
  });
}

interface Vector {
  key: Buffer;
  message: Buffer;
  tag: Buffer;
}

/** One bit, two bits, all bits, the highest or the lowest of each byte; all zero, all one. */
function* damaged(tag: Buffer): Generator<Buffer> {
  const changed = (mask: (index: number) => number) =>
    Buffer.from(tag.map((byte, index) => byte ^ mask(index)));
  for (let bit = 0; bit < tag.length * 8; bit++) {
    yield changed((index) => (index === bit >> 3 ? 1 << (bit & 7) : 0));
  }
  for (const [one, other] of [
    [0, 8],
    [3, 7],
    [7, 15],
  ]) {
    yield changed((index) => (index === one || index === other ? 0x80 : 0));
  }
  for (const mask of [0xff, 0x80, 0x01]) yield changed(() => mask);
  yield Buffer.alloc(tag.length, 0);
  yield Buffer.alloc(tag.length, 0xff);
}

function readVectors(algorithm: string): Vector[] {
  const folder = readdirSync(registry).find((name) => name.startsWith('hmac-'));
  if (!folder)
    throw new Error(`${registry} has no hmac-*: install Debian's librust-hmac-dev, as .ci/run does.`);
  const blobs = readBlobs(readFileSync(`${registry}/${folder}/tests/data/wycheproof-${algorithm}.blb`));
  return Array.from({ length: blobs.length / 3 }, (_, index) => {
    const [key, message, tag] = blobs.slice(index * 3, index * 3 + 3);
    if (!key || !message || !tag) throw new Error(`vector ${index} of ${algorithm} is incomplete`);
    return { key, message, tag };
  });
}

/**
 * The blobs of a file of Rust's `blobby`: a table of repeated blobs, then blobs, each the number of one of the table or
 * a length and its bytes. Numbers are written in base 128, the highest digit first.
 */
function readBlobs(file: Buffer): Buffer[] {
  let at = 0;
  const number = (): number => {
    for (let value = 0; ; value++) {
      const byte = file.readUInt8(at++);
      value = value * 128 + (byte & 127);
      if (byte < 128) return value;
    }
  };
  const bytes = (length: number): Buffer => {
    at += length;
    return file.subarray(at - length, at);
  };
  const repeated = Array.from({ length: number() }, () => bytes(number()));
  const blobs: Buffer[] = [];
  while (at < file.length) {
    const head = number();
    const blob = head % 2 === 1 ? repeated[head >> 1] : bytes(head >> 1);
    if (!blob) throw new Error(`the table has no blob ${head >> 1}`);
    blobs.push(blob);
  }
  return blobs;
}
