import { describe, expect, it, vi } from 'vitest';
import { redactError } from '../../src/inbox/redact.js';
import { sign } from '../../src/webhooks/index.js';
import { openSqlite, orderPaid } from './inboxes.js';

const secret = 'the-secret-of-the-shop';
const textOf = (error: unknown, given: unknown = secret) => redactError(error, given);

describe('the text of an error that is stored', () => {
  it.each([
    [new TypeError('no stock'), 'TypeError: no stock'],
    ['no stock', 'no stock'],
    [5, '5'],
    [undefined, 'undefined'],
    [Object.create(null), 'The error could not be read.'],
  ])('of %o is %s', (error, text) => {
    expect(textOf(error)).toBe(text);
  });

  it('has 500 characters at most, counted without secrets', () => {
    expect(textOf('x'.repeat(501))).toBe('x'.repeat(500));
    expect(textOf(secret.repeat(50))).toBe('[redacted]'.repeat(50));
  });

  it.each([
    [secret],
    [['another-secret', secret]],
    [Buffer.from(secret)],
    [[new TextEncoder().encode(`--${secret}--`).subarray(2, -2)]],
  ])('holds no webhook secret, given as %o', (given) => {
    expect(textOf(`a ${secret} b ${secret}`, given)).toBe('a [redacted] b [redacted]');
  });

  it.each([
    encodeURIComponent('a/b+c=the-secret'),
    JSON.stringify('a/b+c=the-secret'),
    Buffer.from('a/b+c=the-secret').toString('base64'),
    Buffer.from('a/b+c=the-secret').toString('base64url'),
  ])('holds no webhook secret, encoded as %s', (echoed) => {
    expect(textOf(`got ${echoed}.`, 'a/b+c=the-secret')).toMatch(/^got "?\[redacted\]=*"?\.$/);
  });

  it('holds no webhook secret that a function gave', async () => {
    const { inbox, post } = openSqlite({
      ...{ secret: () => Promise.resolve([secret]), retries: [] },
      on: { 'order.paid': () => Promise.reject(new Error(`bad ${secret}`)) },
    });
    await post(orderPaid('ord_1'), sign({ rawBody: orderPaid('ord_1'), secret }));
    await inbox.idle();
    expect((await inbox.get('order.paid:ord_1'))?.lastError).toBe('Error: bad [redacted]');
  });

  it.each([['key-→-of-the-shop'], ['key-\ud800-of-the-shop'], [Buffer.from('ff00fe01fd02fc03', 'hex')]])(
    'is that of the error, whatever the secret is made of: %o',
    (given) => expect(textOf('no stock', given)).toBe('no stock'),
  );

  it.each([
    [encodeURIComponent('key-→-of-the-shop')],
    [Buffer.from('key-→-of-the-shop').toString('base64')],
    [JSON.stringify('key-→-of-the-shop')],
  ])('holds no webhook secret beyond Latin-1, encoded as %s', (echoed) => {
    expect(textOf(`got ${echoed}.`, 'key-→-of-the-shop')).toMatch(/^got "?\[redacted\]=*"?\.$/);
  });

  it('shows control characters of a stranger, and keeps lines', () => {
    expect(textOf('refused:\n\u001b[2Jpaid\u202e')).toBe('refused:\n\\u001b[2Jpaid\\u202e');
  });

  it('holds no API key of the environment', () => {
    vi.stubEnv('PAYMENTS_API_KEY', 'key-of-the-shop');
    expect(textOf('bad key-of-the-shop')).toBe('bad [redacted]');
  });

  it('keeps words that equal a secret of fewer than six characters', () => {
    expect(textOf('bad apple', 'apple')).toBe('bad apple');
    expect(textOf('bad orange', 'orange')).toBe('bad [redacted]');
  });

  it.each([
    ['service_live_a-b_9!', '[redacted]!'],
    ['sk_test_1 rk_live_2 pk_live_3', '[redacted] [redacted] [redacted]'],
    ['whsec_a+/b=-', '[redacted]'],
    ['sent Bearer a.b~c d', 'sent [redacted] d'],
    ['sent bearer\ta.b~c d', 'sent [redacted] d'],
    ['sent Basic dXNlcjpwdw== d', 'sent [redacted] d'],
    ['Basic authentication failed', 'Basic authentication failed'],
    ['postgres://user:word@db:5432/shop', 'postgres://[redacted]@db:5432/shop'],
    ['postgres://user:p@ssw0rd@db:5432/shop', 'postgres://[redacted]@db:5432/shop'],
    [
      'to https://pay.example/?next=%3Fkey%3Dservice_live_a1',
      'to https://pay.example/?next=%3Fkey%3D[redacted]',
    ],
    ['"header\\nservice_live_a1"', '"header\\n[redacted]"'],
    ['PAYMENTS_API_KEY_SERVICE_LIVE_A1', 'PAYMENTS_API_KEY_[redacted]'],
    ['"line\\nwhsec_a%2Fb%2B"', '"line\\n[redacted]"'],
    ['mail to user@shop.example', 'mail to user@shop.example'],
    ['task_live_1', 'task_live_1'],
    ['service_beta_1', 'service_beta_1'],
  ])('of %s is %s', (text, stored) => {
    expect(textOf(text)).toBe(stored);
  });
});
