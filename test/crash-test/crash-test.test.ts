import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, onTestFinished, test } from 'vitest';
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
const folder = mkdtempSync(join(tmpdir(), 'crash-test-'));
afterAll(() => rmSync(folder, { recursive: true }));

const listen = (receive: string): string =>
  `/* ${folder} */ require('node:http').createServer((request, response) => ${receive}).listen(process.env.PORT)`;
/** Responds 200 to everything and keeps nothing. */
const receiver = listen('response.end()');
const startsOnce = `const { existsSync, writeFileSync } = require('node:fs');
if (existsSync('${folder}/started')) { console.log('started before'); process.exit(4); }
writeFileSync('${folder}/started', '');`;

/** No process of the shop is left, whatever has happened. */
afterEach(() => {
  if (isPosix) expect(processesLeft()).toEqual([]);
});

describe.skipIf(!isPosix)('the crash test', () => {
  test.each([
    ['is right', 'none'],
    ['matches payments by amounts of its own, which --open printed', 'own_amounts'],
  ])('finds nothing in a shop that %s', async (_, fault) => {
    const { code, stdout } = await testShop(fault, seed, 100, folder);
    expect(report.parse(JSON.parse(stdout))).toMatchObject({ ok: true, seed, findings: [] });
    expect(code).toBe(0);
  });

  test.each(Object.entries(planted))('finds a shop that %s: %s', async (fault, code) => {
    const outcome = await testShop(fault, seed, 100, folder);
    const { ok, findings } = report.parse(JSON.parse(outcome.stdout));
    expect(findings.map((finding) => finding.code)).toContain(code);
    expect([ok, outcome.code]).toEqual([false, 1]);
  });

  test('prints the lines that docs/crash-test.md shows, with other numbers', async () => {
    const page = readFileSync('docs/crash-test.md', 'utf8');
    const blocks = [...page.matchAll(/^```(\w*)\n(.*?)^```$/gms)].filter(([, language]) => language === '');
    const samples = blocks.map(([, , sample = '']) => linesOf(sample));
    const outputs = await Promise.all(
      ['responds_first', 'none'].map((fault) => {
        const args = shopArguments(fault, mkdtempSync(join(folder, 'docs-')), seed, 100);
        return runCrashTest(args.filter((arg) => arg !== '--json'));
      }),
    );
    const printed = outputs.map(({ stdout }) => linesOf(stdout));
    expect(printed).toEqual(
      samples.map((lines) =>
        expect.arrayContaining(
          lines.map((line) => (line.endsWith(' …') ? expect.stringContaining(line.slice(0, -2)) : line)),
        ),
      ),
    );
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
      [process.execPath, '-e', 'console.error("no database"); process.exit(3)'],
      'does_not_start',
      /exit code 3.*no database/s,
    ],
    ['a program that does not exist', ['no-such-program'], 'does_not_start', /could not be started.*ENOENT/s],
    [
      'a program that ends by itself after a kill',
      [process.execPath, '-e', startsOnce + receiver],
      'ends_by_itself',
      /exit code 4.*three times.*started before/s,
    ],
    [
      'a program that ends at each delivery',
      [process.execPath, '-e', listen("request.method === 'POST' ? process.exit(7) : response.end()")],
      'none_accepted',
      /No delivery got a 200, most of them no response\..*ended by itself \d+ times/s,
    ],
    [
      'a receiver that takes nothing',
      [process.execPath, '-e', listen('response.writeHead(404).end()')],
      'none_accepted',
      /No delivery got a 200, most of them 404\. Check --webhook-path and the secret/,
    ],
  ])('%s ends it with code 2 and one sentence', async (_, program, code, message) => {
    const flags = ['--webhook-path', '/webhooks', '--json', '--orders', '20', '--books', 'true'];
    const outcome = await runCrashTest([...flags, '--', ...program]);
    expect(JSON.parse(outcome.stdout)).toEqual({
      ok: false,
      error: { code, message: expect.stringMatching(message) },
    });
    expect(outcome.code).toBe(2);
  });

  test('a port that is taken is named', async () => {
    const taken = createServer((_, response) => response.end()).listen(0, '127.0.0.1');
    await once(taken, 'listening');
    onTestFinished(() => void taken.close());
    const address = taken.address();
    const port = typeof address === 'object' ? address?.port : 0;
    const listens = `require('node:http').createServer().listen(${port}, '127.0.0.1')`;
    const run = (...flags: string[]) =>
      runCrashTest([...flags, '--json', '--books', 'true', '--', process.execPath, '-e', listens]);

    const byProgram = await run('--webhook-path', '/');
    expect(JSON.parse(byProgram.stdout).error).toMatchObject({
      code: 'does_not_start',
      message: expect.stringContaining('EADDRINUSE'),
    });
    const before = await run('--webhook-url', `http://127.0.0.1:${port}/`);
    expect(JSON.parse(before.stdout).error.code).toBe('port_taken');
    expect([byProgram.code, before.code]).toEqual([2, 2]);
  });

  test.each([
    [
      'fail',
      `${node} -e "console.error('no table'); process.exit(1)"`,
      { code: 'books_failed', message: expect.stringContaining('no table') },
    ],
    [
      'have an order before the first delivery',
      'echo ord_1,1.00',
      { code: 'books_not_empty', message: expect.stringContaining('ord_1') },
    ],
    [
      'hold every payment',
      `${node} -e "if (require('node:fs').existsSync('${folder}/held')) console.log(JSON.stringify({order_id: 'ord_1', held: true})); require('node:fs').writeFileSync('${folder}/held', '')"`,
      { code: 'none_fulfilled', message: expect.stringContaining('--open') },
    ],
    [
      'print rubbish',
      'echo order_id,amount',
      { code: 'books_unreadable', line: 1, message: expect.stringContaining('order_id,amount') },
    ],
  ])('books that %s are named', async (_, books, error) => {
    const flags = ['--webhook-path', '/', '--json', '--orders', '20', '--settle', '1s', '--books', books];
    const { code, stdout } = await runCrashTest([...flags, '--', process.execPath, '-e', receiver]);
    expect(JSON.parse(stdout)).toEqual({ ok: false, error });
    expect(code).toBe(2);
  });

  test.each([
    ['fails', 'echo full >&2; false', { code: 'open_failed', message: expect.stringContaining('full') }],
    [
      'prints rubbish',
      'echo opened',
      { code: 'open_unreadable', line: 1, message: expect.stringContaining('opened') },
    ],
  ])('an --open command that %s is named', async (_, open, error) => {
    const flags = ['--webhook-path', '/', '--json', '--books', 'true', '--open', open];
    const { code, stdout } = await runCrashTest([...flags, '--', process.execPath, '-e', receiver]);
    expect(JSON.parse(stdout)).toEqual({ ok: false, error });
    expect(code).toBe(2);
  });

  test('Ctrl-C ends the program and the sandbox, prints what is known, and exits with 130', async () => {
    const { code, stdout } = await interrupt(shopArguments('none', folder, seed, 5000), 'paid.jsonl');
    expect(JSON.parse(stdout)).toMatchObject({ ok: false, interrupted: true });
    expect(code).toBe(130);
  });

  test('Ctrl-C ends an --open command with all that it has started', async () => {
    const open = `${node} -e "require('node:fs').writeFileSync('${folder}/opening', ''); setInterval(() => {}, 1000)"; false`;
    const flags = ['--webhook-path', '/', '--json', '--books', 'true', '--open', open];
    const { code, stdout } = await interrupt([...flags, '--', process.execPath, '-e', receiver], 'opening');
    expect(JSON.parse(stdout)).toMatchObject({ ok: false, error: { code: 'interrupted' } });
    expect(code).toBe(130);
  });
});

/** Returns what a run printed, line by line, without what differs from run to run. */
function linesOf(output: string): string[] {
  const lines = output.split('\n').filter((line) => line.trim() !== '' && line !== '  …');
  return lines.map((line) =>
    line
      .replace(/ord_\w+/, 'ord')
      .replaceAll(/\d+(\.\d+)?/g, '0')
      .replace(/, SIG\w+ at 0 s/, ''),
  );
}

/** Runs the command, and presses Ctrl-C once a file is in the folder. */
async function interrupt(args: readonly string[], file: string): Promise<{ code: number; stdout: string }> {
  const child = spawn(process.execPath, [...command, 'crash-test', ...args]);
  let stdout = '';
  child.stdout.on('data', (chunk) => (stdout += chunk));
  await expect.poll(() => existsSync(join(folder, file)), { timeout: 60_000 }).toBe(true);
  child.kill('SIGINT');
  const [code] = await once(child, 'close');
  return { code, stdout };
}

/** The processes of this file's programs, each of which names its folder. */
function processesLeft(): string[] {
  const lines = execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' }).split('\n');
  return lines.filter((line) => line.includes(folder));
}
