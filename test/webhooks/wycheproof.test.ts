import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { sign, verify } from '../../src/webhooks/index.js';

// Wycheproof looks for what implementations of HMAC get wrong: keys around the block size, truncated and modified tags.
// `blob` is git's name of the file in C2SP/wycheproof.
const algorithms = [
  { algorithm: 'sha256', tagBits: 256, blob: '19181195d1bfa01ded2ca5620f0aedd0e50dc31f' },
  { algorithm: 'sha384', tagBits: 384, blob: '3ba4fbac6744df6ef62c6d0a205cc7466a8a7cbc' },
  { algorithm: 'sha512', tagBits: 512, blob: 'a56fe183738b5bb19d09eb8c36c5f3f7c6218fc7' },
] as const;

interface Vector {
  key: string;
  msg: string;
  tag: string;
  result: 'valid' | 'invalid';
}

for (const { algorithm, tagBits, blob } of algorithms) {
  const file = readFileSync(new URL(`../fixtures/wycheproof/hmac_${algorithm}_test.json`, import.meta.url));
  const { testGroups }: { testGroups: { tagSize: number; tests: Vector[] }[] } = JSON.parse(file.toString());
  const vectorsOf = (isWhole: boolean, wanted: Vector['result']) =>
    testGroups
      .filter(({ tagSize }) => (tagSize === tagBits) === isWhole)
      .flatMap(({ tests }) => tests.filter(({ result }) => result === wanted));
  const [whole, truncated] = [vectorsOf(true, 'valid'), vectorsOf(false, 'valid')];
  const [modified, modifiedTruncated] = [vectorsOf(true, 'invalid'), vectorsOf(false, 'invalid')];
  const scheme = { algorithm, content: '{body}' };

  /** The code of what verify() throws. None of these messages is an event, so an authentic one is `invalid_json`. */
  const codeOf = ({ key, msg }: Vector, tag: string): unknown => {
    const headers = { 'x-service-signature': tag, 'x-service-timestamp': '1767225600' };
    const receivedAt = new Date('2026-01-01T00:00:00Z');
    const secret = Buffer.from(key, 'hex');
    try {
      verify({ rawBody: Buffer.from(msg, 'hex'), headers, secret, receivedAt, scheme });
    } catch (error) {
      return error instanceof Error && 'code' in error ? error.code : error;
    }
    return undefined;
  };

  test(`Wycheproof, ${algorithm}: the file is the one of C2SP/wycheproof, with all of its 174 vectors`, () => {
    expect(createHash('sha1').update(`blob ${file.length}\0`).update(file).digest('hex')).toBe(blob);
    const counts = [whole, truncated, modified, modifiedTruncated].map(({ length }) => length);
    expect(counts).toEqual([33, 33, 54, 54]);
  });

  test(`Wycheproof, ${algorithm}: sign() makes the tag of each vector`, () => {
    for (const { key, msg, tag } of [...whole, ...truncated]) {
      const made = sign({ rawBody: Buffer.from(msg, 'hex'), secret: Buffer.from(key, 'hex'), scheme });
      expect(made['x-service-signature']?.slice(0, tag.length)).toBe(tag);
    }
  });

  test(`Wycheproof, ${algorithm}: verify() accepts the tag of each vector, and no truncated one`, () => {
    for (const vector of whole) expect(codeOf(vector, vector.tag)).toBe('invalid_json');
    for (const vector of [...truncated, ...modifiedTruncated])
      expect(codeOf(vector, vector.tag)).toBe('malformed_signature');
  });

  test(`Wycheproof, ${algorithm}: verify() rejects each damaged tag`, () => {
    for (const vector of modified) expect(codeOf(vector, vector.tag)).toBe('signature_mismatch');
    for (const vector of whole) {
      for (const tag of damageTag(vector.tag)) expect(codeOf(vector, tag)).toBe('signature_mismatch');
    }
  });
}

/** The tag with each of its bits changed, one at a time. */
function* damageTag(tag: string): Generator<string> {
  for (let bit = 0; bit < tag.length * 4; bit++) {
    const bytes = Buffer.from(tag, 'hex');
    bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    yield bytes.toString('hex');
  }
}
