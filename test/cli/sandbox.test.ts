import { once } from 'node:events';
import {
  existsSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { createSandbox } from 'merchant-payments/sandbox';
import { verify } from 'merchant-payments/webhooks';
import { describe, expect, onTestFinished, test } from 'vitest';
import { escapeInvisible } from '../../src/input/visible.js';
import { callCommand, environment, hostile, testRefusals, useProgram } from '../helpers/command.js';
import { isInstalled, runProcess, startProcess } from '../helpers/processes.js';
import { listen } from '../helpers/receiver.js';
import { endsAtOnce, isWindows, permissions } from '../helpers/systems.js';

const program = useProgram();
const testSignal = test.skipIf(endsAtOnce);

/** Starts a sandbox on a free port; `log()` is what it has printed. */
async function serve(args: readonly string[] = [], env: NodeJS.ProcessEnv = {}) {
  const { child, output, ended } = program.start(['sandbox', '--port', '0', ...args], env);
  const log = () => output.stdout;
  await expect.poll(log, { timeout: 20_000 }).toContain('Ctrl+C');
  const url = /PAYMENTS_BASE_URL=(\S+)/.exec(log())?.[1] ?? '';
  const end = async (signal: NodeJS.Signals) => {
    child.kill(signal);
    return (await ended).status;
  };
  return { child, url, log, end, state: () => json(`${url}/_sandbox/state`) };
}

/** Starts a sandbox that prints JSON; `lines()` are those that it has printed. */
async function serveJson(args: readonly string[] = [], env: NodeJS.ProcessEnv = {}) {
  const { child, output, ended } = program.start(['sandbox', '--port', '0', '--json', ...args], env);
  const lines = () =>
    output.stdout
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line));
  await expect.poll(() => lines().length, { timeout: 20_000 }).toBeGreaterThan(0);
  return { child, ended, lines, ready: lines()[0] };
}

const json = async (url: string, init: RequestInit = {}) => (await fetch(url, init)).json();

/** Calls the sandbox's API with the published key. */
const api = (url: string, path: string, body?: object) =>
  json(`${url}/v1${path}`, {
    headers: { 'x-api-key': 'service_test_sandbox_0000', 'content-type': 'application/json' },
    ...(body && { method: 'POST', body: JSON.stringify(body) }),
  });

/** A receiver that responds with one status and text. */
async function serveStatus(status: number, body = '') {
  const receiver = await listen(() => ({ status, body, headers: { 'content-type': 'text/plain' } }));
  onTestFinished(() => receiver.close());
  return receiver;
}

const newFolder = () => mkdtempSync(join(program.folder, 'data-'));
const newData = () => join(newFolder(), 'data.json');

testRefusals([
  [['sandbox'], 'NODE_ENV is production', { env: { NODE_ENV: 'production' }, status: 1 }],
  [['sandbox', '--host', ''], '--host is empty. Pass <address>, or leave it out.'],
  [
    ['sandbox', '--host', '192.0.2.1'],
    'of 192.0.2.1 (EADDRNOTAVAIL). Pass another host or port.',
    { status: 1 },
  ],
  [['sandbox', '--allow-host', 'a b'], '--allow-host "a b" is not a host name.'],
  [['sandbox', '--allow-host', 'http://a.test'], '--allow-host "http://a.test" is not a host name.'],
  [['sandbox'], 'SANDBOX_PUBLIC_URL must be an origin', { env: { SANDBOX_PUBLIC_URL: 'localhost' } }],
  [['sandbox', '--api-key', 'service_live_1'], '--api-key begins with service_live_: a live key moves'],
  [['sandbox', '--api-key', '"abc"'], '--api-key is in quotes or <…>. Remove them.'],
  [['sandbox'], 'SANDBOX_WEBHOOK_SECRET is in quotes or <…>.', { env: { SANDBOX_WEBHOOK_SECRET: '<x>' } }],
  [
    ['sandbox', '--webhook-url', 'ftp://localhost'],
    '--webhook-url must be an absolute http: or https: URL without user and password.',
  ],
  [
    ['sandbox', '--webhook-url', 'http://8.8.8.8/x'],
    '--webhook-url 8.8.8.8 is neither on this machine nor in a private network. To send there, pass --allow-remote.',
  ],
  [
    ['sandbox', '--webhooks', 'later'],
    '--webhooks "later" is not a duration. Pass one such as "30s", "5m", "2h" or "1d". Or pass auto or manual.',
  ],
  [['sandbox', '--webhooks', '5'], '--webhooks "5" has no unit. Pass "5s" for seconds; the units are'],
  [['sandbox', '--unspecified', 'cancel'], '--unspecified: pass name=value, such as cancel=close.'],
  [['sandbox', '--unspecified', 'cancle=close'], 'cancle is unknown. Did you mean cancel?'],
  [
    ['sandbox', '--unspecified', 'cancel=never'],
    '--unspecified cancel must be "stay-open" or "close", got a string.',
  ],
  [['sandbox', '--unspecified', 'retries=soon'], 'retries must be durations, such as ["5s", "30s"].'],
  [['sandbox', '--unspecified', 'retries=[5]'], '--unspecified retries: "[5]" has no unit.'],
  [['sandbox', '--unspecified', 'settlement=5'], '--unspecified settlement: "5" has no unit.'],
  [['sandbox', '--unspecified', 'signature={"enc":1}'], '--unspecified signature.enc is unknown.'],
  [['sandbox', '--scheme', '{"encoding":"base32"}'], '--scheme.encoding must be'],
  [['sandbox', '--scheme', '{"encodng":"hex"}'], '--scheme.encodng is unknown. Did you mean'],
  [['sandbox', '--scheme', '{"secretEncoding":"hex"}'], '--webhook-secret must be hex, as secretEncoding'],
  [['sandbox', '--data', ''], '--data is empty. Pass <file>, or leave it out.'],
  [
    ['sandbox', '--data', 'missing/data.json'],
    '--data: missing/data.json could not be written (ENOENT).',
    { status: 1 },
  ],
]);

describe('merchant-payments sandbox', () => {
  testSignal('serves with the published key and secret until a signal ends it', async () => {
    const { child, ended, lines, ready } = await serveJson();
    expect(ready).toMatchObject({
      type: 'ready',
      url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      apiKey: 'service_test_sandbox_0000',
      webhookSecret: 'whsec_sandbox_00000000000000000000',
    });
    expect(await api(ready.url, '/balance')).toMatchObject({ code: 0 });
    await expect.poll(lines).toHaveLength(2);
    expect(lines()[1]).toMatchObject({ type: 'request', method: 'GET', path: '/v1/balance', status: 200 });
    expect(JSON.stringify(lines()[1])).not.toContain(ready.apiKey);
    child.kill('SIGINT');
    expect((await ended).status).toBe(0);
  });

  test('sends webhooks to SANDBOX_WEBHOOK_URL', async () => {
    const receiver = await serveStatus(200);
    const { lines, ready } = await serveJson([], { SANDBOX_WEBHOOK_URL: receiver.url });
    await callCommand(['trigger'], { SANDBOX_URL: ready.url });
    await expect.poll(lines).toHaveLength(3);
    expect(lines().slice(1)).toMatchObject([
      { type: 'checkout', state: 'paid' },
      { type: 'delivery', state: 'delivered', attempt: 1, status: 200 },
    ]);
    expect(receiver.received).toHaveLength(1);
  });

  test('signs by --scheme, holds webhooks back with --webhooks, and does otherwise with --unspecified', async () => {
    const receiver = await serveStatus(200);
    const scheme = { encoding: 'base64', content: '{body}' } as const;
    const file = program.write('scheme.json', JSON.stringify({ found: true, scheme }));
    const choices = ['eventLink=data.checkout_id', 'cancel=close', 'retries=1s,2s', 'settlement=0'];
    const { url } = await serve([
      ...['--webhook-url', receiver.url, '--webhooks', 'manual', '--scheme', file],
      ...choices.flatMap((one) => ['--unspecified', one]),
    ]);
    await callCommand(['trigger'], { SANDBOX_URL: url });
    expect(receiver.received).toEqual([]);
    expect((await callCommand(['deliver'], { SANDBOX_URL: url })).status).toBe(0);
    const [{ headers, body: rawBody } = { headers: {}, body: '' }] = receiver.received;
    const options = { rawBody, headers, secret: 'whsec_sandbox_00000000000000000000' };
    expect(verify({ ...options, scheme })).toMatchObject({
      data: { checkout_id: expect.stringMatching(/^chk_/) },
    });
    expect(() => verify(options)).toThrow();
    expect(await api(url, '/balance')).toMatchObject({ data: { available: '19.90' } });
  });

  test('names a port that is taken, and takes no other', async () => {
    const { url } = await serve();
    const { port } = new URL(url);
    expect(await callCommand(['sandbox', '--port', port])).toEqual({
      status: 1,
      stdout: '',
      stderr: `Port ${port} is taken by another sandbox. Use that one, end it, or choose another port with --port (0: a free one).\n`,
    });
  });

  test('warns when other machines can reach it', async () => {
    const { log } = await serve(['--host', '0.0.0.0'], { SANDBOX_TOKEN: 'shared' });
    expect(log()).toContain('Other machines can reach this sandbox on 0.0.0.0.');
    expect(log()).toContain('/?token=shared');
    expect(log()).toContain('\n  SANDBOX_TOKEN=shared\n');
  });

  test('--allow-host is a host name in any letters, with or without a port', async () => {
    const { url } = await serve(['--allow-host', 'Sandbox.Test:8080', '--allow-host', 'other.test']);
    const statusOf = async (host: string) => {
      const [response] = await once(request(`${url}/checkouts`, { headers: { host } }).end(), 'response');
      return response.resume().statusCode;
    };
    const hosts = ['sandbox.test', 'other.test', 'evil.test'];
    expect(await Promise.all(hosts.map(statusOf))).toEqual([200, 200, 421]);
  });

  test('writes no file and prints no colour codes into a pipe', async () => {
    const cwd = newFolder();
    const env = { PATH: process.env.PATH, HOME: cwd };
    const { child, output, ended } = startProcess(process.execPath, [program.bin, 'sandbox', '--port', '0'], {
      cwd,
      env,
    });
    await expect.poll(() => output.stdout, { timeout: 20_000 }).toContain('Ctrl+C');
    expect(output.stdout).toContain('PAYMENTS_API_KEY=service_test_sandbox_0000\n');
    expect(output.stdout).not.toContain('\u001b');
    child.kill('SIGTERM');
    await ended;
    expect(readdirSync(cwd)).toEqual([]);
  });

  test.skipIf(!isInstalled('script'))('prints colours on a terminal, and none with NO_COLOR', async () => {
    const show = async (env: NodeJS.ProcessEnv) => {
      // A CI host's name in the environment takes colours away too.
      const terminal = { ...environment({ TERM: 'xterm-256color', ...env }), CI: undefined };
      const command = `'${process.execPath}' '${program.bin}' sandbox --port 0`;
      const { output } = startProcess('script', ['-qec', `${command} </dev/null`, '/dev/null'], {
        env: terminal,
      });
      await expect.poll(() => output.stdout, { timeout: 20_000 }).toContain('Ctrl+C');
      return output.stdout;
    };
    expect(await show({})).toContain('\u001b[1mmerchant-payments sandbox\u001b[22m');
    expect(await show({ NO_COLOR: '1' })).not.toContain('\u001b[');
  });

  test.skipIf(isWindows)('ends quietly with the reader of its output, and saves its data', async () => {
    const data = newData();
    const script = `'${process.execPath}' '${program.bin}' sandbox --port 0 --data '${data}' | head -n 3`;
    const { status, stdout, stderr } = await runProcess('sh', ['-c', script], { env: environment() });
    expect([status, stderr]).toEqual([0, '']);
    expect(stdout).toContain('merchant-payments sandbox');
    expect(JSON.parse(readFileSync(data, 'utf8'))).toMatchObject({ version: 2 });
  });

  test('reads JSON files that begin with a byte order mark, as Windows writes one', async () => {
    const file = (name: string, content: unknown) => program.write(name, `\ufeff${JSON.stringify(content)}`);
    const { state } = await serve([
      ...['--products', file('marked-products.json', [{ name: 'Bowl', price: '12.00' }])],
      ...['--data', file('marked-data.json', createSandbox({ seed: 1 }).snapshot())],
      ...['--scheme', file('marked-scheme.json', { encoding: 'base64' })],
    ]);
    expect((await state()).products).toMatchObject([{ name: 'Bowl' }]);
  });
});

test('the log of merchant-payments sandbox has local times, with their offset once, and ISO 8601 in --json', async () => {
  const { log } = await serve([], { TZ: 'Asia/Kolkata' });
  expect(log()).toContain('Ctrl+C ends it. Times are local (UTC+05:30).\n');
  const { lines, ready } = await serveJson();
  await callCommand(['reset'], { SANDBOX_URL: ready.url });
  await expect
    .poll(() => lines()[1])
    .toEqual({
      at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:]{8}\.\d{3}Z$/),
      type: 'reset',
    });
});

test('merchant-payments sandbox --webhook-url localhost:3000/webhooks is an address over http', async () => {
  const { log } = await serve(['--webhook-url', 'localhost:3000/webhooks']);
  expect(log()).toContain('\n  Webhooks   to http://localhost:3000/webhooks\n');
});

describe('merchant-payments sandbox --data', () => {
  testSignal('keeps the webhook and its scheme, and says at the start what is kept and strange', async () => {
    const data = newData();
    const receiver = await serveStatus(200);
    const flags = ['--webhook-url', receiver.url, '--scheme', '{"encoding":"base64"}'];
    const first = await serve(['--data', data, ...flags]);
    expect(first.log()).not.toContain('Data: ');
    await callCommand(['trigger'], { SANDBOX_URL: first.url });
    await callCommand(['advance', '3d'], { SANDBOX_URL: first.url });
    await first.end('SIGTERM');
    const second = await serve(['--data', data]);
    expect(second.log()).toContain(`\n  Webhooks   to ${receiver.url}\n`);
    expect(second.log()).toContain(`\n  Data: ${data}, 1 product, 1 order; the clock is 3 d ahead\n`);
    await callCommand(['trigger'], { SANDBOX_URL: second.url });
    expect(receiver.received[1]?.headers['x-service-signature']).toMatch(/^[\w+/]{43}=$/);
  });

  testSignal('keeps its data in a file that only its owner can read, across a restart', async () => {
    const data = newData();
    const first = await serve(['--data', data]);
    const { data: product } = await api(first.url, '/products', { name: 'Mug', price: '19.90' });
    expect(await first.end('SIGTERM')).toBe(0);
    expect(statSync(data).mode & 0o777).toBe(permissions(0o600));
    expect(readdirSync(join(data, '..'))).toEqual(['data.json']);
    const second = await serve(['--data', data]);
    expect((await api(second.url, '/products')).data.items).toMatchObject([{ id: product.id, name: 'Mug' }]);
  });

  test.each([
    ['{', 'it is not JSON'],
    ['{"version":2}', 'it is not the data of a sandbox'],
  ])('refuses a file with %s, and leaves it as it is', async (text, why) => {
    const data = newData();
    writeFileSync(data, text);
    expect(await callCommand(['sandbox', '--port', '0', '--data', data])).toEqual({
      status: 1,
      stdout: '',
      stderr: `--data: ${data} could not be read: ${why}. It was left as it is; move it away, or name another file.\n`,
    });
    expect(readFileSync(data, 'utf8')).toBe(text);
  });

  test.each([
    [
      { apiKey: 'service_live_1' },
      'apiKey begins with service_live_: a live key moves real money. Pass another key. --api-key takes precedence over it.\n',
    ],
    [
      { webhookSecret: 'a b' },
      'webhookSecret must be a string without white space. --webhook-secret takes precedence over it.\n',
    ],
  ])('names the file if it holds %j, which no sandbox takes', async (kept, problem) => {
    const data = newData();
    writeFileSync(data, JSON.stringify({ ...createSandbox().snapshot(), ...kept }));
    expect(await callCommand(['sandbox', '--port', '0', '--data', data])).toEqual({
      status: 1,
      stdout: '',
      stderr: `--data: in ${data}, ${problem}`,
    });
  });

  testSignal('says at the end when the data could not be saved', async () => {
    const data = newData();
    const { end } = await serve(['--data', data]);
    rmSync(join(data, '..'), { recursive: true });
    expect(await end('SIGTERM')).toBe(1);
  });

  testSignal('refuses a second sandbox on one file while the first one runs', async () => {
    const data = newData();
    const first = await serve(['--data', data]);
    expect(await callCommand(['sandbox', '--port', '0', '--data', data])).toEqual({
      status: 1,
      stdout: '',
      stderr: `--data: another sandbox (process ${first.child.pid}) keeps ${data}. End it, or name another file. If there is none, delete ${data}.lock.\n`,
    });
    await first.end('SIGTERM');
    expect(existsSync(`${data}.lock`)).toBe(false);
    await (await serve(['--data', data])).end('SIGKILL');
    expect(existsSync(`${data}.lock`)).toBe(true);
    expect(await (await serve(['--data', data])).end('SIGTERM')).toBe(0);
    expect(readdirSync(join(data, '..'))).toEqual(['data.json']);
  });

  test.skipIf(isWindows)('keeps a symbolic link, and writes to its target', async () => {
    const data = newData();
    const link = `${data}.link`;
    writeFileSync(`${data}.lock`, ''); // Of a process that was killed before it wrote its number.
    symlinkSync(data, link);
    for (const path of [data, link]) await (await serve(['--data', path])).end('SIGTERM');
    expect(lstatSync(link).isSymbolicLink()).toBe(true);
    expect(JSON.parse(readFileSync(data, 'utf8'))).toMatchObject({ version: 2 });
  });
});

describe('merchant-payments sandbox --products', () => {
  testSignal('has products at the start, after a reset, and where the file holds none yet', async () => {
    const data = newData();
    const shopNamed = (name: string) =>
      program.write('products.json', JSON.stringify([{ name, price: '19.90' }]));
    const start = (products: string) => serve(['--data', data, '--products', products]);
    const names = async ({ state }: Awaited<ReturnType<typeof serve>>) =>
      (await state()).products.map(({ name }: { name: string }) => name);
    const first = await start(shopNamed('Mug'));
    expect(await names(first)).toEqual(['Mug']);
    await callCommand(['trigger'], { SANDBOX_URL: first.url });
    expect(await names(first)).toEqual(['Mug', 'Test payment']);
    await callCommand(['reset'], { SANDBOX_URL: first.url });
    expect(await names(first)).toEqual(['Mug']);
    await first.end('SIGTERM');
    expect(await names(await start(shopNamed('Bowl')))).toEqual(['Mug']);
  });

  test.each<[string, string]>([
    ['{', '.json could not be read: it is not JSON.'],
    ['{}', '--products must be an array, got an object.'],
    ['[1]', '--products.0 must be an object, as in products.create({ name: "Mug", price: "19.90" }).'],
    ['[{"name":"Mug"}]', '--products.0.price '],
  ])('with %s is told what is wrong', async (text, message) => {
    const file = join(program.folder, program.write('products.json', text));
    expect(await callCommand(['sandbox', '--port', '0', '--products', file])).toMatchObject({
      status: 2,
      stderr: expect.stringContaining(message),
    });
  });
});

describe('the log of merchant-payments sandbox', () => {
  test('lists resets, clock moves and faults', async () => {
    const { url, log } = await serve();
    for (const args of [
      ['fault', 'status', '503', '--path', '/v1/products'],
      ['fault', 'clear'],
      ['advance', '2h'],
      ['reset'],
    ])
      await callCommand(args, { SANDBOX_URL: url });
    await expect.poll(log).toContain('reset all data is gone, and the clock is set back\n');
    expect(log()).toMatch(
      /fault status 503 · next \/v1\/products request\n.*fault all are cleared\n.*clock it is \d{4}-\d\d-\d\d [\d:]{8}\n.*reset /,
    );
  });

  test('lists what the customer does, and each tag once', async () => {
    const { url, log } = await serve();
    const control = (path: string) => fetch(`${url}/_sandbox${path}`, { method: 'POST' });
    const idOf = async (path: string, body: object) => (await api(url, path, body)).data.id;
    const productId = await idOf('/products', { name: 'Mug', price: '19.90' });
    const ids = [await idOf('/checkouts', { productId }), await idOf('/checkouts', { productId })];
    for (const action of ['fail', 'cancel', 'complete']) await control(`/checkouts/${ids[0]}/${action}`);
    await control(`/checkouts/${ids[1]}/expire`);
    await control(`/products/${productId}/archive`);
    await expect.poll(log).toContain(`product ${productId}  archived`);
    expect(log()).toMatch(
      new RegExp(
        [
          `checkout ${ids[0]}  declined: card_declined`,
          `checkout ${ids[0]}  cancelled`,
          `checkout ${ids[0]}  paid  ord_\\w+`,
          `checkout ${ids[1]}  expired`,
        ].join('\\n(?:.*\\n)*?.*'),
      ),
    );
    expect(log().split('checkoutCreated')).toHaveLength(2);
  });

  test('lists each attempt once, with the time until the next one, and each hint once', async () => {
    const { url: webhook } = await serveStatus(500, 'oh no');
    const { url, log } = await serve(['--webhook-url', webhook]);
    const run = (...args: string[]) => callCommand(args, { SANDBOX_URL: url });
    await run('trigger');
    for (const wait of ['5s', '30s']) await run('advance', wait);
    await expect.poll(log, { timeout: 20_000 }).toContain('attempt 3');
    await run('fault', 'webhook', '--drop');
    await run('trigger');
    await expect.poll(log, { timeout: 20_000 }).toContain('the delivery was lost');
    const lines = log().split('\n');
    const attempts = lines.filter((line) => line.includes('order.paid'));
    expect(attempts.map((line) => line.replace(/^.*ord_\w+ {2}/, '').replace(/\d+ ms/, 'n ms'))).toEqual([
      'refused 500  n ms, attempt 1, next attempt in 5 s',
      'refused 500  n ms, attempt 2, next attempt in 30 s',
      'refused 500  n ms, attempt 3, next attempt in 2 min',
      'failed: A fault was injected: the delivery was lost  attempt 1, next attempt in 5 s',
    ]);
    const [first = '', ...others] = lines.filter((line) => line.startsWith('          ! '));
    const doctor = `To find out why: npx merchant-payments doctor --sandbox ${url}`;
    expect(first.length).toBeGreaterThan(doctor.length + 30);
    expect(others).toEqual([`          ! ${doctor}`, `          ! ${doctor}`]);
  });

  test('makes escape sequences of strangers visible, as trigger does', async () => {
    const { url: webhook } = await serveStatus(401, `<p>${hostile}</p>`);
    const { url, log } = await serve(['--webhook-url', webhook]);
    await api(url, '/products', { name: 'Mug', price: '1', [hostile]: 1 });
    const { stdout } = await callCommand(['trigger'], { SANDBOX_URL: url });
    await expect.poll(log).toContain(escapeInvisible(hostile));
    for (const text of [log(), stdout]) expect(text).toBe(text.split('\n').map(escapeInvisible).join('\n'));
  });
});
