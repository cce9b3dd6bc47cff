import { createHmac } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { type SignatureScheme, sign, type WebhookSecret } from '../../src/webhooks/index.js';

const bodyAlone = { content: '{body}', signatureHeader: 'signature' };

function macOf(secret: WebhookSecret, rawBody: string | Uint8Array, scheme: Partial<SignatureScheme> = {}) {
  return sign({ rawBody, secret, scheme: { ...bodyAlone, ...scheme } }).signature;
}

describe('RFC 4231', () => {
  const wanted = 'what do ya want for nothing?';
  const large = Buffer.alloc(131, 0xaa);
  test.each([
    [
      '1',
      Buffer.alloc(20, 0x0b),
      'Hi There',
      'sha256',
      'b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7',
    ],
    ['2', 'Jefe', wanted, 'sha256', '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843'],
    [
      '2',
      'Jefe',
      wanted,
      'sha384',
      'af45d2e376484031617f78d2b58a6b1b9c7ef464f5a01b47e42ec3736322445e8e2240ca5e69e2c78b3239ecfab21649',
    ],
    [
      '2',
      'Jefe',
      wanted,
      'sha512',
      '164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea2505549758bf75c05a994a6d034f65f8f0e6fdcaeab1a34d4a6b4b636e070a38bce737',
    ],
    [
      '6',
      large,
      'Test Using Larger Than Block-Size Key - Hash Key First',
      'sha256',
      '60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54',
    ],
  ] as const)('case %s: %j', (_case, key, text, algorithm, mac) => {
    expect(macOf(key, text, { algorithm })).toBe(mac);
  });
});

test.each([
  ['before', (text: string) => `${text}{body}`],
  ['after', (text: string) => `{body}${text}`],
])('text %s the body is part of the MAC, in UTF-8', (_where, content) => {
  const template = content('€ v1:');
  const mac = createHmac('sha256', 'secret').update(template.replace('{body}', 'x')).digest('hex');
  expect(macOf('secret', 'x', { content: template })).toBe(mac);
});
