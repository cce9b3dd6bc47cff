import { expect, test } from 'vitest';
import { sign, verify } from '../../src/webhooks/index.js';

const secret = 'whsec_merchant_test_7Qm2xV9c';
const rawBody = '{"type":"order.paid","data":{"order_id":"ord_1","amount":"19.90","currency":"USD"}}';
const codeOf = (options: object): unknown => {
  try {
    verify({ rawBody, headers: sign({ rawBody, secret }), secret, ...options });
    return 'accepted';
  } catch (error) {
    return error instanceof Error && 'code' in error ? error.code : error;
  }
};

test.each([-301_000, 301_000])('a forgery %i ms from now is a mismatch: its age is not told', (skew) => {
  const timestamp = new Date(Date.now() + skew);
  expect(codeOf({ headers: sign({ rawBody, secret: 'whsec_of_somebody_else', timestamp }) })).toBe(
    'signature_mismatch',
  );
  expect(codeOf({ headers: sign({ rawBody, secret, timestamp }) })).toMatch(/^timestamp_/);
});

test('content that is no event is not parsed before it is authentic', () => {
  const headers = sign({ rawBody: 'no JSON', secret });
  expect(codeOf({ rawBody: 'no JSON', headers })).toBe('invalid_json');
  expect(codeOf({ rawBody: 'other', headers })).toBe('signature_mismatch');
});

test.each(['hex', 'base64', 'base64url'] as const)(
  'a signature in %s that is not as long as the digest is malformed, and nothing is compared',
  (encoding) => {
    const right = sign({ rawBody, secret, scheme: { encoding } });
    expect(codeOf({ headers: right, scheme: { encoding } })).toBe('accepted');
    const longer = { ...right, 'x-service-signature': `${right['x-service-signature']}0` };
    expect(codeOf({ headers: longer, scheme: { encoding } })).toBe('malformed_signature');
    for (const length of [0, 1, 16, 31, 33, 48, 64]) {
      const headers = {
        ...sign({ rawBody, secret }),
        'x-service-signature': Buffer.alloc(length, 1).toString(encoding),
      };
      expect(codeOf({ headers, scheme: { encoding } })).toBe('malformed_signature');
    }
  },
);
