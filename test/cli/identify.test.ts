import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSandbox, type UnspecifiedChoices } from 'merchant-payments/sandbox';
import { type SignatureScheme, sign } from 'merchant-payments/webhooks';
import { afterAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { eventLinks } from '../../src/sandbox/service/event.js';
import { callCommand, testRefusals } from '../helpers/command.js';

const folder = mkdtempSync(join(tmpdir(), 'identify-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Writes a file and returns its path. */
function writeFile(name: string, content: string | Uint8Array): string {
  writeFileSync(join(folder, name), content);
  return join(folder, name);
}

const secret = 'whsec_9f2c4e7a10b35d68c1e4';
const known = { PAYMENTS_WEBHOOK_SECRET: secret };
const rawBody = Buffer.from(
  '{"type": "order.paid", "data": {"order_id": "ord_é", "amount": "1.00", "currency": "EUR"}}\r\n',
);
const body = writeFile('body', rawBody);

/** Runs the command, which prints neither the secret nor a key. */
async function identify(args: string[], env: NodeJS.ProcessEnv = known) {
  const result = await callCommand(['identify', ...args], env);
  for (const hidden of [secret, env.PAYMENTS_API_KEY ?? secret])
    expect(result.stdout + result.stderr).not.toContain(hidden);
  return result;
}

/** Returns the flags of a delivery. */
function signWith(key: string, scheme: Partial<SignatureScheme> = {}) {
  const headers = sign({ rawBody, secret: key, scheme });
  const headerOf = (name: string) => headers[`x-service-${name}`] ?? '';
  return ['--body', body, '--signature', headerOf('signature'), '--timestamp', headerOf('timestamp')];
}

testRefusals([
  [['identify'], 'Pass one file with a delivery, or --body'],
  [['identify', '--body', 'body'], '--signature is missing'],
  [['identify', '--signature', 'ab'], '--body is missing'],
  [['identify', 'one.json', '--signature', 'ab'], 'Pass one file'],
  [['identify', body], 'If it is a raw body, pass it with --body.', { status: 1 }],
  [['identify', 'absent.json'], 'cannot be read', { status: 1 }],
  [['identify', '--body', 'absent', '--signature', 'ab'], 'cannot be read', { status: 1 }],
  [['identify', '--secret', 'whsec'], '--secret is not a flag'],
  [['identify', 'missing.json', '--url', 'foo'], '--url "foo" is not an http: URL.'],
  [['identify', writeFile('other.json', '{"a":1}')], 'other.json holds no delivery', { status: 1 }],
]);

describe('merchant-payments identify', () => {
  test('tries the API key too, and says that it is the key', async () => {
    const env = { PAYMENTS_WEBHOOK_SECRET: 'whsec_another', PAYMENTS_API_KEY: 'service_test_1' };
    const { status, stdout } = await identify(signWith('service_test_1'), env);
    expect(stdout).toContain(
      '- PAYMENTS_API_KEY signed it, not PAYMENTS_WEBHOOK_SECRET: pass the API key as the secret.',
    );
    expect(status).toBe(0);
  });

  test('prints the option to paste', async () => {
    const { status, stdout } = await identify(
      signWith(secret, { content: '{timestamp}{body}', encoding: 'base64' }),
    );
    expect(stdout).toContain("scheme: { content: '{timestamp}{body}', encoding: 'base64' },");
    expect(status).toBe(0);
  });

  test('prints JSON for programs', async () => {
    const { stdout } = await identify([...signWith(secret), '--json']);
    expect(JSON.parse(stdout)).toMatchObject({ found: true, scheme: {} });
  });

  test('says that no scheme fits, and what to ask the service', async () => {
    const args = ['--body', body, '--signature', 'ab'.repeat(32), '--timestamp', '1767225600'];
    const { status, stdout } = await identify(args);
    expect(stdout).toMatch(/^✗ None of the \d+ known schemes/);
    expect(stdout).toContain('Ask the service:\n  1. ');
    expect(status).toBe(1);
  });

  test('says that the timestamp is missing', async () => {
    const { status, stdout } = await identify(signWith(secret).slice(0, 4));
    expect(stdout).toContain('No timestamp was given');
    expect(stdout).toContain('--timestamp');
    expect(status).toBe(1);
  });

  test('takes a delivery that a receiver has stored', async () => {
    const text = rawBody.toString();
    const headers = sign({ rawBody, secret, scheme: { encoding: 'base64' } });
    const stored = { key: 'order.paid:ord_é', rawBody: text, headers, receivedAt: '2026-01-01T00:00:00Z' };
    const asBase64 = { rawBody: rawBody.toString('base64'), encoding: 'base64' };
    for (const delivery of [stored, { ...stored, ...asBase64 }]) {
      const { status, stdout } = await identify([writeFile('stored.json', JSON.stringify(delivery))]);
      expect([status, stdout]).toEqual([0, expect.stringContaining("scheme: { encoding: 'base64' },")]);
    }
  });
});

describe('merchant-payments identify --link', () => {
  const key = 'service_test_a1b2c3d4e5f6';
  const event = '{"type":"order.paid","data":{"order_id":"ord_12345678","amount":"1.00","currency":"USD"}}';
  const forms = Object.keys(eventLinks).filter((name): name is keyof typeof eventLinks => name !== 'none');

  const findLink = (content: string, env: NodeJS.ProcessEnv, ...flags: string[]) =>
    identify(['--body', writeFile('event.json', content), '--link', ...flags], env);

  /** Starts a sandbox with an event whose checkout really exists. */
  async function capturePayment(unspecified: Partial<UnspecifiedChoices>) {
    const sandbox = await createSandbox({ unspecified }).listen();
    onTestFinished(() => sandbox.close());
    const { event } = await sandbox.trigger('order.paid');
    const env = { PAYMENTS_API_KEY: sandbox.apiKey, PAYMENTS_BASE_URL: sandbox.url };
    return { sandbox, env, content: event.body, checkoutId: sandbox.checkouts[0]?.id };
  }

  /** Starts a service that responds in one way. */
  async function service(respond: RequestListener) {
    const server = createServer(respond).listen(0, '127.0.0.1');
    onTestFinished(() => void server.close().closeAllConnections());
    await once(server, 'listening');
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : '';
    return { PAYMENTS_API_KEY: key, PAYMENTS_BASE_URL: `http://127.0.0.1:${port}` };
  }

  test.each(forms)('names %s, and the sandbox option that does the same', async (eventLink) => {
    const { sandbox, env, content, checkoutId } = await capturePayment({ eventLink });
    const before = sandbox.requests.length;
    const { status, stdout } = await findLink(content, env, '--json');
    expect(JSON.parse(stdout)).toMatchObject({
      found: true,
      field: eventLink === 'order_id' ? 'data.order_id' : eventLink,
      checkoutId,
      sandbox: eventLink,
      undocumented: eventLink === 'order_id' ? [] : [eventLink],
    });
    expect(status).toBe(0);
    const asked = sandbox.requests.slice(before).map(({ method, path }) => `${method} ${path}`);
    expect(asked.at(-1)).toBe(`GET /v1/checkouts/${checkoutId}`);
    expect(asked.length).toBeLessThanOrEqual(10);
  });

  test('names no field if nothing in the event names the checkout', async () => {
    const { env, content } = await capturePayment({});
    const { status, stdout } = await findLink(content, env);
    expect(stdout).toMatch(/^✗ No field of this event names its checkout session: .*data\.order_id/);
    expect(status).toBe(1);
  });

  test('names as JSON the option that does the same: none where nothing is found, null where there is no such option', async () => {
    const { env, content, checkoutId } = await capturePayment({});
    const none = await findLink(content, env, '--json');
    expect(JSON.parse(none.stdout)).toMatchObject({ found: false, sandbox: 'none' });
    const named = JSON.stringify({ ...JSON.parse(content), cart: checkoutId });
    const other = await findLink(named, env, '--json');
    expect(JSON.parse(other.stdout)).toMatchObject({ found: true, field: 'cart', sandbox: null });
  });

  test('needs nothing of a checkout but its id', async () => {
    const found = JSON.stringify({ code: 0, message: 'success', data: { id: 'chk_a1b2c3d4' } });
    const env = await service((_, response) => response.end(found));
    const content = '{"type":"order.paid","data":{"order_id":"ord_1","checkout_id":"chk_a1b2c3d4"}}';
    const { status, stdout } = await findLink(content, env, '--json');
    expect(JSON.parse(stdout)).toMatchObject({ found: true, field: 'data.checkout_id' });
    expect(status).toBe(0);
  });

  test.each([200, 400, 404, 410, 422])('takes %s for a checkout that is not there', async (status) => {
    const env = await service((_, response) =>
      response.writeHead(status).end('{"code":1001,"message":"Unknown"}'),
    );
    expect(await findLink(event, env)).toMatchObject({
      status: 1,
      stdout: expect.stringMatching(/^✗ No field/),
    });
  });

  test.each<[string, RequestListener, string]>([
    [
      'a refused key',
      (_, response) => response.writeHead(401).end(),
      'returned 401. The API key was refused',
    ],
    [
      'a redirect',
      (_, response) => response.writeHead(302, { location: '/elsewhere' }).end(),
      'returned 302, but the response cannot be used: it redirects to',
    ],
    ['a failure of the service', (_, response) => response.writeHead(503).end(), 'returned 503'],
    ['a web page', (_, response) => response.end('<html>'), 'not valid JSON. Check PAYMENTS_BASE_URL.'],
    ['a connection that is closed', (request) => request.destroy(), 'got no response'],
  ])('tells %s from a checkout that is not there', async (_what, respond, words) => {
    expect(await findLink(event, await service(respond))).toMatchObject({
      status: 1,
      stdout: '',
      stderr: expect.stringContaining(words),
    });
  });

  test('says that no response came in time', async () => {
    const { setTimeout } = globalThis;
    vi.spyOn(globalThis, 'setTimeout').mockImplementation((run, ms = 0) => setTimeout(run, ms / 100));
    expect(await findLink(event, await service(() => {}))).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('timed out after 10000 ms'),
    });
  });

  test.each([
    [{ PAYMENTS_BASE_URL: 'http://127.0.0.1:1' }, 'Set PAYMENTS_API_KEY'],
    [{ PAYMENTS_API_KEY: key }, 'Set PAYMENTS_BASE_URL'],
    [
      { PAYMENTS_API_KEY: key, PAYMENTS_BASE_URL: 'http://203.0.113.7' },
      'PAYMENTS_BASE_URL is http: to 203.0.113.7, so the API key would be sent in clear text. Use https:.',
    ],
    [
      { PAYMENTS_API_KEY: key, PAYMENTS_BASE_URL: 'https://a:b@shop.example' },
      'PAYMENTS_BASE_URL contains credentials',
    ],
    [
      { PAYMENTS_API_KEY: key, PAYMENTS_BASE_URL: 'https://shop.example/v1' },
      'PAYMENTS_BASE_URL ends in /v1',
    ],
    [
      { PAYMENTS_API_KEY: `"${key}"`, PAYMENTS_BASE_URL: 'https://shop.example' },
      'PAYMENTS_API_KEY is in quotes',
    ],
  ])('refuses an environment that cannot work: %j', async (env, words) => {
    expect(await findLink(event, env)).toMatchObject({ status: 1, stderr: expect.stringContaining(words) });
  });
});
