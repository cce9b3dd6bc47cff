import { AuthenticationError, InvalidResponseError, ServerError } from 'merchant-payments';
import { describe, expect, test } from 'vitest';
import * as z from 'zod/mini';
import { readData } from '../../src/transport/envelope.js';
import { ReceivedResponse } from '../../src/transport/response.js';
import { key, read, write } from './call.js';

const schema = z.object({ id: z.string() });
const bytesOf = (text: string) => new TextEncoder().encode(text);
const response = (
  body: string | Uint8Array,
  { status = 200, ...headers }: { status?: number; [header: string]: string | number } = {},
) => {
  const pairs = Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)]);
  const bytes = typeof body === 'string' ? bytesOf(body) : body;
  return new ReceivedResponse(status, new Headers(pairs), bytes);
};

async function failureOf(...args: Parameters<typeof readData>) {
  const result = await readData(...args);
  if ('data' in result) throw new Error('The response was taken.');
  return result;
}

/** Returns the middle of the message: after its beginning, and before the part for writes. */
async function problemOf(...args: Parameters<typeof readData>) {
  const { message } = (await failureOf(...args)).error;
  const begin = `${args[0].method} ${args[0].path} returned ${args[1].status}, but the response cannot be used: `;
  expect(message).toContain(begin);
  return message.slice(begin.length);
}

describe('a response is taken', () => {
  test.each([
    ['with the data alone', '{"code":0,"data":{"id":"a"}}', {}],
    ['with a message', '{"code":0,"message":"success","data":{"id":"a"}}', { status: 201 }],
    ['with code 0.0, an integer in JSON', '{"code":0.0,"data":{"id":"a"}}', {}],
    ['with a message that is no string', '{"code":0,"message":5,"data":{"id":"a"}}', {}],
    ['with a byte order mark', '\uFEFF{"code":0,"data":{"id":"a"}}', {}],
    ['labelled as text', '{"code":0,"data":{"id":"a"}}', { 'content-type': 'text/plain' }],
    [
      'labelled as UTF-16',
      '{"code":0,"data":{"id":"a"}}',
      { 'content-type': 'application/json; charset=utf-16' },
    ],
  ])('%s', async (_, body, headers) => {
    expect(await readData(read, response(body, headers), schema)).toEqual({ data: { id: 'a' } });
  });

  test('with fields that the schema does not list', async () => {
    const loose = z.looseObject({ id: z.string() });
    const body = '{"code":0,"data":{"id":"a","new":true}}';
    expect(await readData(read, response(body), loose)).toEqual({ data: { id: 'a', new: true } });
  });

  test('with data null, where the schema takes it', async () => {
    expect(await readData(read, response('{"code":0,"data":null}'), z.null())).toEqual({ data: null });
  });
});

describe('a redirect', () => {
  test.each([
    ['https://other.example:8443/v1/balance?key=1#top', ' to other.example:8443'],
    ['//other.example/x', ' to other.example'],
    ['/v2/balance', ' to api.example'],
    ['file:///etc/passwd', ' to file:'],
    ['mailto:a@b.example', ' to mailto:'],
    ['https://', ''],
    [`https://${key}.example/`, ' to [redacted].example'],
  ])('to %s names the other host alone', async (location, target) => {
    expect(await problemOf(read, response('', { status: 302, location }), schema)).toBe(
      `it redirects${target}, and following it could expose the API key. Check baseUrl.`,
    );
  });

  test.each([300, 301, 302, 303, 304, 307, 308, 399])('by status %i is not followed', async (status) => {
    const { error, retriable } = await failureOf(
      write,
      response('{"code":0,"data":{"id":"a"}}', { status }),
      schema,
    );
    expect(error).toBeInstanceOf(InvalidResponseError);
    expect(error).toMatchObject({ status, reason: 'redirect', outcome: 'unknown' });
    expect(error.message).toBe(
      `POST /v1/products returned ${status}, but the response cannot be used: it redirects, and following it could expose the API key. Check baseUrl. It may have been done. Look for it.`,
    );
    expect(retriable).toBe('never');
  });
});

describe('a refusal', () => {
  test('is read with its code, its message and the beginning of its body', async () => {
    const body = '{"code":401,"message":"Unauthorized","data":null}';
    const { error } = await failureOf(read, response(body, { status: 401 }), schema);
    expect(error).toBeInstanceOf(AuthenticationError);
    expect(error).toMatchObject({
      status: 401,
      apiCode: 401,
      apiMessage: 'Unauthorized',
      bodySnippet: body,
    });
  });

  test('under status 200 has the class of its code', async () => {
    const { error } = await failureOf(read, response('{"code":500,"message":"Oops"}'), schema);
    expect(error).toBeInstanceOf(ServerError);
    expect(error).toMatchObject({ status: 200, apiCode: 500, apiMessage: 'Oops' });
  });

  test.each([
    [
      '{"code":"PRODUCT_ARCHIVED","message":"Product is archived"}',
      'PRODUCT_ARCHIVED',
      'Product is archived',
    ],
    ['{"error":{"message":"No such product"}}', undefined, 'No such product'],
    ['{"error":{"code":"gone","message":"No such product"}}', 'gone', 'No such product'],
    ['{"error":"invalid_request"}', undefined, 'invalid_request'],
    ['{"code":1042,"message":"No"}', 1042, 'No'],
    ['{"message":"","error":{"message":"Inner"},"code":""}', undefined, 'Inner'],
    ['{"code":{},"message":["No"],"error":5}', undefined, undefined],
    ['["No"]', undefined, undefined],
    ['"No"', undefined, undefined],
  ])('by status shows the words of %s', async (body, apiCode, apiMessage) => {
    const { error } = await failureOf(write, response(body, { status: 422 }), schema);
    expect(Reflect.get(error, 'apiCode')).toBe(apiCode);
    expect(Reflect.get(error, 'apiMessage')).toBe(apiMessage);
    if (apiMessage) expect(error.message).toContain(`returned 422: ${apiMessage}. `);
  });

  test('whose message is no string has none', async () => {
    const { error } = await failureOf(read, response('{"code":1,"message":{"text":"No"}}'), schema);
    expect(error).toMatchObject({ apiCode: 1 });
    expect(error).not.toHaveProperty('apiMessage');
  });

  test('by status stays one whatever its body says', async () => {
    const body = '{"code":0,"message":"success","data":{"id":"a"}}';
    const { error, retriable } = await failureOf(read, response(body, { status: 500 }), schema);
    expect(error).toBeInstanceOf(ServerError);
    expect(error).not.toHaveProperty('apiCode');
    expect(error).toMatchObject({ bodySnippet: body });
    expect(retriable).toBe('get');
  });

  test('that is no JSON shows the beginning of its body', async () => {
    const { error } = await failureOf(read, response('<h1>Bad gateway</h1>', { status: 502 }), schema);
    expect(error).toMatchObject({ status: 502, bodySnippet: '<h1>Bad gateway</h1>' });
    expect(error).not.toHaveProperty('apiCode');
  });

  test('without a body has no snippet', async () => {
    expect((await failureOf(read, response('', { status: 502 }), schema)).error).not.toHaveProperty(
      'bodySnippet',
    );
  });

  test.each([199, 400, 999])('is any status outside 2xx and 3xx, such as %i', async (status) => {
    const body = '{"code":0,"data":{"id":"a"}}';
    expect((await failureOf(read, response(body, { status }), schema)).error).toMatchObject({
      code: expect.not.stringMatching(/^invalid_response$/),
      status,
    });
  });
});

describe('a success that cannot be used', () => {
  const html = { 'content-type': 'text/html; charset=utf-8' };
  test.each([
    ['nothing', '', {}, 'empty', 'the body is empty.'],
    ['bad JSON', '{"code":0,', {}, 'json', 'the body is not valid JSON.'],
    [
      'bad JSON, labelled so',
      '{',
      { 'content-type': 'Application/JSON' },
      'json',
      'the body is not valid JSON.',
    ],
    [
      'bad JSON of a kind',
      '{',
      { 'content-type': 'application/problem+json' },
      'json',
      'the body is not valid JSON.',
    ],
    ['HTML', '<h1>Hello</h1>', html, 'content_type', 'the body is text/html, not JSON.'],
    [
      'something else with json in its name',
      'x',
      { 'content-type': 'text/jsonish' },
      'content_type',
      'the body is text/jsonish, not JSON.',
    ],
    ['invalid UTF-8', new Uint8Array([0x7b, 0xff]), {}, 'encoding', 'the body is not valid UTF-8.'],
    [
      'invalid UTF-8 that is not encoded',
      new Uint8Array([0xff]),
      { 'content-encoding': 'identity' },
      'encoding',
      'the body is not valid UTF-8.',
    ],
    [
      'an encoding that was not undone',
      new Uint8Array([0x28, 0xb5, 0x2f, 0xfd]),
      { 'content-encoding': 'Zstd, br' },
      'encoding',
      'the body cannot be decoded: its Content-Encoding is zstd, br.',
    ],
    ...['null', '[]', '5', '"x"', 'true', '{}', '{"code":"0"}', '{"code":0.5}', '{"code":null}'].map(
      (body) =>
        [body, body, {}, 'envelope', 'the body is not {code, message, data} with an integer code.'] as const,
    ),
    ['no data', '{"code":0}', {}, 'envelope', 'it has no data.'],
    ['data null', '{"code":0,"data":null}', {}, 'envelope', 'it has no data.'],
  ] as const)('because of %s says which', async (_, body, headers, reason, problem) => {
    const failed = await failureOf(write, response(body, { 'content-length': '1', ...headers }), schema);
    expect(failed.error).toBeInstanceOf(InvalidResponseError);
    const isEnvelope = problem === 'it has no data.';
    expect(failed.error).toMatchObject({ status: 200, reason, outcome: isEnvelope ? 'done' : 'unknown' });
    expect(failed.retriable).toBe('never');
    const isOthers = reason === 'content_type' || (reason === 'envelope' && !isEnvelope);
    expect(await problemOf(read, response(body, headers), schema)).toBe(
      isOthers ? `${problem} Check baseUrl.` : problem,
    );
  });

  test('of no bytes is not from the service if it calls itself something else', async () => {
    const plain = (await failureOf(write, response('', { status: 204 }), schema)).error;
    expect(plain.message).toContain('the body is empty. It may have been done.');
    const { error } = await failureOf(write, response('', html), schema);
    expect(error).toMatchObject({ reason: 'empty', outcome: 'unknown' });
    expect(error.message).toContain('the body is empty. Check baseUrl. It may have been done.');
  });

  test.each([
    [{ 'content-length': '10' }, 'never'],
    [{ 'transfer-encoding': 'chunked' }, 'never'],
    [{}, 'get'],
    [{ 'content-length': '10', 'content-encoding': 'gzip' }, 'get'],
  ] as const)(
    'because of its JSON, with headers %j, may have been cut only where no end was announced',
    async (headers, retriable) => {
      expect((await failureOf(read, response('{"code":0,', headers), schema)).retriable).toBe(retriable);
    },
  );

  test.each([
    ['', 'empty'],
    ['{}', 'envelope'],
  ])('because of %j was not cut', async (body) => {
    expect((await failureOf(read, response(body), schema)).retriable).toBe('never');
  });

  test('says where its data are wrong, and what it made', async () => {
    const wide = z.object({
      id: z.string(),
      name: z.string('is not a string'),
      more: z.object({ n: z.number('is not a number') }),
    });
    const body = '{"code":0,"data":{"id":"prod_1","name":5,"more":{"n":"x"}}}';
    const { error, retriable } = await failureOf(write, response(body), wide);
    expect(error).toMatchObject({
      reason: 'schema',
      outcome: 'done',
      id: 'prod_1',
      issues: [
        { path: 'name', message: 'is not a string' },
        { path: 'more.n', message: 'is not a number' },
      ],
    });
    expect(error.message).toBe(
      'POST /v1/products returned 200, but the response cannot be used: name: is not a string; more.n: is not a number. Its id is "prod_1". It was done. Look for it.',
    );
    expect(retriable).toBe('never');
  });

  test('says data where all of it is wrong', async () => {
    const body = '{"code":0,"data":"text"}';
    expect(await problemOf(read, response(body), z.object({}, 'is not an object'))).toBe(
      'data: is not an object.',
    );
  });

  test.each([
    [5, ''],
    [6, '; and more'],
    [8, '; and more'],
  ])('with %i problems shows five, and says whether there are more', async (count, rest) => {
    const wrong = z.array(z.string('is wrong'));
    const body = JSON.stringify({ code: 0, data: Array.from({ length: count }, () => 1) });
    const shown = '0: is wrong; 1: is wrong; 2: is wrong; 3: is wrong; 4: is wrong';
    expect(await problemOf(read, response(body), wrong)).toBe(`${shown}${rest}.`);
    expect((await failureOf(read, response(body), wrong)).error).toHaveProperty('issues.length', count);
  });

  test.each(['{"id":5}', '{"id":""}', '{"id":".."}', '{"id":"a b"}', '{"name":"a"}', '"prod_1"', '[]'])(
    'takes no id from data %s',
    async (data) => {
      const { error } = await failureOf(write, response(`{"code":0,"data":${data}}`), z.never());
      expect(error).toMatchObject({ reason: 'schema' });
      expect(error).not.toHaveProperty('id');
    },
  );
});
