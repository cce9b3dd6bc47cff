import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { createSandbox, type SandboxOptions } from 'merchant-payments/sandbox';
import { sign } from 'merchant-payments/webhooks';
import { describe, expect, onTestFinished, test } from 'vitest';
import { callCommand, environment, testRefusals, useProgram } from '../helpers/command.js';
import { isInstalled, runProcess } from '../helpers/processes.js';
import {
  holds,
  listen,
  type ReceivedDelivery,
  type Reply,
  type VerificationParts,
} from '../helpers/receiver.js';
import { isWindows } from '../helpers/systems.js';

const program = useProgram();
const secret = 'whsec_9f2c4e7a10b35d68c1e4';
const known = { PAYMENTS_WEBHOOK_SECRET: secret };

/** Runs the command, which never prints the secret. */
async function doctor(args: string[], env: NodeJS.ProcessEnv = known) {
  const result = await callCommand(['doctor', ...args], env);
  expect(result.stdout + result.stderr).not.toContain(secret);
  return result;
}

async function startReceiver(answer: (delivery: ReceivedDelivery) => Reply | Promise<Reply>) {
  const receiver = await listen(answer);
  onTestFinished(() => receiver.close());
  return receiver;
}

const makeReceiver = (how: VerificationParts) =>
  startReceiver((delivery) => (holds(delivery, secret, how) ? { status: 200 } : { status: 400 }));

async function sandboxFor(webhook: SandboxOptions['webhook']) {
  const sandbox = await createSandbox({ webhook, webhookSecret: secret }).listen();
  onTestFinished(() => sandbox.close());
  return sandbox;
}

const noUrl = 'Pass one URL: your webhook, such as http://localhost:3000/webhooks.';
const noTarget =
  'The URL of your webhook must be an absolute http: or https: URL without user and password.\nSee: ';

testRefusals([
  ...['3000', 'POST', 'http://'].map((url) => [['doctor', url], noUrl, { env: known }] as const),
  ...['http://127.0.0.1:99999/', 'http://user:pw@127.0.0.1/'].map(
    (url) => [['doctor', url], noTarget, { env: known }] as const,
  ),
  [
    ['doctor', 'http://203.0.113.9/webhooks'],
    'The URL of your webhook 203.0.113.9 is neither on this machine nor in a private network. To send there, pass --allow-remote.',
    { env: known },
  ],
  [
    ['doctor', 'http://127.0.0.1:9/', '--amount', '1,50'],
    '--amount must be a decimal amount above zero',
    { env: known },
  ],
  [['doctor', 'http://127.0.0.1:9/', '--scheme', 'base64'], '--scheme: "base64" is neither', { env: known }],
  [['doctor', 'http://127.0.0.1:9/', '--scheme', '{"encoding":"base32"}'], 'scheme.encoding', { env: known }],
  [
    ['doctor', 'http://127.0.0.1:9/', '--scheme', '{"secretEncoding":"hex"}'],
    'PAYMENTS_WEBHOOK_SECRET must be hex,',
    { env: known, status: 1 },
  ],
  [
    ['doctor', 'http://127.0.0.1:9/'],
    'Set PAYMENTS_WEBHOOK_SECRET to your webhook secret: there is no terminal to ask on. Or pass the address of your sandbox: --sandbox <url>\n',
    { status: 1 },
  ],
  [
    ['doctor', '--sandbox', 'http://127.0.0.1:9'],
    'Or pass the URL of your webhook: merchant-payments doctor http://localhost:3000/webhooks\n',
    { status: 1 },
  ],
]);

describe('merchant-payments doctor', () => {
  test('says that all is good, and exits with 0', async () => {
    const { url } = await makeReceiver({});
    const { status, stdout } = await doctor([url]);
    expect(stdout).toMatch(/✓ All good: .*\n$/);
    expect(status).toBe(0);
  });

  test('names the fault and the fix, and exits with 1', async () => {
    const { url } = await makeReceiver({ body: (body) => JSON.stringify(JSON.parse(body.toString())) });
    const { status, stdout } = await doctor([url, '--verbose']);
    expect(stdout).toMatch(
      /^✗ Your handler verifies a body that was parsed and encoded again\.\n.*\n {2}Fix: .*express\.raw\(/,
    );
    expect(stdout).toMatch(/valid, JSON with uneven spaces +refused \(400\) .* ← must be accepted/);
    expect(status).toBe(1);
  });

  test('prints JSON for programs', async () => {
    const { url } = await makeReceiver({ toleranceMs: Infinity });
    const { status, stdout } = await doctor([url, '--json']);
    expect(JSON.parse(stdout)).toMatchObject({
      ok: false,
      findings: [{ code: 'no_tolerance', fix: expect.stringContaining('leave toleranceSeconds out') }],
      warnings: [],
    });
    expect(status).toBe(1);
  });

  test('signs by the scheme that is passed as JSON or as a file of `identify --json`', async () => {
    const { url } = await makeReceiver({ encoding: 'base64' });
    expect((await doctor([url, '--scheme', '{"encoding":"base64"}'])).status).toBe(0);
    const rawBody = '{"type":"order.paid"}';
    const headers = sign({ rawBody, secret, scheme: { encoding: 'base64' } });
    const delivery = join(
      program.folder,
      program.write('delivery.json', JSON.stringify({ headers, rawBody })),
    );
    const found = await callCommand(['identify', delivery, '--json'], known);
    const scheme = join(program.folder, program.write('scheme.json', found.stdout));
    expect((await doctor([url, '--scheme', scheme])).status).toBe(0);
  });

  test('sends deliveries about the amount in --amount', async () => {
    const receiver = await makeReceiver({});
    const { stdout } = await doctor([receiver.url, '--amount', '19.90', '--currency', 'EUR']);
    const asJson = receiver.received.filter(({ headers }) => !`${headers['content-type']}`.includes('form'));
    const orders = asJson.map(({ body }) => JSON.parse(body.toString()).data);
    expect(new Set(orders.map(({ amount, currency }) => `${amount} ${currency}`))).toEqual(
      new Set(['19.90 EUR', '919.90 EUR']),
    );
    expect(stdout).toContain('of 19.90 EUR. If your shop matches payments by amount');
  });

  test('says on stderr what it waits for', async () => {
    const { url } = await startReceiver(async (delivery) => {
      if (!holds(delivery, secret)) return { status: 400 };
      await new Promise((resolve) => setTimeout(resolve, delivery.body.includes('Café') ? 1500 : 0));
      return { status: 200 };
    });
    const { status, stdout, stderr } = await doctor([url, '--json']);
    expect(stderr).toContain('non-ASCII letters');
    expect(JSON.parse(stdout).ok).toBe(true);
    expect(status).toBe(0);
  });

  test.each<[string, (delivery: ReceivedDelivery) => Reply, string, RegExp]>([
    ['accepts everything', () => ({ status: 200 }), 'answers_everything', /^✗ DANGER: /],
    [
      'echoes the whole delivery',
      ({ headers, body }) => ({ status: 200, body: JSON.stringify({ headers, body: `${body}` }) }),
      'refuses_with_success',
      /^✗ Your handler responds with success to a forged delivery/,
    ],
    [
      'has another secret, and says so at length',
      () => ({ status: 400, body: 'The signature of this delivery does not match. '.repeat(9) }),
      'secret_or_scheme',
      /^✗ Your handler rejects every valid delivery/,
    ],
    [
      'expects another scheme',
      (delivery) => ({ status: holds(delivery, secret, { encoding: 'base64' }) ? 200 : 400 }),
      'other_scheme',
      /^✗ Your handler expects a different scheme/,
    ],
    [
      'has three faults',
      (delivery) => {
        const body = (bytes: Buffer) => bytes.toString('latin1').trim();
        return { status: holds(delivery, secret, { body, toleranceMs: Infinity }) ? 200 : 400 };
      },
      'no_tolerance',
      /^✗ Your handler trims the body .* \(And 2 more, above\.\)$/,
    ],
  ])(
    'reports a receiver that %s on a screen of 40 lines, the verdict last',
    async (_, answer, code, last) => {
      const { url } = await startReceiver(answer);
      const { stdout } = await doctor([url]);
      expect(stdout).toContain(`[${code}]`);
      const lines = stdout.trimEnd().split('\n');
      expect(lines.at(-1)).toMatch(last);
      const rows = lines.map((line) => Math.ceil((line.length || 1) / 80));
      expect(rows.reduce((sum, count) => sum + count, 0)).toBeLessThan(40);
    },
  );

  test('has a running sandbox examine its webhook if no URL is given', async () => {
    const sandbox = await sandboxFor((await makeReceiver({})).url);
    const { status, stdout } = await doctor(['--sandbox', sandbox.url], {});
    expect(stdout).toMatch(/✓ All good: .*\n$/);
    expect(status).toBe(0);
  });

  test('without a secret, has the running sandbox whose webhook that is examine it, in any way of writing the URL', async () => {
    const { url } = await makeReceiver({});
    const sandbox = await sandboxFor(url);
    const { stdout } = await doctor([url.replace('http://', '')], { SANDBOX_URL: sandbox.url });
    expect(stdout).toContain('✓ All good: ');
  });

  test('without a secret, names the webhook of a running sandbox where the URL is another', async () => {
    const { url } = await makeReceiver({});
    const sandbox = await sandboxFor(url);
    const { status, stderr } = await doctor([`${url}-typo`], { SANDBOX_URL: sandbox.url });
    expect(stderr).toContain(
      ` A running sandbox sends to ${new URL(url).href}: to have it examined, pass no URL.\n`,
    );
    expect(status).toBe(1);
  });

  test.skipIf(isWindows || !isInstalled('python3'))(
    'ends with 130 and no advice by Ctrl-C at the prompt for the secret',
    async () => {
      const command = [process.execPath, program.bin, 'doctor', 'http://127.0.0.1:9/'];
      const env = environment({ SANDBOX_URL: 'http://127.0.0.1:9' });
      const { stdout } = await runProcess('python3', ['-c', interruptedPrompt, ...command], { env });
      expect(stdout).toBe('130 Webhook secret (not shown; or set PAYMENTS_WEBHOOK_SECRET):\n');
    },
  );

  test('reads the secret from .env, and says so', async () => {
    const { url } = await makeReceiver({});
    program.write('.env', `PAYMENTS_WEBHOOK_SECRET=${secret}\n`);
    onTestFinished(() => rmSync(join(program.folder, '.env')));
    const { status, stdout, stderr } = await program.run(['doctor', '--url', url]);
    expect(stderr).toContain('PAYMENTS_WEBHOOK_SECRET was read from .env.\n');
    expect(stdout).toContain('✓ All good: ');
    expect(status).toBe(0);
  });
});

/** Runs a program on a terminal, types Ctrl-C at its prompt, and prints its exit code and what it printed. */
const interruptedPrompt = `
import os, pty, sys
pid, fd = pty.fork()
if pid == 0:
    os.execvp(sys.argv[1], sys.argv[1:])
said = b''
while b'): ' not in said:
    said += os.read(fd, 1024)
os.write(fd, b'\\x03')
try:
    while True:
        said += os.read(fd, 1024)
except OSError:
    pass
_, status = os.waitpid(pid, 0)
print(os.waitstatus_to_exitcode(status), said.decode().strip())
`;
