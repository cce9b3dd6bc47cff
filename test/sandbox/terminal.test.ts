import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer, request, type Server } from 'node:http';
import { createServer as createTcpServer, type Server as TcpServer } from 'node:net';
import { join } from 'node:path';
import { createSandbox } from 'merchant-payments/sandbox';
import { sign } from 'merchant-payments/webhooks';
import { afterEach, describe, expect, test } from 'vitest';
import { escapeInvisible } from '../../src/input/visible.js';
import { environment, useCommand } from '../helpers/command.js';
import { filesIn } from '../helpers/files.js';
import { freePort } from '../helpers/ports.js';
import { endsAtOnce, isWindows } from '../helpers/systems.js';

const { folder, bin } = useCommand();
const inherited = environment();
const has = (program: string) => spawnSync(program, ['--version']).status === 0;

let children: ChildProcess[] = [];
let servers: (Server | TcpServer)[] = [];
afterEach(() => {
  for (const server of servers) server.close();
  for (const child of children) child.kill('SIGKILL');
  [servers, children] = [[], []];
});

/** Starts a program, or the command itself, and gathers what it prints. */
function start(args: string[], env: NodeJS.ProcessEnv = {}, program = process.execPath) {
  const own = program === process.execPath ? [bin, ...args] : args;
  const child = spawn(program, own, { env: { ...inherited, ...env }, cwd: folder });
  children.push(child);
  const output = { stdout: '', stderr: '' };
  child.stdout.on('data', (text) => (output.stdout += text));
  child.stderr.on('data', (text) => (output.stderr += text));
  const ended = once(child, 'close').then(([status]) => ({ status, ...output }));
  return { child, output, ended };
}

const run = (args: string[], env: NodeJS.ProcessEnv = {}) => start(args, env).ended;

/** A sandbox with its log. */
async function serve(args: string[] = [], env: NodeJS.ProcessEnv = {}) {
  const started = start(['sandbox', '--port', '0', ...args], env);
  await expect.poll(() => started.output.stdout, { timeout: 20_000 }).toContain('Ctrl+C');
  const url = /PAYMENTS_BASE_URL=(\S+)/.exec(started.output.stdout)?.[1] ?? '';
  return { ...started, url, log: () => started.output.stdout };
}

/** A receiver that responds as it is told. */
async function receiver(status: number, text = '') {
  const server = createServer((incoming, response) => {
    incoming.resume().on('end', () => response.writeHead(status, { 'content-type': 'text/plain' }).end(text));
  }).listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  const address = server.address();
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/hook`;
}

async function take(port: number, host = '127.0.0.1') {
  const server = createTcpServer().listen(port, host);
  await once(server, 'listening').then(
    () => servers.push(server),
    () => undefined, // Something else has it.
  );
}

/** A shop that reports where it runs and is paid once. */
const shop = `
import { createServer } from 'node:http';
const call = async (path, body) => (await fetch(path, { method: 'POST', headers: { 'x-api-key': process.env.PAYMENTS_API_KEY, 'content-type': 'application/json' }, body: JSON.stringify(body) })).json();
const server = createServer((request, response) => { request.resume(); response.end('ok ' + request.url); });
server.listen(process.env.PORT, '127.0.0.1', async () => {
  const { delivery } = await call(process.env.SANDBOX_URL + '/_sandbox/trigger', {});
  console.log(JSON.stringify({ port: process.env.PORT, status: delivery.status, body: delivery.responseBody, target: delivery.target }));
  server.close();
});
`;

describe('merchant-payments exec --webhook-path', { timeout: 60_000 }, () => {
  const paid = async (env: NodeJS.ProcessEnv, ...flags: string[]) => {
    writeFileSync(join(folder, 'shop.mjs'), shop);
    const args = ['exec', '--webhook-path', '/webhooks', ...flags, '--', process.execPath, 'shop.mjs'];
    const { status, stdout, stderr } = await run(args, env);
    expect([status, stderr.includes('Error')], stderr).toEqual([0, false]);
    return { ...JSON.parse(stdout), stderr };
  };

  test('gives the program a port, and sends webhooks there', async () => {
    const PORT = String(await freePort());
    const { stderr, ...result } = await paid({ PORT });
    expect(result).toEqual({
      port: PORT,
      status: 200,
      body: 'ok /webhooks',
      target: `http://localhost:${PORT}/webhooks`,
    });
    expect(stderr).toMatch(
      /^This sandbox is new: .*--data shop\.json\.\nSandbox dashboard: http:\S+\n\S+ {2}checkout chk_\w+ {2}paid {2}ord_\w+\n\d\d:\d\d:\d\d {2}order\.paid ord_\w+ {2}delivered 200 {2}\d+ ms, attempt 1\n$/,
    );
    expect((await paid({ PORT }, '--quiet')).stderr).toBe('');
  });

  test('takes an empty PORT for none', async () => {
    const { port, stderr } = await paid({ PORT: '' });
    expect(stderr.includes('is taken')).toBe(port !== '3000');
  });

  test.each(['127.0.0.1', '::'])('takes a free port if 3000 is taken on %s, and says so', async (host) => {
    await take(3000, host);
    const { port, status, stderr } = await paid({});
    expect(status).toBe(200);
    expect(port).not.toBe('3000');
    expect(stderr).toContain(`Port 3000 is taken: the command gets PORT=${port}.\n`);
  });

  test.each(['abc', '0', '65536'])('does not take the PORT %s, which is none', async (PORT) => {
    expect(await run(['exec', '--webhook-path', '/a', '--', 'true'], { PORT })).toMatchObject({
      status: 2,
      stderr: expect.stringContaining(`PORT: "${PORT}" is not a port. Set it to a number, or unset it.`),
    });
  });

  test('encodes the blanks of a path', async () => {
    const { status, stderr } = await run([
      'exec',
      '--webhook-path',
      '/a b',
      '--',
      process.execPath,
      '--version',
    ]);
    expect([status, stderr]).toEqual([0, expect.stringContaining('\nSandbox dashboard: ')]);
  });

  test.each<[string[], string]>([
    [['--json'], '--json is not a flag. Known are --port,'],
    [
      ['--webhook-path', 'webhooks'],
      '--webhook-path: "webhooks" does not begin with /. Pass one such as /webhooks.',
    ],
    [['--webhook-path', ''], '--webhook-path is empty. Pass <path>, or leave it out.'],
    [
      ['--webhook-path', '/a', '--webhook-url', 'http://localhost:1/a'],
      'Pass --webhook-path or --webhook-url, not both.',
    ],
  ])('%j is told what is wrong', async (flags, message) => {
    expect(await run(['exec', ...flags, '--', 'true'])).toMatchObject({
      status: 2,
      stderr: expect.stringContaining(message),
    });
  });
});

const onTerminal = test.skipIf(isWindows || !has('python3'));

onTerminal.each([
  ['on a terminal', []],
  ['with its output in a file and no input', ['sh', '-c', 'exec "$@" </dev/null >output.txt 2>&1', 'sh']],
])('one Ctrl-C reaches the program of exec once, %s', { timeout: 30_000 }, async (_, around) => {
  const program = join(folder, 'counts.mjs');
  writeFileSync(
    program,
    "import { writeFileSync } from 'node:fs'; let n = 0; process.on('SIGINT', () => { n++; setTimeout(() => { writeFileSync('interrupts', `${n}`); process.exit(7); }, 300); }); writeFileSync('ready', ''); setInterval(() => {}, 1000);",
  );
  rmSync(join(folder, 'ready'), { force: true });
  const terminal = `
import os, pty, sys, time
pid, fd = pty.fork()
if pid == 0:
    os.execvp(sys.argv[1], sys.argv[1:])
while not os.path.exists('ready'):
    time.sleep(0.05)
os.write(fd, b'\\x03')
try:
    while os.read(fd, 1024):
        pass
except OSError:
    pass
_, status = os.waitpid(pid, 0)
print(os.waitstatus_to_exitcode(status))
`;
  const args = ['-c', terminal, ...around, process.execPath, bin, 'exec', '--', process.execPath, program];
  const { stdout } = await start(args, {}, 'python3').ended;
  expect([stdout, readFileSync(join(folder, 'interrupts'), 'utf8')]).toEqual(['7\n', '1']);
});

test.skipIf(endsAtOnce).each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
  'a %s that no terminal sent is passed on',
  { timeout: 30_000 },
  async (signal) => {
    const program = `process.on('${signal}', () => process.exit(7)); console.log('ready'); setInterval(() => {}, 1000);`;
    const args = [bin, 'exec', '--', process.execPath, '-e', program];
    // In a session of its own, which no terminal controls.
    const child = spawn(process.execPath, args, { env: inherited, detached: true });
    children.push(child);
    await expect.poll(() => child.stdout.read()?.toString(), { timeout: 20_000 }).toContain('ready');
    child.kill(signal);
    expect((await once(child, 'exit'))[0]).toBe(7);
  },
);

const ownData = () => join(mkdtempSync(join(folder, 'data-')), 'data.json');

test.skipIf(isWindows)(
  'sandbox | head ends quietly, and writes its data first',
  { timeout: 30_000 },
  async () => {
    const data = ownData();
    const script = `'${process.execPath}' '${bin}' sandbox --port 0 --data '${data}' | head -n 3`;
    const { status, stdout, stderr } = await start(['-c', script], {}, 'sh').ended;
    expect([status, stderr]).toEqual([0, '']);
    expect(stdout).toContain('merchant-payments sandbox');
    expect(JSON.parse(readFileSync(data, 'utf8'))).toMatchObject({ version: 2 });
  },
);

test('--allow-host is a host name in any letters, with or without a port', { timeout: 30_000 }, async () => {
  const { url } = await serve(['--allow-host', 'Sandbox.Test:8080', '--allow-host', 'other.test']);
  const status = async (host: string) => {
    const sent = request(`${url}/checkouts`, { headers: { host } }).end();
    const [response] = await once(sent, 'response');
    return response.resume().statusCode;
  };
  expect(await Promise.all(['sandbox.test', 'other.test', 'evil.test'].map(status))).toEqual([200, 200, 421]);
});

describe('--data', { timeout: 60_000 }, () => {
  test.skipIf(endsAtOnce)('a second sandbox on one file is refused while the first one runs', async () => {
    const data = ownData();
    const first = await serve(['--data', data]);
    const second = await run(['sandbox', '--port', '0', '--data', data]);
    expect(second).toMatchObject({ status: 1, stdout: '' });
    expect(second.stderr).toBe(
      `--data: another sandbox (process ${first.child.pid}) keeps ${data}. End it, or name another file. If there is none, delete ${data}.lock.\n`,
    );
    first.child.kill('SIGTERM');
    await first.ended;
    expect(existsSync(`${data}.lock`)).toBe(false);
    const third = await serve(['--data', data]);
    third.child.kill('SIGKILL');
    await third.ended;
    expect(existsSync(`${data}.lock`)).toBe(true);
    const fourth = await serve(['--data', data]);
    fourth.child.kill('SIGTERM');
    expect((await fourth.ended).status).toBe(0);
    expect(readdirSync(join(data, '..'))).toEqual(['data.json']);
  });

  test.skipIf(isWindows)('a symbolic link stays one, and what it leads to has the data', async () => {
    const data = ownData();
    const link = `${data}.link`;
    writeFileSync(`${data}.lock`, ''); // Of a process that was killed before it wrote its number.
    symlinkSync(data, link);
    for (const path of [data, link]) {
      const { child, ended } = await serve(['--data', path]);
      child.kill('SIGTERM');
      await ended;
    }
    expect(lstatSync(link).isSymbolicLink()).toBe(true);
    expect(JSON.parse(readFileSync(data, 'utf8'))).toMatchObject({ version: 2 });
  });

  test('--products has products at the start, after a reset, and where the file holds none yet', async () => {
    const data = ownData();
    const seeds = join(folder, 'products.json');
    writeFileSync(seeds, '[{"name":"Mug","price":"19.90"}]');
    const names = async (url: string) => {
      const state = await (await fetch(`${url}/_sandbox/state`)).json();
      return state.products.map(({ name }: { name: string }) => name);
    };
    const first = await serve(['--data', data, '--products', seeds]);
    expect(await names(first.url)).toEqual(['Mug']);
    await run(['trigger', 'order.paid', '--sandbox', first.url]);
    expect(await names(first.url)).toEqual(['Mug', 'Test payment']);
    await run(['reset', '--sandbox', first.url]);
    expect(await names(first.url)).toEqual(['Mug']);
    first.child.kill('SIGTERM');
    await first.ended;
    writeFileSync(seeds, '[{"name":"Bowl","price":"12.00"}]');
    const second = await serve(['--data', data, '--products', seeds]);
    expect(await names(second.url)).toEqual(isWindows ? ['Bowl'] : ['Mug']);
  });

  test.each<[string, string]>([
    ['{', '--products: products.json could not be read: it is not JSON.'],
    ['{}', '--products: pass an array of products.'],
    ['[1]', '--products.0: pass an object, such as { "name": "Mug", "price": "19.90" }.'],
    ['[{"name":"Mug"}]', '--products.0: price '],
  ])('--products with %s is told what is wrong', async (text, message) => {
    writeFileSync(join(folder, 'products.json'), text);
    expect(await run(['sandbox', '--port', '0', '--products', 'products.json'])).toMatchObject({
      status: 2,
      stderr: expect.stringContaining(message),
    });
  });
});

test('JSON files may begin with a byte order mark, as Windows writes one', { timeout: 30_000 }, async () => {
  const file = (name: string, content: unknown) => {
    writeFileSync(join(folder, name), `\ufeff${JSON.stringify(content)}`);
    return name;
  };
  const flags = [
    ...['--products', file('marked-seeds.json', [{ name: 'Bowl', price: '12.00' }])],
    ...['--data', file('marked-data.json', createSandbox({ seed: 1 }).snapshot())],
    ...['--scheme', file('marked-scheme.json', { encoding: 'base64' })],
  ];
  const { url } = await serve(flags);
  const state = await (await fetch(`${url}/_sandbox/state`)).json();
  expect(state.products).toMatchObject([{ name: 'Bowl' }]);
  const delivery = file('marked-delivery.json', { headers: {}, rawBody: '{}' });
  const { stderr } = await run(['identify', delivery], { PAYMENTS_WEBHOOK_SECRET: 'whsec_1' });
  expect(stderr).toBe('');
});

describe('the log', { timeout: 60_000 }, () => {
  test('tells resets, clock moves and faults', async () => {
    const { url, log } = await serve();
    const env = { SANDBOX_URL: url };
    await run(['fault', 'status', '503', '--path', '/v1/products'], env);
    await run(['fault', 'clear'], env);
    await run(['advance', '2h'], env);
    await run(['reset'], env);
    await expect.poll(log).toContain('reset all data is gone, and the clock is set back\n');
    expect(log()).toMatch(
      /fault status 503 · next \/v1\/products request\n.*fault all are cleared\n.*clock it is \d{4}-\d\d-\d\d [\d:]{8}\n.*reset /,
    );
  });

  test('tells a hint once; later lines only name the doctor', async () => {
    const target = await receiver(500, 'oh no');
    const { url, log } = await serve(['--webhook-url', target, '--unspecified', 'retries=[]']);
    for (const amount of ['1.00', '2.00', '3.00'])
      await run(['trigger', 'order.paid', '--amount', amount, '--sandbox', url]);
    await expect.poll(() => log().split('attempt 1').length).toBe(4);
    const notes = log()
      .split('\n')
      .filter((line) => line.startsWith('          ! '));
    const doctor = `To find out why: npx merchant-payments doctor --sandbox ${url}`;
    expect(notes).toHaveLength(3);
    expect(notes[0]?.length).toBeGreaterThan(doctor.length + 30);
    expect(notes.slice(1)).toEqual([`          ! ${doctor}`, `          ! ${doctor}`]);
  });

  test('what the customer does is in the log, and a tag is told once', async () => {
    const { url, log } = await serve();
    const control = (path: string) => fetch(`${url}/_sandbox${path}`, { method: 'POST' });
    const api = async (path: string, body: object) => {
      const headers = { 'x-api-key': 'service_test_sandbox_0000', 'content-type': 'application/json' };
      const response = await fetch(`${url}/v1${path}`, {
        method: 'POST',
        headers,
        body: JSON.stringify(body),
      });
      return (await response.json()).data.id;
    };
    const productId = await api('/products', { name: 'Mug', price: '19.90' });
    const ids = [await api('/checkouts', { productId }), await api('/checkouts', { productId })];
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

  test('deliver sends what is held, or one event again, and says when one is retried', async () => {
    const target = await receiver(200);
    const { url } = await serve(['--webhook-url', target, '--webhooks', 'manual']);
    const env = { SANDBOX_URL: url };
    expect(await run(['deliver'], env)).toMatchObject({ status: 0, stdout: 'No event is held or due.\n' });
    await run(['trigger', 'order.paid'], env);
    const sent = new RegExp(`^Webhook to ${target}: 200 in \\d+ ms\\.\n$`);
    expect((await run(['deliver'], env)).stdout).toMatch(sent);
    const { events } = await (await fetch(`${url}/_sandbox/events`)).json();
    for (const id of [events[0].id, events[0].data.order_id])
      expect((await run(['deliver', id], env)).stdout).toMatch(sent);
    const failing = await serve(['--webhook-url', await receiver(500)]);
    await run(['trigger'], { SANDBOX_URL: failing.url });
    expect((await run(['deliver'], { SANDBOX_URL: failing.url })).stdout).toMatch(
      /^No event is held\. 1 event is retried in \d+ s: `deliver ord_\w+` sends it now\.\n$/,
    );
    expect(await run(['deliver', 'evt_none'], env)).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('There is no event "evt_none"'),
    });
  });
});

// A red text, a line that is cleared, a title of the window, text that runs backwards.
const hostile = '\u001b[31mred\u001b[2K\u009b1m\u001b]0;title\u0007\u202eback';
const shown = escapeInvisible(hostile);

describe('escape sequences of strangers are made visible', { timeout: 60_000 }, () => {
  test('in the log and in what trigger and fault print', async () => {
    const target = await receiver(401, `<p>${hostile}</p>`);
    const { url, log } = await serve(['--webhook-url', target]);
    await fetch(`${url}/v1/products`, {
      method: 'POST',
      headers: { 'x-api-key': 'service_test_sandbox_0000', 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'Mug', price: '1', [hostile]: 1 }),
    });
    const { stdout } = await run(['trigger', 'order.paid', '--sandbox', url]);
    const fault = await run(['fault', 'status', '503', '--path', `/v1/${hostile}`, '--sandbox', url]);
    await expect.poll(log).toContain(`${shown}`);
    for (const text of [log(), stdout, fault.stderr])
      expect(text).toBe(text.split('\n').map(escapeInvisible).join('\n'));
    expect(fault.stderr).toContain(escapeInvisible(JSON.stringify(`/v1/${hostile}`)));
  });

  test('in what capture and identify print, as text and as JSON', async () => {
    const port = await freePort();
    const secret = 'whsec_1';
    const rawBody = JSON.stringify({ type: 'order.paid', data: { order_id: 'ord_1', [hostile]: hostile } });
    const capture = start(['capture', '--port', String(port), '--out', 'caught.json'], {
      PAYMENTS_WEBHOOK_SECRET: secret,
    });
    await expect.poll(() => capture.output.stderr, { timeout: 20_000 }).toContain('Waiting on');
    const post = (path: string, headers: Record<string, string>, body = '') =>
      new Promise((resolve, reject) => {
        request({ port, host: '127.0.0.1', method: 'POST', path, headers }, (response) => {
          response.resume().on('end', resolve);
        })
          .on('error', reject)
          .end(body);
      });
    await post('/a%1B[31m', {});
    await post('/b', { ...sign({ rawBody, secret }), 'x-service-timestamp': '\u009b31m' }, rawBody);
    const caught = await capture.ended;
    const service = createSandbox();
    await service.listen();
    const env = {
      PAYMENTS_API_KEY: service.apiKey,
      PAYMENTS_BASE_URL: service.url,
      PAYMENTS_WEBHOOK_SECRET: secret,
    };
    const link = await run(['identify', 'caught.json', '--link'], env);
    const json = await run(['identify', 'caught.json', '--link', '--json'], env);
    await service.close();
    for (const text of [caught.stdout, caught.stderr, link.stdout, json.stdout])
      expect(text).toBe(text.split('\n').map(escapeInvisible).join('\n'));
    expect(link.stdout).toContain(shown);
    expect(JSON.parse(json.stdout).undocumented).toContain(`data[${JSON.stringify(hostile)}]`);
  });

  test('in errors', async () => {
    for (const args of [
      [hostile],
      ['sandbox', `--${hostile}`],
      ['reset', '--sandbox', hostile],
      ['trigger', hostile],
      ['identify', hostile],
      ['exec', '--', hostile],
    ]) {
      const { status, stderr } = await run(args);
      expect(status).toBeGreaterThan(0);
      expect(stderr).toBe(stderr.split('\n').map(escapeInvisible).join('\n'));
    }
  });

  test('since every command prints through terminal.ts', () => {
    const direct = filesIn('src/cli').filter(
      (name) =>
        // bin.ts prints its own version alone, a prompt has no line end, and crash-test.ts rewrites a line of figures.
        !['terminal.ts', 'bin.ts', 'signing.ts', 'crash-test.ts'].includes(name) &&
        /process\.std(?:out|err)\.write|console\./.test(readFileSync(`src/cli/${name}`, 'utf8')),
    );
    expect(direct).toEqual([]);
  });
});

test('identify takes a delivery that a receiver has stored', async () => {
  const secret = 'whsec_1';
  const rawBody = '{"type":"order.paid","data":{"order_id":"ord_1","amount":"1.00","currency":"USD"}}';
  const headers = sign({ rawBody, secret, scheme: { encoding: 'base64' } });
  const event = JSON.parse(rawBody);
  const stored = { key: 'order.paid:ord_1', event, rawBody, headers, receivedAt: '2026-01-01T00:00:00Z' };
  for (const delivery of [
    stored,
    { ...stored, rawBody: Buffer.from(rawBody).toString('base64'), encoding: 'base64' },
  ]) {
    writeFileSync(join(folder, 'stored.json'), JSON.stringify(delivery));
    const { status, stdout } = await run(['identify', 'stored.json'], { PAYMENTS_WEBHOOK_SECRET: secret });
    expect([status, stdout]).toEqual([0, expect.stringContaining("scheme: { encoding: 'base64' },")]);
  }
  writeFileSync(join(folder, 'other.json'), '{"a":1}');
  expect((await run(['identify', 'other.json'])).stderr).toContain('other.json holds no delivery');
});

test.each<[string[], string]>([
  [['sandbox', '--host', ''], '--host is empty. Pass <address>, or leave it out.'],
  [['sandbox', '--allow-host', 'a b'], '--allow-host: "a b" is not a host name.'],
  [['sandbox', '--data', ''], '--data is empty. Pass <file>, or leave it out.'],
  [['sandbox', '--unspecified', 'settlement=5'], '--unspecified settlement: "5" has no unit.'],
  [['sandbox', '--unspecified', 'foo=1'], '--unspecified foo is unknown.'],
  [['sandbox', '--unspecified', 'retries=[5]'], '--unspecified retries: "[5]" has no unit.'],
  [
    ['sandbox', '--webhook-url', 'http://93.184.215.14/'],
    '--webhook-url: 93.184.215.14 is neither on this machine',
  ],
  [['deliver', ''], 'The event id is empty. Pass one, or leave it out.'],
  [['advance', '999999999d'], '"999999999d" is too long. Pass at most "36500d".'],
  [['advance', '5'], '"5" has no unit. Pass "5s" for seconds'],
  [['fault', 'delay', '5'], 'has no unit'],
  [['fault', 'status', '503', '--path', 'v1/products'], '--path: no operation is "v1/products". There'],
  [
    ['fault', 'status', '503', '--method', 'PSOT'],
    '--method: no operation is "PSOT". There are GET /v1/products, ',
  ],
])('merchant-payments %j is told what is wrong', async (args, message) => {
  expect(await run(args)).toMatchObject({ status: 2, stderr: expect.stringContaining(message) });
});

test('a word of fault is not called a flag', async () => {
  expect((await run(['fault', 'delay', '5'])).stderr).toMatch(/^delay: "5" has no unit/);
});
