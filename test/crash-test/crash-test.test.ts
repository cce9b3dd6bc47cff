import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, onTestFinished, test } from 'vitest';
import * as z from 'zod/mini';
import { command, planted, runCrashTest, shopArguments, testShop } from './shops.js';

const report = z.object({
  ok: z.boolean(),
  seed: z.number(),
  findings: z.array(z.object({ code: z.string(), warning: z.boolean(), cause: z.string(), fix: z.string() })),
});
const seed = 20_261;
const isPosix = process.platform !== 'win32';
const node = JSON.stringify(process.execPath);

/** No process of the shop is left, whatever has happened. */
afterEach(() => {
  if (isPosix) expect(processesOf('shop.mjs')).toEqual([]);
});

describe.skipIf(!isPosix)('the crash test', () => {
  test('finds nothing in a shop that is right', async () => {
    const { code, stdout } = await testShop('none', seed, 100);
    expect(report.parse(JSON.parse(stdout))).toMatchObject({ ok: true, seed, findings: [] });
    expect(code).toBe(0);
  });

  test.each(Object.entries(planted))('finds a shop that %s: %s', async (fault, code) => {
    const outcome = await testShop(fault, seed, 100);
    const { ok, findings } = report.parse(JSON.parse(outcome.stdout));
    expect(findings.map((finding) => finding.code)).toContain(code);
    expect([ok, outcome.code]).toEqual([false, 1]);
  });

  test('tells several instances apart, and freezes one of them', async () => {
    const { code, stdout } = await runCrashTest([
      ...['--webhook-path', '/webhooks', '--json', '--orders', '40', '--instances', '2', '--settle', '1s'],
      ...['--books', `${node} -e ""`, '--', process.execPath, '-e', receiver],
    ]);
    expect(report.parse(JSON.parse(stdout)).findings.map((finding) => finding.code)).toEqual([
      'lost',
      'forged_accepted',
    ]);
    expect(code).toBe(1);
  });

  test.each([
    [
      'a program that does not start',
      ['-e', 'console.error("no database"); process.exit(3)'],
      'does_not_start',
      /exit code 3.*no database/s,
    ],
    ['a program that does not exist', undefined, 'does_not_start', /could not be started.*ENOENT/s],
  ])('%s ends it with code 2 and one sentence', async (_, args, code, message) => {
    const program = args === undefined ? ['no-such-program'] : [process.execPath, ...args];
    const outcome = await runCrashTest([
      '--webhook-path',
      '/webhooks',
      '--json',
      '--books',
      'true',
      '--',
      ...program,
    ]);
    expect(JSON.parse(outcome.stdout)).toEqual({
      ok: false,
      error: { code, message: expect.stringMatching(message) },
    });
    expect(outcome.code).toBe(2);
  });

  test('a program whose port is taken says so in its last lines', async () => {
    const taken = createServer((_, response) => response.end()).listen(0, '127.0.0.1');
    await once(taken, 'listening');
    onTestFinished(() => void taken.close());
    const address = taken.address();
    const port = typeof address === 'object' ? address?.port : 0;
    const listens = `require('node:http').createServer().listen(${port}, '127.0.0.1')`;
    const outcome = await runCrashTest([
      '--webhook-path',
      '/',
      '--books',
      'true',
      '--',
      process.execPath,
      '-e',
      listens,
    ]);
    expect(outcome.stderr).toContain('EADDRINUSE');
    expect(outcome.code).toBe(2);
  });

  test.each([
    [
      'fail',
      `${node} -e "console.error('no table'); process.exit(1)"`,
      { code: 'books_failed', message: expect.stringContaining('no table') },
    ],
    [
      'print rubbish',
      'echo order_id,amount',
      { code: 'books_unreadable', line: 1, message: expect.stringContaining('order_id,amount') },
    ],
  ])('books that %s are named', async (_, books, error) => {
    const args = [
      '--webhook-path',
      '/',
      '--json',
      '--orders',
      '20',
      '--books',
      books,
      '--',
      process.execPath,
      '-e',
      receiver,
    ];
    const { code, stdout } = await runCrashTest(args);
    expect(JSON.parse(stdout)).toEqual({ ok: false, error });
    expect(code).toBe(2);
  });

  test('Ctrl-C ends the program and the sandbox, prints what is known, and exits with 130', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'crash-test-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const args = ['crash-test', ...shopArguments('none', folder, seed, 5000)];
    const child = spawn(process.execPath, [...command, ...args]);
    let stderr = '';
    let stdout = '';
    child.stdout.on('data', (chunk) => (stdout += chunk));
    child.stderr.on('data', (chunk) => (stderr += chunk));
    await expect.poll(() => stderr, { timeout: 30_000 }).toContain('delivered');
    child.kill('SIGINT');
    const [code] = await once(child, 'close');
    expect(code).toBe(130);
    expect(JSON.parse(stdout)).toMatchObject({ ok: false, interrupted: true });
  });
});

/** Responds 200 to everything and keeps nothing. */
const receiver = `require('node:http').createServer((_, response) => response.end()).listen(process.env.PORT)`;

function processesOf(name: string): string[] {
  const lines = execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' }).split('\n');
  return lines.filter((line) => line.includes(`crash-test/${name}`) && !line.includes('bin.ts'));
}
