import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { build } from 'esbuild';
import { createSandbox } from 'merchant-payments/sandbox';
import { verify } from 'merchant-payments/webhooks';
import { afterEach, describe, expect, test } from 'vitest';
import { environment, useCommand } from '../helpers/command.js';
import { endsAtOnce, isWindows, permissions } from '../helpers/systems.js';

const { folder, bin } = useCommand();
const inherited = environment();

let children: ChildProcess[] = [];
let servers: Server[] = [];
afterEach(() => {
  for (const server of servers) server.close();
  servers = [];
  for (const child of children) child.kill('SIGKILL');
  children = [];
});

/** Runs the command to its end. */
function run(args: string[], env: NodeJS.ProcessEnv = {}) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [bin, ...args], {
    encoding: 'utf8',
    timeout: 20_000,
    env: { ...inherited, ...env },
  });
  return { status, stdout, stderr };
}

/** The same beside a server in this process, which has to answer meanwhile. */
async function runBeside(args: string[], env: NodeJS.ProcessEnv = {}) {
  const child = spawn(process.execPath, [bin, ...args], { env: { ...inherited, ...env } });
  const output = { stdout: '', stderr: '' };
  child.stdout.on('data', (text) => {
    output.stdout += text;
  });
  child.stderr.on('data', (text) => {
    output.stderr += text;
  });
  const [status] = await once(child, 'close');
  return { status, ...output };
}

/** Waits for the text that it prints before it serves. */
async function bannerOf(child: ChildProcess): Promise<string> {
  let text = '';
  child.stdout?.on('data', (chunk) => {
    text += chunk;
  });
  await expect.poll(() => text).toContain('Ctrl+C');
  return text;
}

/** A webhook receiver that always responds so, and what it got. */
async function receiver(status: number) {
  const got: { rawBody: string; headers: IncomingHttpHeaders }[] = [];
  const server = createServer(async (request, response) => {
    got.push({ rawBody: Buffer.concat(await request.toArray()).toString(), headers: request.headers });
    response.writeHead(status).end();
  });
  servers.push(server.listen(0, '127.0.0.1'));
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  return [got, `http://127.0.0.1:${port}/hook`] as const;
}

/** A sandbox that serves; `line()` is the next JSON line that it prints. */
async function serve(args: string[] = [], env: NodeJS.ProcessEnv = {}) {
  const child = spawn(process.execPath, [bin, 'sandbox', '--port', '0', '--json', ...args], {
    env: { ...inherited, ...env },
  });
  children.push(child);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const line = async () => JSON.parse((await lines.next()).value ?? 'null');
  const ready = await line();
  return {
    ready,
    line,
    end: async (signal: NodeJS.Signals) => {
      child.kill(signal);
      const [code] = await once(child, 'exit');
      return code;
    },
    api: (path: string, init: RequestInit = {}) =>
      fetch(ready.url + path, {
        ...init,
        headers: { 'x-api-key': ready.apiKey, 'content-type': 'application/json' },
      }),
  };
}

const testSignal = test.skipIf(endsAtOnce);

describe('merchant-payments sandbox', { timeout: 60_000 }, () => {
  testSignal('serves with constant key and secret, one line per request, until it is stopped', async () => {
    const { ready, line, api, end } = await serve();
    expect(ready).toMatchObject({
      type: 'ready',
      url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      apiKey: 'service_test_sandbox_0000',
      webhookSecret: 'whsec_sandbox_00000000000000000000',
    });
    expect((await api('/v1/balance')).status).toBe(200);
    const logged = await line();
    expect(logged).toMatchObject({ type: 'request', method: 'GET', path: '/v1/balance', status: 200 });
    expect(JSON.stringify(logged)).not.toContain(ready.apiKey);
    expect(await end('SIGINT')).toBe(0);
  });

  test('delivers to the webhook, and trigger, advance and reset reach it from another terminal', async () => {
    const got: string[] = [];
    const server = createServer((request, response) => {
      request.on('data', (chunk) => got.push(String(chunk)));
      request.on('end', () => response.writeHead(got.length === 1 ? 200 : 404).end());
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : undefined;
    const { ready, line, api } = await serve([], { SANDBOX_WEBHOOK_URL: `http://127.0.0.1:${port}/hook` });
    const env = { SANDBOX_URL: ready.url };

    const paid = await runBeside(['trigger', 'order.paid', '--amount', '7.5', '--currency', 'USD'], env);
    expect(paid.stdout).toMatch(
      /^Order ord_\w{20} of 7\.50 USD is paid\.\nWebhook to http:\S+\/hook: 200 in \d+ ms\.\n$/,
    );
    expect(paid.status).toBe(0);
    expect(got.join()).toContain('"amount": "7.50"');
    expect(await line()).toMatchObject({ type: 'checkout', state: 'paid' });
    expect(await line()).toMatchObject({ type: 'delivery', state: 'delivered', attempt: 1, status: 200 });

    const refused = await runBeside(['trigger', 'order.paid', '--sandbox', ready.url]);
    expect([refused.status, refused.stdout]).toEqual([
      1,
      expect.stringContaining('There is no route for /hook, or the handler there refuses.'),
    ]);

    expect((await runBeside(['advance', '1d'], env)).stdout).toMatch(
      /^It is \d{4}-\d\d-\d\d [\d:]{8} in the sandbox\.\n$/,
    );
    expect(await (await api('/v1/balance')).json()).toMatchObject({
      data: { available: '27.40', pending: '0.00' },
    });
    expect((await runBeside(['advance', 'later'], env)).status).toBe(2);
    expect((await runBeside(['reset', '--json'], env)).stdout).toMatch(/^\{"now":".*"\}\n$/);
    expect(await (await api('/v1/products')).json()).toMatchObject({ data: { items: [] } });
    const wrong = await runBeside(['trigger', 'order.paid', '--amount', '0'], env);
    expect(wrong).toMatchObject({ status: 2, stderr: expect.stringContaining('--amount: "0" is below') });
    server.close();
  });

  test('signs by --scheme, holds webhooks back with --webhooks, and does otherwise with --unspecified', async () => {
    const scheme = join(folder, 'scheme.json');
    writeFileSync(scheme, JSON.stringify({ found: true, scheme: { encoding: 'base64', content: '{body}' } }));
    const [got, target] = await receiver(200);
    const flags = ['--webhook-url', target, '--webhooks', 'manual', '--scheme', scheme];
    const choices = ['eventLink=data.checkout_id', 'cancel=close', 'retries=1s,2s', 'settlement=0'];
    const { ready, api } = await serve([...flags, ...choices.flatMap((one) => ['--unspecified', one])]);
    const env = { SANDBOX_URL: ready.url };
    expect((await runBeside(['trigger', 'order.paid'], env)).stdout).toContain(
      'Its webhook is held. Send it with: merchant-payments deliver\n',
    );
    expect(got).toEqual([]);
    const delivered = await fetch(`${ready.url}/_sandbox/events/deliver`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{}',
    });
    expect(await delivered.json()).toMatchObject({ attempts: [{ ok: true }] });
    const [{ headers, rawBody } = { headers: {}, rawBody: '' }] = got;
    const options = { rawBody, headers, secret: ready.webhookSecret };
    const event = verify({ ...options, scheme: { encoding: 'base64', content: '{body}' } });
    expect(event).toMatchObject({ data: { checkout_id: expect.stringMatching(/^chk_/) } });
    expect(() => verify(options)).toThrow();
    expect(await (await api('/v1/balance')).json()).toMatchObject({ data: { available: '19.90' } });
  });

  test('faults are ordered, listed and taken back from another terminal', async () => {
    const { ready, api } = await serve();
    const env = { SANDBOX_URL: ready.url };
    const fault = async (...args: string[]) => (await runBeside(['fault', ...args], env)).stdout;
    expect(await fault('--list')).toBe('No fault is waiting.\n');
    expect(await fault('status', '503', '--times', '2', '--path', '/v1/products')).toBe(
      'Waiting to happen:\n  status 503 · next 2 /v1/products requests\n',
    );
    const header = ['--header', 'retry-after: 7', '--body', '{"code":429,"message":"slow down"}'];
    await fault('status', '429', '--method', 'get', '--path', '/v1/balance', ...header);
    await fault('reset', '--when', 'after', '--delay', '2ms');
    await fault('html');
    expect(await fault('webhook', '--drop', '--duplicate', '2')).toBe(
      'Waiting to happen:\n' +
        '  status 503 · next 2 /v1/products requests\n' +
        '  status 429 · next GET /v1/balance request\n' +
        '  reset after, delay 2ms · next request\n' +
        '  html · next request\n' +
        '  duplicate 2, drop · next event\n',
    );
    expect((await api('/v1/products')).status).toBe(503);
    const limited = await api('/v1/balance');
    expect([limited.status, limited.headers.get('retry-after'), await limited.json()]).toEqual([
      429,
      '7',
      { code: 429, message: 'slow down' },
    ]);
    expect(await fault('--list')).toContain('  status 503 · next /v1/products request\n  reset after');
    expect(await fault('clear')).toBe('No fault is waiting.\n');
    expect((await api('/v1/products')).status).toBe(200);
    const { stdout } = await runBeside(['fault', 'delay', '1ms', '--json'], env);
    expect(JSON.parse(stdout)).toEqual({
      faults: [{ says: 'delay 1ms · next request', fault: { delay: '1ms' }, left: 1 }],
    });
  });

  test('logs each attempt once, with the time until the next one, and names the doctor', async () => {
    const [, target] = await receiver(500);
    const child = spawn(process.execPath, [bin, 'sandbox', '--port', '0', '--webhook-url', target], {
      env: inherited,
    });
    children.push(child);
    let log = '';
    child.stdout.on('data', (text) => {
      log += text;
    });
    await expect.poll(() => log, { timeout: 20_000 }).toContain('Ctrl+C');
    const env = { SANDBOX_URL: /PAYMENTS_BASE_URL=(\S+)/.exec(log)?.[1] };
    const refused = await runBeside(['trigger', 'order.paid'], env);
    expect(refused.stdout).toContain(`npx merchant-payments doctor --sandbox ${env.SANDBOX_URL}`);
    await runBeside(['advance', '5s'], env);
    await runBeside(['advance', '30s'], env);
    await expect.poll(() => log, { timeout: 20_000 }).toContain('attempt 3');
    await runBeside(['fault', 'webhook', '--drop'], env);
    await runBeside(['trigger', 'order.paid'], env);
    await expect.poll(() => log, { timeout: 20_000 }).toContain('the delivery was lost');
    const lines = log.split('\n').filter((line) => line.includes('order.paid'));
    expect(lines.map((line) => line.replace(/^.*ord_\w+ {2}/, '').replace(/\d+ ms/, 'n ms'))).toEqual([
      'refused 500  n ms, attempt 1, next attempt in 5 s',
      'refused 500  n ms, attempt 2, next attempt in 30 s',
      'refused 500  n ms, attempt 3, next attempt in 2 min',
      'failed: A fault was injected: the delivery was lost  attempt 1, next attempt in 5 s',
    ]);
    expect(log.split('npx merchant-payments doctor ')).toHaveLength(4);
  });

  testSignal('keeps its data in a file that only its owner can read, across a restart', async () => {
    const data = join(folder, 'data.json');
    const first = await serve(['--data', data]);
    const made = await first.api('/v1/products', { method: 'POST', body: '{"name":"Mug","price":"19.90"}' });
    const { data: product } = await made.json();
    expect(await first.end('SIGTERM')).toBe(0);
    expect(statSync(data).mode & 0o777).toBe(permissions(0o600));
    expect(readdirSync(folder).filter((name) => name.endsWith('.tmp'))).toEqual([]);

    const second = await serve(['--data', data]);
    const { data: list } = await (await second.api('/v1/products')).json();
    expect(list.items).toMatchObject([{ id: product.id, name: 'Mug' }]);
    expect(await second.end('SIGTERM')).toBe(0);
  });

  test('refuses a data file that it cannot read, and leaves it as it is', () => {
    const data = join(folder, 'broken.json');
    for (const [text, why] of [
      ['{', 'it is not JSON'],
      ['{"version":2}', 'it is not the data of a sandbox'],
    ] as const) {
      writeFileSync(data, text);
      const { status, stderr } = run(['sandbox', '--port', '0', '--data', data]);
      expect(status).toBe(1);
      expect(stderr).toBe(
        `--data: ${data} could not be read: ${why}. It was left as it is; move it away, or name another file.\n`,
      );
      expect(readFileSync(data, 'utf8')).toBe(text);
    }
  });

  test('names the data file for a key or a secret in it that no sandbox takes', () => {
    const data = join(folder, 'live.json');
    const saved = createSandbox().snapshot();
    writeFileSync(data, JSON.stringify({ ...saved, apiKey: 'service_live_1' }));
    const live = 'apiKey begins with service_live_: a live key moves real money. Pass another key.';
    expect(run(['sandbox', '--port', '0', '--data', data])).toEqual({
      status: 1,
      stdout: '',
      stderr: `--data: in ${data}, ${live} --api-key takes precedence over it.\n`,
    });
    writeFileSync(data, JSON.stringify({ ...saved, webhookSecret: 'a b' }));
    expect(run(['sandbox', '--port', '0', '--data', data]).stderr).toMatch(
      /^--data: in .*live\.json, webhookSecret: pass a string without white space\. --webhook-secret takes/,
    );
  });

  testSignal('says at the end when the data could not be saved', async () => {
    const locked = mkdtempSync(join(folder, 'gone-'));
    const { end } = await serve(['--data', join(locked, 'data.json')]);
    rmSync(locked, { recursive: true });
    expect(await end('SIGTERM')).toBe(1);
  });

  test('names a port that is taken, and takes no other', async () => {
    const { ready } = await serve();
    const { port } = new URL(ready.url);
    const { status, stderr } = run(['sandbox', '--port', port]);
    expect(status).toBe(1);
    expect(stderr).toBe(
      `Port ${port} is taken by another sandbox. Use that one, end it, or choose another port with --port (0: a free one).\n`,
    );
  });

  test('warns when other machines can reach it', async () => {
    const child = spawn(process.execPath, [bin, 'sandbox', '--port', '0', '--host', '0.0.0.0'], {
      env: { ...inherited, SANDBOX_TOKEN: 'shared' },
    });
    children.push(child);
    const banner = await bannerOf(child);
    expect(banner).toContain('Other machines can reach this sandbox on 0.0.0.0.');
    expect(banner).toContain('/?token=shared');
    const url = /PAYMENTS_BASE_URL=(\S+)/.exec(banner)?.[1] ?? '';
    expect(banner).toContain('\n  SANDBOX_TOKEN=shared\n');
    expect((await runBeside(['reset', '--sandbox', url])).stderr).toContain('requires its access token');
    const wrong = await runBeside(['reset', '--sandbox', url, '--token', 'another']);
    expect([wrong.status, wrong.stderr]).toEqual([
      1,
      `The sandbox at ${url} does not accept this access token. Pass --token with the one that it printed, or set SANDBOX_TOKEN.\n`,
    ]);
    expect((await runBeside(['reset', '--sandbox', url, '--token', 'shared'])).status).toBe(0);
    const unsendable = await runBeside(['reset', '--sandbox', url, '--token', 'shared\nshared']);
    expect([unsendable.status, unsendable.stderr.split('\n')[0]]).toEqual([
      2,
      '--token: pass the access token as the sandbox printed it.',
    ]);
  });

  test('writes no file and prints no colour codes into a pipe', async () => {
    const empty = mkdtempSync(join(folder, 'empty-'));
    const child = spawn(process.execPath, [bin, 'sandbox', '--port', '0'], {
      cwd: empty,
      env: { PATH: process.env.PATH, HOME: empty },
    });
    children.push(child);
    const banner = await bannerOf(child);
    expect(banner).toContain('PAYMENTS_API_KEY=service_test_sandbox_0000\n');
    expect(banner).not.toContain('\u001b');
    child.kill('SIGTERM');
    await once(child, 'exit');
    expect(readdirSync(empty)).toEqual([]);
  });
});

const has = (program: string) => spawnSync(program, ['--version']).status === 0;

test.skipIf(!has('script'))('colours appear on a terminal, and NO_COLOR takes them away', async () => {
  const show = async (env: NodeJS.ProcessEnv) => {
    const child = spawn('script', ['-qec', `'${process.execPath}' '${bin}' sandbox --port 0`, '/dev/null'], {
      // A CI host's name in the environment takes colours away too.
      env: { ...inherited, CI: undefined, NO_COLOR: undefined, TERM: 'xterm-256color', ...env },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    children.push(child);
    let text = '';
    for await (const chunk of child.stdout) {
      text += chunk;
      if (text.includes('Ctrl+C')) break;
    }
    return text;
  };
  expect(await show({})).toContain('\u001b[1mmerchant-payments sandbox\u001b[22m');
  expect(await show({ NO_COLOR: '1' })).not.toContain('\u001b[');
});

describe('merchant-payments exec', () => {
  test.skipIf(isWindows || !has('curl'))(
    'gives a shell script a sandbox of its own, and returns its exit code',
    () => {
      const script =
        'curl -s -H "x-api-key: $PAYMENTS_API_KEY" "$PAYMENTS_BASE_URL/v1/balance"; test -n "$PAYMENTS_WEBHOOK_SECRET" && test "$SANDBOX_URL" = "$PAYMENTS_BASE_URL" && exit 7';
      const { status, stdout } = run(['exec', '--', 'sh', '-c', script]);
      expect(status).toBe(7);
      expect(JSON.parse(stdout)).toMatchObject({ code: 0, data: { available: '0.00' } });
    },
  );

  test.skipIf(!has('python3'))('lets a program in Python take a payment and wait for its event', () => {
    const program = join(folder, 'shop.py');
    writeFileSync(program, python);
    const { status, stdout, stderr } = run(['exec', '--', 'python3', program]);
    expect(stderr).toMatch(
      /\nSandbox dashboard: http:\/\/127\.0\.0\.1:\d+\/\n.*\n\d\d:\d\d:\d\d {2}order\.paid ord_\w+ {2}kept: no webhook is set\n$/,
    );
    expect(JSON.parse(stdout)).toEqual({ amount: '19.90', pending: '19.90', status: 'no_url' });
    expect(status).toBe(0);
  });

  test('passes words on as they are: no shell reads them', () => {
    const print = 'process.stdout.write(JSON.stringify(process.argv.slice(1)))';
    const words = ['$(date)', 'a b', '*', '--json', '--', ';true'];
    const { stdout, status } = run(['exec', '--', process.execPath, '-e', print, '--', ...words]);
    expect([JSON.parse(stdout), status]).toEqual([words, 0]);
  });

  test('says when there is nothing to run, or it cannot be run', () => {
    expect(run(['exec'])).toMatchObject({ status: 2, stderr: expect.stringContaining('Put it after --.') });
    const missing = run(['exec', '--', 'no-such-program']);
    expect(missing).toMatchObject({
      status: 127,
      stderr: expect.stringContaining('could not be started (ENOENT)'),
    });
    const plain = join(folder, 'plain');
    writeFileSync(plain, '');
    chmodSync(plain, 0o600);
    // Windows looks for plain.exe, and finds nothing.
    const refused = run(['exec', '--', plain]);
    expect(refused.status).toBe(isWindows ? 127 : 126);
    if (!isWindows) expect(refused.stderr).toContain('(EACCES). Is it installed? May it be run?');
  });
});

test.each<[string[], NodeJS.ProcessEnv, number, string]>([
  [['sandbx'], {}, 2, '"sandbx" is not a command. Did you mean sandbox?\nSee: merchant-payments --help\n'],
  [
    ['sandbox', '--prot', '1'],
    {},
    2,
    '--prot is not a flag. Did you mean --port?\nSee: merchant-payments sandbox --help\n',
  ],
  [
    ['sandbox', '--webhook', 'http://localhost/'],
    {},
    2,
    '--webhook is not a flag. Did you mean --webhook-url?',
  ],
  [['sandbox', '--secret', 'a'], {}, 2, '--secret is not a flag. Did you mean --webhook-secret?'],
  [['doctor', '--secret', 'a'], {}, 2, '--secret is not a flag. Set PAYMENTS_WEBHOOK_SECRET instead.'],
  [['help', 'sandbx'], {}, 2, '"sandbx" is not a command. Did you mean sandbox?'],
  [['sandbox', '--port', '70000'], {}, 2, '--port: "70000" is not an integer from 0 to 65535.'],
  [['sandbox'], { SANDBOX_PORT: 'x' }, 2, 'SANDBOX_PORT: "x" is not an integer'],
  [['sandbox', 'now'], {}, 2, '"now" is not expected here.'],
  [['sandbox', '--port'], {}, 2, '--port: pass a value: --port=<port>\nSee: '],
  [['sandbox', '--seed', '-1'], {}, 2, '--seed: pass a value: --seed=<integer>\nSee: '],
  [['sandbox', '--quiet=1'], {}, 2, '--quiet takes no value.\nSee: '],
  [['sandbox', '--help=1'], {}, 2, '--help takes no value.\nSee: '],
  [['sandbox', '--port', '1', '--port', '2'], {}, 2, '--port is given twice. Pass it once.\nSee: '],
  [['sandbox', '--port='], {}, 2, '--port is empty. Pass <port>, or leave it out.\nSee: '],
  [['sandbox', '--allow-host='], {}, 2, '--allow-host is empty. Pass <name>, or leave it out.\nSee: '],
  [['--verison'], {}, 2, '"--verison" is not a command. Did you mean --version?\nSee: '],
  [['sandbox', '--unspecified', 'signature={"enc":1}'], {}, 2, '--unspecified signature: '],
  [
    ['sandbox', '--webhook-url', 'ftp://localhost'],
    {},
    2,
    '--webhook-url: pass an absolute http: or https: URL without user and password.',
  ],
  [
    ['sandbox', '--webhook-url', 'http://8.8.8.8/x'],
    {},
    2,
    '--webhook-url: 8.8.8.8 is neither on this machine nor in a private network. To send there, pass --allow-remote.',
  ],
  [['sandbox'], { SANDBOX_PUBLIC_URL: 'localhost' }, 2, 'SANDBOX_PUBLIC_URL: pass an origin'],
  [
    ['sandbox', '--api-key', 'service_live_1'],
    {},
    2,
    '--api-key begins with service_live_: a live key moves',
  ],
  [
    ['sandbox', '--webhooks', 'later'],
    {},
    2,
    '--webhooks: "later" is not a duration. Pass one such as "30s", "5m", "2h" or "1d". Or pass auto or manual.',
  ],
  [
    ['sandbox', '--webhooks', '5'],
    {},
    2,
    '--webhooks: "5" has no unit. Pass "5s" for seconds; the units are',
  ],
  [['sandbox', '--unspecified', 'cancel'], {}, 2, '--unspecified: pass name=value, such as cancel=close.'],
  [['sandbox', '--unspecified', 'cancle=close'], {}, 2, 'cancle is unknown. Did you mean cancel?'],
  [['sandbox', '--unspecified', 'cancel=never'], {}, 2, '--unspecified cancel: pass "stay-open" or "close".'],
  [['sandbox', '--unspecified', 'retries=soon'], {}, 2, 'retries: pass durations, such as ["5s", "30s"].'],
  [['sandbox', '--scheme', '{"encoding":"base32"}'], {}, 2, '--scheme: scheme.encoding must be'],
  [
    ['sandbox', '--scheme', '{"secretEncoding":"hex"}'],
    {},
    2,
    '--webhook-secret: pass hex, as secretEncoding',
  ],
  [['sandbox', '--scheme', '{"encodng":"hex"}'], {}, 2, '--scheme: scheme.encodng is unknown. Did you mean'],
  [
    ['sandbox', '--data', 'missing/data.json'],
    {},
    1,
    '--data: missing/data.json could not be written (ENOENT).',
  ],
  [['sandbox', '--host', '192.0.2.1'], {}, 1, 'of 192.0.2.1 (EADDRNOTAVAIL). Pass another host or port.'],
  [['fault'], {}, 2, 'The fault is missing. Pass one, such as: fault status 503. Or --list.'],
  [['fault', 'resett'], {}, 2, '"resett" is not a fault. Did you mean reset?'],
  [['fault', 'status'], {}, 2, 'The value is missing. Pass one, such as: fault status 503'],
  [['fault', 'status', 'abc'], {}, 2, 'status: must be an integer from 200 to 599, got a string.'],
  [['fault', 'clear', '--times', '2'], {}, 2, '--times does not go with: fault clear'],
  [['fault', '--list', '--drop'], {}, 2, '--drop does not go with: fault --list'],
  [['fault', 'reset', '--list'], {}, 2, '--list does not go with: fault reset'],
  [['fault', 'status', '503', 'twice'], {}, 2, '"twice" is not expected here.'],
  [['fault', 'status', '503', '--times', '0'], {}, 2, '--times: "0" is not an integer from 1'],
  [['fault', 'status', '503', '--drop'], {}, 2, '--drop does not go with: fault status'],
  [['fault', 'delay', '2s', '--delay', '3s'], {}, 2, '--delay does not go with: fault delay'],
  [['fault', 'delay'], {}, 2, 'The value is missing. Pass one, such as: fault delay 2s'],
  [['fault', 'clear', 'now'], {}, 2, '"now" is not expected here.'],
  [['fault', 'reset', '--when', 'later'], {}, 2, '--when: pass one of before, after.'],
  [['fault', 'status', '429', '--header', 'retry-after'], {}, 2, '--header: pass a name and a value'],
  [['fault', 'webhook'], {}, 2, 'Pass what happens to it: --drop, --hold'],
  [['sandbox'], { NODE_ENV: 'production' }, 1, 'NODE_ENV is production'],
  [
    ['exec', 'npm', 'test'],
    {},
    2,
    'Put -- before npm: merchant-payments exec -- npm\nSee: merchant-payments exec',
  ],
  [['exec', 'node', '-e', '1'], {}, 2, 'Put -- before node: merchant-payments exec -- node'],
  [['exec', '--quiet'], {}, 2, 'The command to run is missing. Put it after --.'],
  [['exec', '--prot', '1', '--', 'true'], {}, 2, '--prot is not a flag. Did you mean --port?'],
  [['exec', '--', 'true'], { NODE_ENV: 'production' }, 1, 'NODE_ENV is production'],
  [['sandbox', '--api-key', '"abc"'], {}, 2, '--api-key is in quotes or <…>. Remove them.'],
  [['sandbox'], { SANDBOX_WEBHOOK_SECRET: '<x>' }, 2, 'SANDBOX_WEBHOOK_SECRET is in quotes or <…>.'],
  [['sandbox', '--allow-host', 'http://a.test'], {}, 2, '--allow-host: "http://a.test" is not a host name.'],
  [
    ['capture', '--host', '192.0.2.1'],
    {},
    1,
    'Cannot listen on port 4390 of 192.0.2.1 (EADDRNOTAVAIL). Pass another --host or --port.',
  ],
  [['trigger', 'order.refunded'], {}, 2, '"order.refunded" is unknown. Known are order.paid.'],
  [['advance'], {}, 2, 'The duration is missing. Pass one, such as: advance 2h'],
  [['reset', '--sandbox', 'http://127.0.0.1:1'], {}, 1, 'No sandbox responds at http://127.0.0.1:1.'],
  [['reset', '--sandbox', 'sandbox'], {}, 2, '--sandbox: "sandbox" is not an http: URL.'],
  [['identify', 'missing.json', '--url', 'foo'], {}, 2, '--url: "foo" is not an http: URL.'],
  [['capture', '--host', '192.0.2.1', '--url', 'foo'], {}, 2, '--url: "foo" is not an http: URL.'],
])('merchant-payments %j is told what is wrong', (args, env, status, message) => {
  const answered = run(args, env);
  expect(answered.stderr).toContain(message);
  expect(answered).toMatchObject({ status, stdout: '' });
  expect(answered.stderr).not.toMatch(/\n\s+at /);
});

test.each(['12.22.12', '18.20.8', '20.18.3', '21.7.3', '22.2.0'])(
  'Node %s is told which one is needed',
  async (node) => {
    const start = join(folder, 'bin.mjs');
    await build({ entryPoints: ['src/cli/bin.ts'], outfile: start, format: 'esm', logLevel: 'error' });
    const older = `data:text/javascript,Object.defineProperty(process,"versions",{value:{node:"${node}"}})`;
    const { status, stderr } = spawnSync(process.execPath, ['--import', older, start], { encoding: 'utf8' });
    expect([status, stderr]).toEqual([
      1,
      `merchant-payments needs Node 20.19, or 22.3 and later. This is Node ${node}.\n`,
    ]);
  },
);

test('help lists every command, flag and default port, and production is allowed on request', () => {
  const overview = run(['--help']);
  expect(overview.status).toBe(0);
  const names = [...overview.stdout.matchAll(/^ {2}([a-z]+) {2}/gm)].map(([, name = '']) => name);
  expect(names).toEqual(
    expect.arrayContaining(['sandbox', 'exec', 'trigger', 'deliver', 'fault', 'advance', 'reset']),
  );
  for (const name of names)
    expect(run([name, '--help']).stdout).toMatch(
      new RegExp(`\n\nExample: merchant-payments ${name}\\b.*\n$`),
    );
  const { stdout } = run(['sandbox', '--help']);
  for (const flag of [
    'port',
    'host',
    'webhook-url',
    'webhooks',
    'scheme',
    'unspecified',
    'api-key',
    'webhook-secret',
    'public-url',
    'allow-host',
    'data',
    'seed',
    'quiet',
    'json',
  ])
    expect(stdout).toContain(`\n  --${flag} `);
  expect(stdout).toContain('port to listen on; default 4380 [SANDBOX_PORT]');
  expect(run(['exec', '--help']).stdout).toContain('port of the sandbox; default: a free one');
  const ofFault = run(['fault', '--help']).stdout;
  expect(ofFault).toContain('or after (default of html and truncated)\n');
  expect(ofFault).toContain('fault clear              removes all pending faults\n');
  expect(ofFault).toMatch(/ {2}--list +lists the pending faults\n/);
  expect(run(['sandbox', '-p', '1']).stderr).toMatch(/^-p is not a flag\. Known are --port, /);
  expect(run(['--version']).stdout).toBe(`${JSON.parse(readFileSync('package.json', 'utf8')).version}\n`);
});

const python = `
import json, os, urllib.request

def call(base, method, path, body=None):
    headers = {"x-api-key": os.environ["PAYMENTS_API_KEY"], "content-type": "application/json"}
    data = None if body is None else json.dumps(body).encode()
    with urllib.request.urlopen(urllib.request.Request(base + path, data, headers, method=method)) as answer:
        return json.load(answer)

api, control = os.environ["PAYMENTS_BASE_URL"], os.environ["SANDBOX_URL"] + "/_sandbox"
product = call(api, "POST", "/v1/products", {"name": "Mug", "price": "19.90"})["data"]
checkout = call(api, "POST", "/v1/checkouts", {"productId": product["id"]})["data"]
call(control, "POST", "/checkouts/" + checkout["id"] + "/complete", {})
event = call(control, "GET", "/events?wait=5s")["events"][0]
balance = call(api, "GET", "/v1/balance")["data"]
print(json.dumps({"amount": event["data"]["amount"], "pending": balance["pending"], "status": event["state"]}))
`;
