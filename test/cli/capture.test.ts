import { once } from 'node:events';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { request } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { createSandbox } from 'merchant-payments/sandbox';
import { sign } from 'merchant-payments/webhooks';
import { describe, expect, test } from 'vitest';
import { escapeInvisible } from '../../src/input/visible.js';
import { hostile, testRefusals, useProgram } from '../helpers/command.js';
import { permissions } from '../helpers/systems.js';

const program = useProgram();
const secret = 'whsec_9f2c4e7a10b35d68c1e4';
const known = { PAYMENTS_WEBHOOK_SECRET: secret };
const rawBody = Buffer.from(
  '{"type": "order.paid", "data": {"order_id": "ord_é", "amount": "1.00", "currency": "EUR"}}\r\n',
);

/** Starts the command on a free port, where it waits. */
async function capture(args: string[], env: NodeJS.ProcessEnv = known) {
  const { output, ended } = program.start(['capture', '--port', '0', ...args], env);
  await expect.poll(() => output.stderr, { timeout: 20_000 }).toContain('Ctrl+C');
  const url = /http:\S+/.exec(output.stderr)?.[0] ?? '';
  const send = (path = '/', body: string | Buffer = rawBody, headers = sign({ rawBody: body, secret })) =>
    fetch(url + path, { method: 'POST', headers, body: new Uint8Array(Buffer.from(body)) });
  return { url, ended, send };
}

/** Opens a connection on which a test writes the request itself. */
async function connectTo(url: string) {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  return socket;
}

testRefusals([
  [
    ['capture', '--host', '192.0.2.1'],
    'Cannot listen on port 4390 of 192.0.2.1 (EADDRNOTAVAIL). Pass another --host or --port.',
    { status: 1 },
  ],
  [['capture', '--host', '192.0.2.1', '--url', 'foo'], '--url "foo" is not an http: URL.'],
  [
    ['capture', '--port', '0', '--out', 'missing/delivery.json'],
    'missing/delivery.json cannot be written (ENOENT). Pass another --out.\n',
    { status: 1 },
  ],
]);

describe('merchant-payments capture', () => {
  test('stores one delivery byte for byte, responds 500, and says how it is signed', async () => {
    const { url, ended, send } = await capture(['--out', 'one.json']);
    expect((await fetch(url)).status).toBe(405);
    const unsigned = await send('/other', '{}', {});
    expect([unsigned.status, await unsigned.text()]).toEqual([
      500,
      'Not captured: x-service-signature is missing.\n',
    ]);
    const headers = sign({ rawBody, secret, scheme: { prefix: 'sha256=' } });
    expect((await send('/webhooks?a=b', rawBody, headers)).status).toBe(500);
    const { status, stdout, stderr } = await ended;
    expect(stdout).toContain("scheme: { prefix: 'sha256=' },");
    expect(stdout + stderr).not.toContain(secret);
    expect(status).toBe(0);
    const file = join(program.folder, 'one.json');
    const kept = JSON.parse(readFileSync(file, 'utf8'));
    expect(Buffer.from(kept.bodyBase64, 'base64')).toEqual(rawBody);
    expect(kept.path).toBe('/webhooks?a=b');
    expect(statSync(file).mode & 0o777).toBe(permissions(0o600));
    expect((await program.run(['identify', 'one.json'], known)).stdout).toBe(stdout);
  });

  test('outlives a POST that breaks off in its body, and waits on', async () => {
    const { url, ended, send } = await capture(['--out', 'after-break.json']);
    const socket = await connectTo(url);
    const head =
      'POST /webhooks HTTP/1.1\r\nhost: a\r\nx-service-signature: ab\r\ncontent-length: 100\r\n\r\n{"ty';
    await new Promise((resolve) => socket.write(head, resolve));
    socket.end();
    await once(socket.resume(), 'close');
    await send();
    const { status, stderr } = await ended;
    expect(stderr).toContain('broke off');
    expect(status).toBe(0);
  });

  test('responds 413 to a body over 1 MiB, and waits on', async () => {
    const { url, ended, send } = await capture(['--out', 'after-large.json']);
    const socket = await connectTo(url);
    const size = 30 * 1024 * 1024;
    // Some senders write the whole body before they read.
    socket.write(`POST / HTTP/1.1\r\nhost: a\r\nx-service-signature: ab\r\ncontent-length: ${size}\r\n\r\n`);
    await new Promise((resolve) => socket.write(Buffer.alloc(size), resolve));
    const [head] = await once(socket, 'data');
    expect(String(head)).toMatch(/^HTTP\/1\.1 413 /);
    socket.destroy();
    await send();
    expect((await ended).status).toBe(0);
  });

  test('loses no delivery if there is no secret, and overwrites no file', async () => {
    const { ended, send } = await capture([], {});
    await send();
    expect(await ended).toMatchObject({ status: 1 });
    const [file = ''] = readdirSync(program.folder).filter((name) => name.startsWith('delivery-'));
    expect((await program.run(['identify', file], known)).status).toBe(0);
    // Before it waits: the delivery would be lost.
    expect(await program.run(['capture', '--port', '0', '--out', file], known)).toEqual({
      status: 1,
      stdout: '',
      stderr: `${file} exists already. Pass another --out.\n`,
    });
  });

  test('makes escape sequences visible in what capture and identify print, as text and as JSON', async () => {
    const body = JSON.stringify({ type: 'order.paid', data: { order_id: 'ord_1', [hostile]: hostile } });
    const { url, ended } = await capture(['--out', 'caught.json']);
    // Unlike fetch(), it sends any path and header.
    const post = async (path: string, headers: Record<string, string>, content = '') => {
      const sent = request(url, { method: 'POST', path, headers }).end(content);
      const [response] = await once(sent, 'response');
      await once(response.resume(), 'end');
    };
    await post('/a%1B[31m', {});
    await post('/b', { ...sign({ rawBody: body, secret }), 'x-service-timestamp': '\u009b31m' }, body);
    const caught = await ended;
    await using service = await createSandbox().listen();
    const env = { ...known, PAYMENTS_API_KEY: service.apiKey, PAYMENTS_BASE_URL: service.url };
    const link = await program.run(['identify', 'caught.json', '--link'], env);
    const json = await program.run(['identify', 'caught.json', '--link', '--json'], env);
    for (const text of [caught.stdout, caught.stderr, link.stdout, json.stdout])
      expect(text).toBe(text.split('\n').map(escapeInvisible).join('\n'));
    expect(link.stdout).toContain(escapeInvisible(hostile));
    expect(JSON.parse(json.stdout).undocumented).toContain(`data[${JSON.stringify(hostile)}]`);
  });
});
