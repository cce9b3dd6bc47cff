import { AuthenticationError, InvalidResponseError, ServerError } from 'merchant-payments';
import { describe, expect, test } from 'vitest';
import * as z from 'zod/mini';
import { readResponse } from '../../src/transport/envelope.js';
import { key, read, write } from './call.js';

const schema = z.object({ id: z.string() });
const bytesOf = (text: string) => new TextEncoder().encode(text);
const response = (
  body: string | Uint8Array,
  { status = 200, ...headers }: { status?: number; [header: string]: string | number } = {},
) => {
  const pairs = Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)]);
  const bytes = typeof body === 'string' ? bytesOf(body) : body;
  return { status, headers: new Headers(pairs), bytes };
};

function failureOf(...args: Parameters<typeof readResponse>) {
  const result = readResponse(...args);
  if ('data' in result) throw new Error('The response was taken.');
  return result;
}

/** What the message says is wrong, after its beginning and before what a writer is told. */
function problemOf(...args: Parameters<typeof readResponse>) {
  const { message } = failureOf(...args).error;
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
  ])('%s', (_, body, headers) => {
    expect(readResponse(read, response(body, headers), schema)).toEqual({ data: { id: 'a' } });
  });

  test('with fields that the schema does not list', () => {
    const loose = z.looseObject({ id: z.string() });
    const body = '{"code":0,"data":{"id":"a","new":true}}';
    expect(readResponse(read, response(body), loose)).toEqual({ data: { id: 'a', new: true } });
  });

  test('with data null, where the schema takes it', () => {
    expect(readResponse(read, response('{"code":0,"data":null}'), z.null())).toEqual({ data: null });
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
  ])('to %s names the other host alone', (location, target) => {
    expect(problemOf(read, response('', { status: 302, location }), schema)).toBe(
      `it redirects${target}, and following it could expose the API key. Check baseUrl.`,
    );
  });

  test.each([300, 301, 302, 303, 304, 307, 308, 399])('by status %i is not followed', (status) => {
    const { error, retriable } = failureOf(
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
  test('is read with its code, its message and the beginning of its body', () => {
    const body = '{"code":401,"message":"Unauthorized","data":null}';
    const { error } = failureOf(read, response(body, { status: 401 }), schema);
    expect(error).toBeInstanceOf(AuthenticationError);
    expect(error).toMatchObject({
      status: 401,
      apiCode: 401,
      apiMessage: 'Unauthorized',
      bodySnippet: body,
    });
  });

  test('under status 200 has the class of its code', () => {
    const { error } = failureOf(read, response('{"code":500,"message":"Oops"}'), schema);
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
  ])('by status shows the words of %s', (body, apiCode, apiMessage) => {
    const { error } = failureOf(write, response(body, { status: 422 }), schema);
    expect(Reflect.get(error, 'apiCode')).toBe(apiCode);
    expect(Reflect.get(error, 'apiMessage')).toBe(apiMessage);
    if (apiMessage) expect(error.message).toContain(`returned 422 ${apiMessage}: `);
  });

  test('whose message is no string has none', () => {
    const { error } = failureOf(read, response('{"code":1,"message":{"text":"No"}}'), schema);
    expect(error).toMatchObject({ apiCode: 1 });
    expect(error).not.toHaveProperty('apiMessage');
  });

  test('by status stays one whatever its body says', () => {
    const body = '{"code":0,"message":"success","data":{"id":"a"}}';
    const { error, retriable } = failureOf(read, response(body, { status: 500 }), schema);
    expect(error).toBeInstanceOf(ServerError);
    expect(error).not.toHaveProperty('apiCode');
    expect(error).toMatchObject({ bodySnippet: body });
    expect(retriable).toBe('get');
  });

  test('that is no JSON shows the beginning of its body', () => {
    const { error } = failureOf(read, response('<h1>Bad gateway</h1>', { status: 502 }), schema);
    expect(error).toMatchObject({ status: 502, bodySnippet: '<h1>Bad gateway</h1>' });
    expect(error).not.toHaveProperty('apiCode');
  });

  test('without a body has no snippet', () => {
    expect(failureOf(read, response('', { status: 502 }), schema).error).not.toHaveProperty('bodySnippet');
  });

  test.each([199, 400, 999])('is any status outside 2xx and 3xx, such as %i', (status) => {
    const body = '{"code":0,"data":{"id":"a"}}';
    expect(failureOf(read, response(body, { status }), schema).error).toMatchObject({
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
  ] as const)('because of %s says which', (_, body, headers, reason, problem) => {
    const failed = failureOf(write, response(body, { 'content-length': '1', ...headers }), schema);
    expect(failed.error).toBeInstanceOf(InvalidResponseError);
    const isOurs = problem === 'it has no data.' || body === '' || body === '{"code":0,';
    expect(failed.error).toMatchObject({ status: 200, reason, outcome: isOurs ? 'done' : 'unknown' });
    expect(failed.retriable).toBe('never');
    expect(problemOf(read, response(body, headers), schema)).toBe(
      isOurs ? problem : `${problem} Check baseUrl.`,
    );
  });

  test.each([
    ['{"code":0,"message":"suc', 'done'],
    [' {\n "code" : 0 , "message', 'done'],
    [new Uint8Array([...bytesOf('{"code":0,"data":"'), 0xff]), 'done'],
    ['{"code":0', 'unknown'],
    ['{"code":0.5,', 'unknown'],
    ['{"code":500,"message":"cut', 'unknown'],
    ['{"status":"ok","code":0,', 'unknown'],
    ['"code":0,', 'unknown'],
    ['<h1>{"code":0,</h1>', 'unknown'],
    [new Uint8Array([0xff]), 'unknown'],
  ])(
    "that cannot be parsed is the service's only if an envelope begins it: %j leaves a write %s",
    (body, outcome) => {
      const { error } = failureOf(write, response(body), schema);
      expect(error).toMatchObject({ outcome });
      expect(error.message.includes('It was done.')).toBe(outcome === 'done');
      expect(error.message.includes('Check baseUrl. It may have been done.')).toBe(outcome === 'unknown');
    },
  );

  test('of no bytes is taken for the service, unless it calls itself something else', () => {
    expect(failureOf(write, response('', { status: 204 }), schema).error).toMatchObject({ outcome: 'done' });
    const { error } = failureOf(write, response('', html), schema);
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
    (headers, retriable) => {
      expect(failureOf(read, response('{"code":0,', headers), schema).retriable).toBe(retriable);
    },
  );

  test.each([
    ['', 'empty'],
    ['{}', 'envelope'],
  ])('because of %j was not cut', (body) => {
    expect(failureOf(read, response(body), schema).retriable).toBe('never');
  });

  test('says where its data are wrong, and what it made', () => {
    const wide = z.object({
      id: z.string(),
      name: z.string('is not a string'),
      more: z.object({ n: z.number('is not a number') }),
    });
    const body = '{"code":0,"data":{"id":"prod_1","name":5,"more":{"n":"x"}}}';
    const { error, retriable } = failureOf(write, response(body), wide);
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

  test('says data where all of it is wrong', () => {
    const body = '{"code":0,"data":"text"}';
    expect(problemOf(read, response(body), z.object({}, 'is not an object'))).toBe('data: is not an object.');
  });

  test.each([
    [5, ''],
    [6, '; and more'],
    [8, '; and more'],
  ])('with %i problems shows five, and says whether there are more', (count, rest) => {
    const wrong = z.array(z.string('is wrong'));
    const body = JSON.stringify({ code: 0, data: Array.from({ length: count }, () => 1) });
    const shown = '0: is wrong; 1: is wrong; 2: is wrong; 3: is wrong; 4: is wrong';
    expect(problemOf(read, response(body), wrong)).toBe(`${shown}${rest}.`);
    expect(failureOf(read, response(body), wrong).error).toHaveProperty('issues.length', count);
  });

  test.each(['{"id":5}', '{"id":""}', '{"id":".."}', '{"id":"a b"}', '{"name":"a"}', '"prod_1"', '[]'])(
    'takes no id from data %s',
    (data) => {
      const { error } = failureOf(write, response(`{"code":0,"data":${data}}`), z.never());
      expect(error).toMatchObject({ reason: 'schema' });
      expect(error).not.toHaveProperty('id');
    },
  );
});

test('a polluted Object.prototype adds no fields to a body', () => {
  Reflect.set(Object.prototype, 'code', 0);
  Reflect.set(Object.prototype, 'data', { id: 'planted' });
  try {
    expect(Object.keys(readResponse(read, response('{}'), schema))).toEqual(['error', 'retriable']);
  } finally {
    Reflect.deleteProperty(Object.prototype, 'code');
    Reflect.deleteProperty(Object.prototype, 'data');
  }
});
