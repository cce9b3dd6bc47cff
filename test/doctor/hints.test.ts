import { createHash } from 'node:crypto';
import { createSandbox } from 'merchant-payments/sandbox';
import { handler } from 'merchant-payments/webhooks';
import { describe, expect, test } from 'vitest';
import { hintFor } from '../../src/doctor/hint.js';
import { listen } from '../helpers/receiver.js';

const target = 'http://localhost:3000/webhooks';
const doctor = 'npx merchant-payments doctor';
const sent = '{"type": "order.paid", "data": {"order_id": "ord_1"}}';

describe('the hint beside a failed attempt', () => {
  test.each<[string, object, string]>([
    ['a closed port', { code: 'ECONNREFUSED' }, 'host.docker.internal'],
    ['a name that does not resolve', { code: 'ENOTFOUND' }, 'host name does not resolve'],
    ['a reset', { code: 'ECONNRESET' }, 'closed the connection'],
    ['no TLS', { code: 'EPROTO' }, 'use http:'],
    ['a certificate of its own', { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' }, 'certificate is not trusted'],
    ['no response in time', { code: 'timeout' }, 'Store the event, respond 200'],
    [
      '301',
      { status: 301, responseHeaders: { location: 'https://shop.example/webhooks/' } },
      'redirects to https://shop.example/webhooks/',
    ],
    ['308 without location', { status: 308 }, 'redirects are not followed'],
    ['400', { status: 400 }, 'check the secret, the raw body and the tolerance'],
    ['401', { status: 401 }, 'login or CSRF check'],
    ['403', { status: 403 }, 'login or CSRF check'],
    ['419', { status: 419 }, 'CSRF check'],
    ['404', { status: 404 }, 'There is no route for /webhooks'],
    ['405', { status: 405 }, '/webhooks does not accept POST'],
    ['413', { status: 413 }, 'A body limit'],
    ['415', { status: 415 }, 'rejects the content type'],
    ['500', { status: 500 }, 'See its log'],
    [
      'a parsed object',
      { status: 500, responseBody: 'SyntaxError: Unexpected token o in JSON' },
      'a parsed object',
    ],
    [
      'a parsed object under Express',
      {
        status: 500,
        responseBody: 'must be of type string or an instance of Buffer',
        responseHeaders: { 'x-powered-by': 'Express' },
      },
      "express.raw({ type: 'application/json' })",
    ],
    [
      'a parsed object under Next.js',
      { status: 500, responseBody: '[object Object]', responseHeaders: { 'x-powered-by': 'Next.js' } },
      'await request.arrayBuffer()',
    ],
  ])('on %s', (_, failure, hint) => {
    expect(hintFor({ target, ...failure }, sent, doctor)).toContain(hint);
  });

  test('names the doctor where a delivery was refused, and only there', () => {
    expect(hintFor({ target, status: 400 }, sent, doctor)).toMatch(
      / To find out why: npx merchant-payments doctor$/,
    );
    expect(hintFor({ target, code: 'ECONNREFUSED' }, sent, doctor)).not.toContain('merchant-payments doctor');
  });

  test('does not take a receiver that has responded over http for one that speaks only https', () => {
    const https = 'A server that only speaks https';
    const failure = { target, code: 'ECONNRESET' };
    expect(hintFor(failure, sent, doctor)).toContain(https);
    expect(hintFor({ ...failure, hasResponded: true }, sent, doctor)).not.toContain(https);
  });

  test('knows which receivers have responded', async () => {
    let count = 0;
    const receiver = await listen(() => (++count === 1 ? { status: 500 } : 'hang up'));
    const sandbox = createSandbox({ webhook: receiver.url });
    const { event, delivery } = await sandbox.trigger('order.paid');
    expect(delivery?.status).toBe(500);
    const { hint } = await sandbox.redeliver(event.id);
    await receiver.close();
    expect(hint).toContain('See the log of your handler: it may have crashed.');
    expect(hint).not.toContain('https');
  });

  test('takes a route handler that throws for one that fails', () => {
    const error = 'Unexpected token o in JSON at position 1';
    expect(hintFor({ target: '(handler)', error }, sent, doctor)).toContain('a parsed object');
  });

  test('guesses at no cause of a 500 that tells none', () => {
    const hint = `Your handler failed. See its log. To find out why: npx merchant-payments doctor`;
    expect(hintFor({ target, status: 500, responseBody: 'Internal Server Error' }, sent, doctor)).toBe(hint);
  });

  test('blames no parsed body for a route handler that returns no Response', async () => {
    // @ts-expect-error as a handler in JavaScript might
    const sandbox = createSandbox({ webhook: () => undefined });
    const { delivery } = await sandbox.trigger('order.paid');
    expect(delivery?.error).toMatch(/^The handler returned no Response/);
    expect(delivery?.hint).toBe('Your handler failed. See its log. To find out why: await sandbox.doctor()');
  });

  const reportBytes = (body: string) => ({
    target,
    status: 400,
    responseBody: JSON.stringify({
      error: 'signature_mismatch',
      bytes: Buffer.byteLength(body),
      sha256: createHash('sha256').update(body).digest('hex'),
    }),
  });

  test.each([
    [sent, 'the right bytes, but its secret is probably not the one'],
    [
      JSON.stringify(JSON.parse(sent)),
      'was parsed and encoded again. We sent 53 bytes, your handler verified 49',
    ],
    ['', 'something else has already read it. We sent 53 bytes, your handler verified 0'],
    [`${sent}\n`, 'was changed on the way. We sent 53 bytes, your handler verified 54'],
  ])('on a 400 that tells what was verified, %j', (verified, hint) => {
    expect(hintFor(reportBytes(verified), sent, doctor)).toContain(hint);
  });
});

describe('a handler of this package', () => {
  const on = { 'order.paid': async () => undefined };

  test('with another secret shows that the secret differs, and the body does not', async () => {
    const sandbox = createSandbox({ webhook: handler({ secret: 'whsec_other', on }) });
    const { delivery } = await sandbox.trigger('order.paid');
    expect(delivery).toMatchObject({ ok: false, status: 400 });
    expect(delivery?.hint).toContain('its secret is probably not the one that signs these');
  });

  test('behind a body parser shows that the body was re-encoded', async () => {
    const secret = 'whsec_same';
    const verify = handler({ secret, on });
    const sandbox = createSandbox({
      webhookSecret: secret,
      webhook: async (request) => {
        const parsed = await request.json();
        return verify(
          new Request(request.url, {
            method: 'POST',
            headers: request.headers,
            body: JSON.stringify(parsed),
          }),
        );
      },
    });
    const { delivery, event } = await sandbox.trigger('order.paid');
    expect(delivery?.hint).toContain(
      `We sent ${event.body.length} bytes, your handler verified ${JSON.stringify(JSON.parse(event.body)).length}`,
    );
    sandbox.setWebhook(verify);
    expect((await sandbox.redeliver(event.id)).ok).toBe(true);
  });
});
