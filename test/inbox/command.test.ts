import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { sign } from '../../src/webhooks/index.js';
import { connect, opened, orderPaid, secret, temporaryFile } from './inboxes.js';

const folder = mkdtempSync(join(tmpdir(), 'inbox-command-'));
const bin = join(folder, 'cli.mjs');

beforeAll(async () => {
  await build({
    entryPoints: ['src/cli/main.ts'],
    outfile: bin,
    bundle: true,
    platform: 'node',
    format: 'esm',
  });
});
afterAll(() => rmSync(folder, { recursive: true, maxRetries: 10 }));

function run(...args: string[]) {
  const { NODE_ENV: _, FORCE_COLOR: __, ...env } = process.env;
  const flags = ['--disable-warning=ExperimentalWarning', bin, 'inbox', ...args];
  const { status, stdout, stderr } = spawnSync(process.execPath, flags, { encoding: 'utf8', env });
  return { status, stdout, stderr };
}

/** A file that a running server has open: one done, one parked. */
async function filled() {
  const file = temporaryFile();
  const fail = { on: true };
  const all = opened({
    file,
    retries: [],
    on: {
      'order.paid': (event) => {
        if (fail.on && event.data.order_id === 'ord_2') throw new Error('no stock');
      },
    },
  });
  for (const id of ['ord_1', 'ord_2']) await all.post(orderPaid(id));
  await all.inbox.idle();
  return { ...all, file, fail };
}

describe('merchant-payments inbox', () => {
  it('shows the states and what is parked', async () => {
    const { file } = await filled();
    const { status, stdout } = run(file);
    expect(status).toBe(0);
    expect(stdout).toBe(
      [
        'pending           0',
        'running           0',
        'done              1',
        'parked            1',
        'refused           0',
        'oldestPendingMs   -',
        'oldestRunningMs   -',
        '',
        'PARKED             ATTEMPTS   LAST ERROR',
        'order.paid:ord_2   1          Error: no stock',
        '',
      ].join('\n'),
    );
    expect(JSON.parse(run(file, '--json').stdout)).toMatchObject({
      ...{ pending: 0, running: 0, done: 1, parked: 1, oldestPendingMs: null },
      parkedDeliveries: [{ key: 'order.paid:ord_2', state: 'parked', lastError: 'Error: no stock' }],
    });
  });

  it('shows one delivery with its event', async () => {
    const { file, inbox } = await filled();
    const { stdout } = run(file, 'show', 'order.paid:ord_2');
    expect(stdout).toContain('state           parked');
    expect(stdout).toContain('"order_id": "ord_2"');
    expect(JSON.parse(run(file, 'show', 'order.paid:ord_2', '--json').stdout)).toEqual(
      await inbox.get('order.paid:ord_2'),
    );
    expect(run(file, 'show', 'nope')).toEqual({
      status: 1,
      stdout: '',
      stderr: 'There is no delivery "nope".\n',
    });
  });

  it.each([[['retry', 'order.paid:ord_2']], [['retry', '--parked']]])(
    '%s: the running server does it',
    async (args) => {
      const { file, inbox, fail } = await filled();
      fail.on = false;
      expect(run(file, ...args)).toMatchObject({ status: 0, stdout: '✓ 1 due now\n' });
      await vi.waitFor(async () => expect(await inbox.stats()).toMatchObject({ done: 2, parked: 0 }), {
        timeout: 15_000,
      });
    },
  );

  it('retry and discard of what is not waiting say so', async () => {
    const { file } = await filled();
    for (const action of ['retry', 'discard']) {
      expect(run(file, action, 'order.paid:ord_1')).toMatchObject({
        status: 1,
        stderr: 'There is no delivery "order.paid:ord_1" that is pending or parked.\n',
      });
    }
  });

  it('discards a delivery, and purges what is old', async () => {
    const { file, inbox } = await filled();
    expect(run(file, 'discard', 'order.paid:ord_2', '--json').stdout).toBe('{"discarded":1}\n');
    expect(await inbox.get('order.paid:ord_2')).toMatchObject({ state: 'discarded' });
    expect(run(file, 'purge', '--older-than', '1h').stdout).toContain('0 purged');
    expect(run(file, 'purge', '--older-than', '0s', '--json').stdout).toBe('{"purged":2}\n');
    expect(run(file, 'show', 'order.paid:ord_1').stdout).toContain('purged');
  });

  it.each<[string, string[], string]>([
    ['neither file nor URL', [], 'Pass the file of the inbox or the URL of its database'],
    ['another action', ['inbox.sqlite', 'delete'], '"delete" is not an action. Known are stats, show'],
    ['show without a key', ['inbox.sqlite', 'show'], 'Pass the key of a delivery'],
    ['retry without a key', ['inbox.sqlite', 'retry'], 'Pass the key of a delivery'],
    ['retry of one and of all', ['inbox.sqlite', 'retry', 'k', '--parked'], '"k" is not expected here.'],
    ['two keys', ['inbox.sqlite', 'show', 'a', 'b'], '"b" is not expected here.'],
    ['purge without a time', ['inbox.sqlite', 'purge'], 'Pass --older-than'],
    ['purge with another time', ['inbox.sqlite', 'purge', '--older-than', '90'], 'Pass --older-than'],
  ])('%s is an error of usage, and no file is made', (_form, args, message) => {
    const { status, stderr } = run(...args);
    expect(status).toBe(2);
    expect(stderr).toContain(message);
    expect(existsSync('inbox.sqlite')).toBe(false);
  });

  it('of a file that does not exist is an error, and it is not made', () => {
    const file = temporaryFile();
    expect(run(file)).toEqual({ status: 1, stdout: '', stderr: `${JSON.stringify(file)} does not exist.\n` });
    expect(existsSync(file)).toBe(false);
  });

  it('of a file that holds no inbox is an error, and it is left as it was', () => {
    const text = temporaryFile();
    writeFileSync(text, 'no database'.repeat(200));
    expect(run(text)).toMatchObject({ status: 1, stderr: expect.stringContaining('file is not a database') });
    const other = temporaryFile();
    const database = connect(other);
    database.exec('CREATE TABLE orders (id TEXT)');
    database.close();
    const before = readFileSync(other);
    expect(run(other)).toMatchObject({ status: 1, stderr: expect.stringContaining('holds no inbox') });
    expect(readFileSync(other)).toEqual(before);
  });

  it('shows what was refused, finds the scheme that signed it, and recovers it: no order is lost', async () => {
    const all = await filled();
    const scheme = { content: '{timestamp}{body}' };
    for (const id of ['ord_7', 'ord_8']) {
      const rawBody = orderPaid(id);
      expect(await all.post(rawBody, sign({ rawBody, secret, scheme }))).toMatchObject({ status: 400 });
    }
    await all.post('evil\u001b[2J\u202e', {
      'x-service-signature': 'f'.repeat(64),
      'x-service-timestamp': '1',
    });
    const { stdout } = run(all.file, 'refused');
    expect(stdout).toMatch(/^RECEIVED AT +REFUSED BECAUSE +BYTES +HEADERS +BODY\n/);
    expect(stdout).toContain('signature_mismatch');
    expect(stdout).toContain('"order_id":"ord_8"');
    expect(stdout).toContain('evil\\u001b[2J\\u202e');
    expect(run(all.file, 'refused', '--json').stdout).toContain('\\u202e');
    expect(JSON.parse(run(all.file, 'refused', '--json').stdout)).toHaveLength(3);
    vi.stubEnv('PAYMENTS_WEBHOOK_SECRET', secret);
    const identified = run(all.file, 'refused', '--identify');
    expect(identified).toMatchObject({
      status: 0,
      stdout: expect.stringContaining("content: '{timestamp}{body}'"),
    });
    const given = JSON.parse(run(all.file, 'refused', '--identify', '--json').stdout);
    expect(given.scheme).toEqual(scheme);
    expect(run(all.file, 'recover', '--scheme', JSON.stringify(scheme))).toMatchObject({
      status: 0,
      stdout: '✓ 2 recovered, 0 stored before, 1 still refused\n',
    });
    await vi.waitFor(async () => expect(await all.inbox.stats()).toMatchObject({ done: 3, refused: 1 }), {
      timeout: 15_000,
    });
  });

  it('prints no control characters of a delivery', async () => {
    const { file, post, inbox } = await filled();
    await post(JSON.stringify({ type: 'evil\u001b[2J', data: {} }));
    await inbox.idle();
    expect(run(file).stdout).toMatch(/^evil\\u001b\[2J:[0-9a-f]{64} +1/m);
  });
});
