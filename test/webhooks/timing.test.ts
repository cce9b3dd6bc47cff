import { expect, test, vi } from 'vitest';
import { sign, verify } from '../../src/webhooks/index.js';

const secret = 'whsec_merchant_test_7Qm2xV9c';
const rawBody = '{"type":"ping"}';
const right = sign({ rawBody, secret });
const wrong = { ...right, 'x-service-signature': 'ab'.repeat(32) };

test('signatures are compared by timingSafeEqual alone', () => {
  const compare = vi.spyOn(process.getBuiltinModule('node:crypto'), 'timingSafeEqual');
  compare.mockReturnValue(true);
  expect(verify({ rawBody, headers: wrong, secret })).toMatchObject({ originalType: 'ping' });
  compare.mockReturnValue(false);
  expect(() => verify({ rawBody, headers: right, secret })).toThrow(
    expect.objectContaining({ code: 'signature_mismatch' }),
  );
  expect(compare.mock.calls.map((pair) => pair.map(({ byteLength }) => byteLength))).toEqual([
    [32, 32],
    [32, 32],
  ]);
});
