import { once } from 'node:events';
import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { createSandbox } from 'merchant-payments/sandbox';
import { sign } from 'merchant-payments/webhooks';
import { afterEach, describe, expect, test } from 'vitest';
import { holds, listen, type Receiver, type Verifying } from '../helpers/receiver.js';
import { permissions } from '../helpers/systems.js';
import { Command } from './command.js';

const command = new Command();
const secret = 'whsec_9f2c4e7a10b35d68c1e4';
const rawBody = Buffer.from(
  '{"type": "order.paid", "data": {"order_id": "ord_é", "amount": "1.00", "currency": "EUR"}}\r\n',
);

let receiver: Receiver | undefined;
afterEach(async () => {
  await receiver?.close();
  receiver = undefined;
});

/** Starts the command; `secret` is in its environment unless told otherwise, and never in its output. */
function start(args: string[], env: NodeJS.ProcessEnv = { PAYMENTS_WEBHOOK_SECRET: secret }) {
  const { child, ended } = command.start(args, env);
  return {
    child,
    ended: ended.then((result) => {
      expect(result.stdout + result.stderr).not.toContain(secret);
      return result;
    }),
  };
}

const run = (...args: Parameters<typeof start>) => start(...args).ended;

const verifying = (how: Verifying) =>
  listen((delivery) => (holds(delivery, secret, how) ? { status: 200 } : { status: 400 }));

describe('merchant-payments doctor', () => {
  test('says that all is good, and exits with 0', async () => {
    receiver = await verifying({});
    const { status, stdout } = await run(['doctor', receiver.url]);
    expect(stdout).toMatch(/✓ All good: .*\n$/);
    expect(status).toBe(0);
  });

  test('names the fault and the fix, and exits with 1', async () => {
    receiver = await verifying({ body: (body) => JSON.stringify(JSON.parse(body.toString())) });
    const { status, stdout } = await run(['doctor', receiver.url, '--verbose']);
    expect(stdout).toMatch(
      /^✗ Your handler verifies a body that was parsed and encoded again\.\n.*\n {2}Fix: .*express\.raw\(/,
    );
    expect(stdout).toMatch(/valid, JSON with uneven spaces +refused \(400\) .* ← must be accepted/);
    expect(status).toBe(1);
  });

  test('prints JSON for programs', async () => {
    receiver = await verifying({ toleranceMs: Infinity });
    const { status, stdout } = await run(['doctor', receiver.url, '--json']);
    expect(JSON.parse(stdout)).toMatchObject({
      ok: false,
      findings: [{ code: 'no_tolerance', severity: 'fault' }],
      warnings: [],
    });
    expect(status).toBe(1);
  });

  test('signs as it is told', async () => {
    receiver = await verifying({ encoding: 'base64' });
    const { status } = await run(['doctor', receiver.url, '--scheme', '{"encoding":"base64"}']);
    expect(status).toBe(0);
  });

  test('takes the scheme from a file of `identify --json`', async () => {
    receiver = await verifying({ encoding: 'base64' });
    command.write('body', rawBody);
    const headers = sign({ rawBody, secret, scheme: { encoding: 'base64' } });
    const given = (name: string) => headers[`x-service-${name}`] ?? '';
    const found = await run([
      ...['identify', '--body', 'body', '--signature', given('signature')],
      ...['--timestamp', given('timestamp'), '--json'],
    ]);
    command.write('scheme.json', found.stdout);
    expect((await run(['doctor', receiver.url, '--scheme', 'scheme.json'])).status).toBe(0);
  });

  test('asks about the amount that it is told', async () => {
    receiver = await verifying({});
    const { stdout } = await run(['doctor', receiver.url, '--amount', '19.90', '--currency', 'EUR']);
    const asJson = receiver.received.filter(({ headers }) => !`${headers['content-type']}`.includes('form'));
    const orders = asJson.map(({ body }) => JSON.parse(body.toString()).data);
    expect(new Set(orders.map(({ amount, currency }) => `${amount} ${currency}`))).toEqual(
      new Set(['19.90 EUR', '919.90 EUR']),
    );
    expect(stdout).toContain('of 19.90 EUR. If your shop matches payments by amount');
    const wrong = await run(['doctor', receiver.url, '--amount', '1,50']);
    expect(wrong).toMatchObject({ status: 2, stderr: expect.stringContaining('--amount "1,50"') });
  });

  test('says on stderr what it waits for', async () => {
    receiver = await listen(async (delivery) => {
      if (!holds(delivery, secret)) return { status: 400 };
      await new Promise((resolve) => setTimeout(resolve, delivery.body.includes('Café') ? 1500 : 0));
      return { status: 200 };
    });
    const { status, stdout, stderr } = await run(['doctor', receiver.url, '--json']);
    expect(stderr).toContain('non-ASCII letters');
    expect(JSON.parse(stdout).ok).toBe(true);
    expect(status).toBe(0);
  });

  test('names the code of a finding, and ends with the verdict, on one screen', async () => {
    receiver = await listen(() => ({ status: 200 }));
    const { stdout } = await run(['doctor', receiver.url]);
    expect(stdout).toContain('[answers_everything]');
    const lines = stdout.trim().split('\n');
    expect(lines.at(-1)).toMatch(/^✗ DANGER: /);
    expect(lines.reduce((rows, line) => rows + Math.ceil((line.length || 1) / 100), 0)).toBeLessThan(40);
  });

  test('has a running sandbox examine its webhook, where no URL is given', async () => {
    receiver = await verifying({});
    const sandbox = createSandbox({ webhook: receiver.url, webhookSecret: secret });
    await sandbox.listen();
    try {
      const { status, stdout } = await run(['doctor', '--sandbox', sandbox.url], {});
      expect(stdout).toMatch(/✓ All good: .*\n$/);
      expect(status).toBe(0);
    } finally {
      await sandbox.close();
    }
  });

  test('stays at home', async () => {
    const { status, stderr } = await run(['doctor', 'http://203.0.113.9/webhooks']);
    expect(stderr).toContain('neither on this machine nor in a private network');
    expect(stderr).toContain('To send there, pass --allow-remote.');
    expect(stderr).toMatch(/^The URL of your webhook: 203\.0\.113\.9 is neither /);
    expect(status).toBe(2);
  });

  test.each(['http://127.0.0.1:99999/', 'http://user:pw@127.0.0.1/'])(
    'refuses %s, to which nothing can be sent',
    async (url) => {
      const { status, stderr } = await run(['doctor', url]);
      expect(stderr).toContain(
        'The URL of your webhook: pass an absolute http: or https: URL without user and password.\nSee: ',
      );
      expect(status).toBe(2);
    },
  );

  test('asks for the secret where there is a terminal, and says so where there is none', async () => {
    const { status, stderr } = await run(['doctor', 'http://127.0.0.1:9/'], {});
    expect(stderr).toContain('Set PAYMENTS_WEBHOOK_SECRET');
    expect(status).toBe(1);
  });

  test.each(['3000', 'POST', 'http://'])('refuses %s, which is no URL', async (url) => {
    expect(await run(['doctor', url])).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('Pass one URL: your webhook, such as http://localhost:3000/webhooks.'),
    });
  });

  test('without a secret, the running sandbox whose webhook that is examines it, in any way of writing the URL', async () => {
    receiver = await verifying({});
    const sandbox = createSandbox({ webhook: receiver.url, webhookSecret: secret });
    await sandbox.listen();
    const { stdout } = await run(['doctor', receiver.url.replace('http://', '')], {
      SANDBOX_URL: sandbox.url,
    });
    expect(stdout).toContain('✓ All good: ');
    await sandbox.close();
  });

  test('reads the secret from .env, and says so', async () => {
    receiver = await verifying({});
    command.write('.env', `PAYMENTS_WEBHOOK_SECRET=${secret}\n`);
    const { stdout, stderr } = await run(['doctor', '--url', receiver.url], {});
    rmSync(join(command.folder, '.env'));
    expect(stderr).toContain('PAYMENTS_WEBHOOK_SECRET was read from .env.\n');
    expect(stdout).toContain('✓ All good: ');
  });

  test('says how to go without a sandbox where none runs', async () => {
    const { status, stderr } = await run(['doctor', '--sandbox', 'http://127.0.0.1:9'], {});
    expect(stderr).toMatch(/^No sandbox responds at .*\nOr pass the URL of your webhook: /);
    expect(status).toBe(1);
  });

  test('refuses an invalid scheme', async () => {
    expect(await run(['doctor', 'http://127.0.0.1:9/', '--scheme', 'base64'])).toMatchObject({ status: 2 });
    const wrong = await run(['doctor', 'http://127.0.0.1:9/', '--scheme', '{"encoding":"base32"}']);
    expect(wrong).toMatchObject({ status: 2, stderr: expect.stringContaining('scheme.encoding') });
    const other = await run(['doctor', 'http://127.0.0.1:9/', '--scheme', '{"secretEncoding":"hex"}']);
    expect(other).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/^PAYMENTS_WEBHOOK_SECRET: pass hex,/),
    });
  });
});

describe('merchant-payments identify', () => {
  test('prints the option to paste', async () => {
    command.write('body', rawBody);
    const headers = sign({ rawBody, secret, scheme: { content: '{timestamp}{body}', encoding: 'base64' } });
    const given = (name: string) => headers[`x-service-${name}`] ?? '';
    const args = ['--body', 'body', '--signature', given('signature'), '--timestamp', given('timestamp')];
    const { status, stdout } = await run(['identify', ...args]);
    expect(stdout).toContain("scheme: { content: '{timestamp}{body}', encoding: 'base64' },");
    expect(status).toBe(0);
  });

  test('says plainly that none fits, and what to ask', async () => {
    command.write('body', rawBody);
    const args = ['--body', 'body', '--signature', 'ab'.repeat(32), '--timestamp', '1767225600'];
    const { status, stdout } = await run(['identify', ...args]);
    expect(stdout).toMatch(/^✗ None of the \d+ known schemes/);
    expect(stdout).toContain('Ask the service:\n  1. ');
    expect(status).toBe(1);
  });

  test('says that the timestamp is missing', async () => {
    command.write('body', rawBody);
    const signature = sign({ rawBody, secret })['x-service-signature'] ?? '';
    const { status, stdout } = await run(['identify', '--body', 'body', '--signature', signature]);
    expect(stdout).toContain('No timestamp was given');
    expect(stdout).toContain('--timestamp');
    expect(status).toBe(1);
  });

  test('prints JSON for programs', async () => {
    command.write('body', rawBody);
    const headers = sign({ rawBody, secret });
    const given = (name: string) => headers[`x-service-${name}`] ?? '';
    const args = ['--body', 'body', '--signature', given('signature'), '--timestamp', given('timestamp')];
    expect(JSON.parse((await run(['identify', ...args, '--json'])).stdout)).toMatchObject({
      found: true,
      scheme: {},
    });
  });

  test.concurrent.each([
    [['identify'], 2, 'Pass one file with a delivery, or --body'],
    [['identify', '--body', 'body'], 2, '--signature is missing'],
    [['identify', '--signature', 'ab'], 2, '--body is missing'],
    [['identify', 'one.json', '--signature', 'ab'], 2, 'Pass one file'],
    [['identify', 'body'], 1, 'If it is a raw body, pass it with --body.'],
    [['identify', 'absent.json'], 1, 'cannot be read'],
    [['identify', '--body', 'absent', '--signature', 'ab'], 1, 'cannot be read'],
    [['identify', '--secret', 'whsec'], 2, '--secret is not a flag'],
  ])('%j is refused', async (args, status, message) => {
    command.write('body', rawBody);
    expect(await run(args)).toMatchObject({ status, stderr: expect.stringContaining(message) });
  });
});

describe('merchant-payments capture', () => {
  async function waiting(args: string[], env?: NodeJS.ProcessEnv) {
    const { child, ended } = start(['capture', '--port', '0', ...args], env);
    let told = '';
    while (!told.includes('Ctrl+C')) told += (await once(child.stderr, 'data'))[0];
    const url = /http:\S+/.exec(told)?.[0] ?? '';
    return { url, ended };
  }

  test('stores one delivery byte for byte, responds 500, and says how it is signed', async () => {
    const { url, ended } = await waiting(['--out', 'one.json']);
    const headers = {
      ...sign({ rawBody, secret, scheme: { prefix: 'sha256=' } }),
      'content-type': 'application/json',
    };
    expect((await fetch(url)).status).toBe(405);
    const unsigned = await fetch(`${url}/other`, { method: 'POST', body: '{}' });
    expect([unsigned.status, await unsigned.text()]).toEqual([
      500,
      'Not captured: x-service-signature is missing.\n',
    ]);
    expect((await fetch(`${url}/webhooks?a=b`, { method: 'POST', headers, body: rawBody })).status).toBe(500);
    const { status, stdout } = await ended;
    expect(stdout).toContain("scheme: { prefix: 'sha256=' },");
    expect(status).toBe(0);
    const file = join(command.folder, 'one.json');
    const kept = JSON.parse(readFileSync(file, 'utf8'));
    expect(Buffer.from(kept.bodyBase64, 'base64')).toEqual(rawBody);
    expect(kept.path).toBe('/webhooks?a=b');
    expect(statSync(file).mode & 0o777).toBe(permissions(0o600));
    expect((await run(['identify', 'one.json'])).stdout).toBe(stdout);
  });

  test('outlives a POST that breaks off in its body, and waits on', async () => {
    const { url, ended } = await waiting(['--out', 'after-break.json']);
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    await once(socket, 'connect');
    socket.write(
      'POST /webhooks HTTP/1.1\r\nhost: a\r\nx-service-signature: ab\r\ncontent-length: 100\r\n\r\n{"ty',
    );
    await new Promise((resolve) => setTimeout(resolve, 100));
    socket.destroy();
    await fetch(url, { method: 'POST', headers: sign({ rawBody, secret }), body: rawBody });
    const { status, stderr } = await ended;
    expect(stderr).toContain('broke off');
    expect(status).toBe(0);
  });

  test('responds 413 to a body over 1 MiB, and waits on', async () => {
    const { url, ended } = await waiting(['--out', 'after-large.json']);
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    const size = 30 * 1024 * 1024;
    // As senders do that write the whole body before they read.
    socket.write(`POST / HTTP/1.1\r\nhost: a\r\nx-service-signature: ab\r\ncontent-length: ${size}\r\n\r\n`);
    await new Promise((resolve) => socket.write(Buffer.alloc(size), resolve));
    const [head] = await once(socket, 'data');
    expect(String(head)).toMatch(/^HTTP\/1\.1 413 /);
    socket.destroy();
    await fetch(url, { method: 'POST', headers: sign({ rawBody, secret }), body: rawBody });
    expect((await ended).status).toBe(0);
  });

  test('loses no delivery where there is no secret, and writes over no file', async () => {
    const { url, ended } = await waiting([], {});
    await fetch(url, { method: 'POST', headers: sign({ rawBody, secret }), body: rawBody });
    expect(await ended).toMatchObject({ status: 1 });
    const [file = ''] = readdirSync(command.folder).filter((name) => name.startsWith('delivery-'));
    expect((await run(['identify', file])).status).toBe(0);

    // Before it waits: the delivery would be lost.
    const stderr = `${file} exists already. Pass another --out.\n`;
    expect(await run(['capture', '--port', '0', '--out', file])).toEqual({ status: 1, stdout: '', stderr });
    const nowhere = await run(['capture', '--port', '0', '--out', 'missing/delivery.json']);
    expect(nowhere.stderr).toBe('missing/delivery.json cannot be written (ENOENT). Pass another --out.\n');
  });
});
