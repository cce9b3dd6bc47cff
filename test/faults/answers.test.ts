import { brotliCompressSync, gzipSync } from 'node:zlib';
import { isPaymentsError } from 'merchant-payments';
import { describe, expect, test } from 'vitest';
import { rightBody } from '../helpers/bodies.js';
import { bodyCanary } from '../helpers/canary.js';
import { type Fault, faultTable } from '../helpers/fault-table.js';
import { respondWith, writeBytes } from '../helpers/faulty-server.js';
import { carriers, meet, methods, watch } from '../helpers/meeting.js';

watch();

function envelope(data: unknown): string {
  return JSON.stringify({ code: 0, message: 'success', data });
}

/** Whole answers that cannot be used: nothing is sent again. Only an envelope with code 0 says that a write was done. */
const unusable: [title: string, reason: string, body: string | Buffer, headers?: Record<string, string>][] = [
  ['text under another type', 'content_type', `<html>${bodyCanary}</html>`, { 'content-type': 'text/html' }],
  ['text that calls itself JSON', 'json', `Hello ${bodyCanary}`],
  ['an empty body', 'empty', ''],
  ['an empty page', 'empty', '', { 'content-type': 'text/html' }],
  ['a byte that is no UTF-8', 'encoding', Buffer.from('{"code":0,"data":{"id":"caf\xe9"}}', 'latin1')],
  ['half of a character at the end', 'encoding', Buffer.from('{"code":0,"data":"é').subarray(0, -1)],
  ['null', 'envelope', 'null'],
  ['an array', 'envelope', '[]'],
  ['a number', 'envelope', '5'],
  ['text', 'envelope', `"${bodyCanary}"`],
  ['no code', 'envelope', `{"message":"success","data":{"id":"${bodyCanary}"}}`],
  ['a code in quotes', 'envelope', '{"code":"0","message":"success","data":{}}'],
  ['a code with a fraction', 'envelope', '{"code":0.5,"message":"success","data":{}}'],
  ['no data', 'envelope', '{"code":0,"message":"success"}'],
  ['null for data', 'envelope', '{"code":0,"message":"success","data":null}'],
  ['an empty object for data', 'schema', '{"code":0,"message":"success","data":{}}'],
  ['a list for data', 'schema', '{"code":0,"message":"success","data":[]}'],
  ['text for data', 'schema', `{"code":0,"message":"success","data":"${bodyCanary}"}`],
];

const isEnvelope = (reason: string, body: string | Buffer) =>
  reason === 'schema' || (reason === 'envelope' && body.toString().startsWith('{"code":0,'));
const isOthers = (reason: string, body: string | Buffer, headers?: object) =>
  headers !== undefined ||
  (reason === 'json' && !body.toString().startsWith('{')) ||
  (reason === 'envelope' && !isEnvelope(reason, body));

faultTable([
  ...unusable.map(
    ([title, reason, body, headers]): Fault => ({
      title,
      fault: () => respondWith(200, body, headers),
      expected: { error: 'InvalidResponseError', reason, status: 200 },
      get: 1,
      write: 1,
      outcome: isEnvelope(reason, body) ? 'done' : 'unknown',
      also: ({ error }, _, method) => {
        expect(String(error).includes('Check baseUrl.')).toBe(isOthers(reason, body, headers));
        const isInDoubt = method !== 'GET' && !isEnvelope(reason, body);
        expect(String(error).includes('It may have been done.')).toBe(isInDoubt);
      },
    }),
  ),
  {
    title: '204',
    fault: () => writeBytes('HTTP/1.1 204 No Content\r\n\r\n'),
    expected: { error: 'InvalidResponseError', reason: 'empty', status: 204 },
    get: 1,
    write: 1,
    outcome: 'unknown',
  },
]);

/** Answers that are read, though something about them is odd. */
const accepted: [title: string, (body: string) => string | Buffer, headers?: Record<string, string>][] = [
  ['JSON under text/plain', (body) => body, { 'content-type': 'text/plain' }],
  ['UTF-8 under the label utf-16', (body) => body, { 'content-type': 'application/json; charset=utf-16' }],
  ['a byte order mark', (body) => `\ufeff${body}`],
  ['a key that comes twice, of which the last counts', (body) => body.replace('{', '{"code":7,')],
  [
    'keys that pollute prototypes',
    (body) => body.replace('{', '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},'),
  ],
  ['gzip, though none was asked for', (body) => gzipSync(body), { 'content-encoding': 'gzip' }],
  ['gzip by its old name', (body) => gzipSync(body), { 'content-encoding': 'x-gzip' }],
  ['gzip in capitals', (body) => gzipSync(body), { 'content-encoding': 'GZIP' }],
  ['brotli, though none was asked for', (body) => brotliCompressSync(body), { 'content-encoding': 'br' }],
];

describe.each(carriers)('over %s', (carrier) => {
  test.each(accepted)('%s', async (_title, change, headers) => {
    for (const method of methods) {
      const { error, value } = await meet(
        respondWith(200, change(rightBody(method)), headers),
        carrier,
        method,
      );
      expect(error).toBeUndefined();
      expect(value).toMatchObject(method === 'GET' ? { available: '1250.00' } : { id: 'prod_8f2c1a' });
      expect(Reflect.get({}, 'polluted')).toBeUndefined();
    }
  });

  test('JSON that is 100 000 deep ends in data or an error of the package', async () => {
    for (const [open, close] of [
      ['[', ']'],
      ['{"a":', '}'],
    ] as const) {
      const deep = open.repeat(100_000) + (open === '[' ? '' : '1') + close.repeat(100_000);
      for (const body of [
        deep,
        `{"code":0,"data":${deep}}`,
        rightBody('POST').replace('{"sku":"MUG-1"}', deep),
      ]) {
        for (const method of methods) {
          const { error, requests } = await meet(respondWith(200, body), carrier, method);
          expect(error === undefined || isPaymentsError(error)).toBe(true);
          expect(requests).toHaveLength(1);
        }
      }
    }
  });

  test('the message quotes no text of the body', async () => {
    const { error } = await meet(respondWith(200, `{"code":0,"data":{"id":"${bodyCanary}`), carrier, 'POST');
    expect(String(error)).toContain('the body is not valid JSON. It may have been done.');
  });

  test('an encoding that cannot be decoded is named', async () => {
    const behave = respondWith(200, Buffer.from([0x28, 0xb5, 0x2f, 0xfd]), {
      'content-encoding': 'x-unheard',
    });
    const { error } = await meet(behave, carrier, 'GET');
    expect(error).toMatchObject({ reason: 'encoding', message: expect.stringContaining('x-unheard') });
  });

  test('the error has the id of what was created, though another field breaks the contract', async () => {
    const body = envelope({ id: 'prod_77', name: bodyCanary, price: 'free' });
    const { error } = await meet(respondWith(200, body), carrier, 'POST');
    expect(error).toMatchObject({ reason: 'schema', id: 'prod_77', outcome: 'done' });
    expect(String(error)).toMatch(/prod_77.+It was done/);
  });
});
