import { createSandbox } from 'merchant-payments/sandbox';
import { expect, onTestFinished, test } from 'vitest';
import { escapeInvisible } from '../../src/input/visible.js';
import { callCommand, hostile, testRefusals } from '../helpers/command.js';
import { caller } from '../sandbox/open.js';

testRefusals([
  [['fault'], 'The fault is missing. Pass one, such as: fault status 503. Or --list.'],
  [['fault', 'resett'], '"resett" is not a fault. Did you mean reset?'],
  [['fault', 'status'], 'The value is missing. Pass one, such as: fault status 503'],
  [['fault', 'status', 'abc'], 'status must be an integer from 200 to 599, got a string.'],
  [['fault', 'status', '503', 'twice'], '"twice" is not expected here.'],
  [['fault', 'status', '503', '--times', '0'], '--times "0" is not an integer from 1'],
  [['fault', 'status', '503', '--drop'], '--drop does not go with status.'],
  [['fault', 'status', '503', '--path', 'v1/products'], '--path "v1/products" is no operation. There'],
  [
    ['fault', 'status', '503', '--method', 'PSOT'],
    '--method "PSOT" is no operation. There are GET /v1/products, ',
  ],
  [['fault', 'status', '503', '--path', `/v1/${hostile}`], escapeInvisible(JSON.stringify(`/v1/${hostile}`))],
  [['fault', 'status', '429', '--header', 'retry-after'], '--header: pass a name and a value'],
  [['fault', 'clear', '--times', '2'], '--times does not go with clear.'],
  [['fault', 'clear', 'now'], '"now" is not expected here.'],
  [['fault', '--list', '--drop'], '--drop does not go with --list.'],
  [['fault', 'reset', '--list'], '--list does not go with reset.'],
  [['fault', 'reset', '--when', 'later'], '--when must be "before" or "after", got a string.'],
  [['fault', 'delay'], 'The value is missing. Pass one, such as: fault delay 2s'],
  [['fault', 'delay', '2s', '--delay', '3s'], '--delay does not go with delay.'],
  [['fault', 'webhook'], 'Pass what happens to it: --drop, --hold'],
]);

test('merchant-payments fault calls its own word no flag', async () => {
  expect((await callCommand(['fault', 'delay', '5'])).stderr).toMatch(/^delay "5" has no unit/);
});

test('merchant-payments fault sets faults, lists them, and clears them', async () => {
  const sandbox = await createSandbox().listen();
  onTestFinished(() => sandbox.close());
  const call = caller(sandbox);
  const fault = async (...args: string[]) =>
    (await callCommand(['fault', ...args], { SANDBOX_URL: sandbox.url })).stdout;
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
  expect((await call('GET', '/v1/products')).status).toBe(503);
  const limited = await call('GET', '/v1/balance');
  expect([limited.status, limited.headers.get('retry-after'), limited.body]).toEqual([
    429,
    '7',
    { code: 429, message: 'slow down' },
  ]);
  expect(await fault('--list')).toContain('  status 503 · next /v1/products request\n  reset after');
  expect(await fault('clear')).toBe('No fault is waiting.\n');
  expect((await call('GET', '/v1/products')).status).toBe(200);
  expect(JSON.parse(await fault('delay', '1ms', '--json'))).toEqual({
    faults: [{ says: 'delay 1ms · next request', fault: { delay: '1ms' }, left: 1 }],
  });
});

test('the help of merchant-payments fault names every form', async () => {
  const { stdout } = await callCommand(['fault', '--help']);
  expect(stdout).toContain('or after (default of html and truncated)\n');
  expect(stdout).toMatch(/ {2}fault reset \| timeout +breaks the connection, or never responds\n/);
  expect(stdout).toMatch(/ {2}--list +lists the pending faults\n/);
});
