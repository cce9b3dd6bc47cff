import { createHmac, generateKeyPairSync, sign as signWithKey, verify as verifyWithKey } from 'node:crypto';
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import {
  type SignedMessage,
  sign,
  verify,
  WebhookConfigError,
  WebhookPayloadError,
  WebhookVerificationError,
} from '../../src/webhooks/index.js';
import { bodyOf, vector } from '../helpers/webhook-cases.js';

const secret = 'whsec_merchant_test_7Qm2xV9c';
const minimal = vector('minimal');
const rawBody = bodyOf(minimal);
const receivedAt = new Date('2026-01-01T00:00:00Z');
const headers = { 'x-service-signature': minimal.hmacSha256.hex, 'x-service-timestamp': minimal.timestamp };
const good = { rawBody, headers, secret, receivedAt };
const paid = { type: 'order.paid', data: { order_id: 'ord_1001', amount: '19.90', currency: 'USD' } };

const thenable = Object.fromEntries([['then', (resolve: (value: boolean) => void) => resolve(true)]]);

/** Calls `verify` as JavaScript would, with options of any form. */
function attempt(options: unknown): unknown {
  try {
    return Reflect.apply(verify, undefined, [options]);
  } catch (error) {
    return error;
  }
}

/** Headers over any content, by an HMAC of `node:crypto` alone. */
function signBody(body: string | Buffer, timestamp = minimal.timestamp) {
  const mac = createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest('hex');
  return { rawBody: body, headers: { 'x-service-signature': mac, 'x-service-timestamp': timestamp } };
}

const paidBody = (data: object) => JSON.stringify({ type: 'order.paid', data: { ...paid.data, ...data } });

describe('the returned event', () => {
  it('is returned at once: verify() returns no promise', () => {
    expect(verify(good)).toEqual(paid);
  });

  it('narrows by its type', () => {
    const event = verify(good);
    expect(event.type === 'unknown' ? event.originalType : event.data.order_id).toBe('ord_1001');
  });

  it('is of type unknown where the type is new, with its data untouched', () => {
    const body = '{"type":"refund.created","data":{"refund_id":"re_1","amount":5},"id":"evt_1"}';
    expect(verify({ ...good, ...signBody(body) })).toEqual({
      type: 'unknown',
      originalType: 'refund.created',
      data: { refund_id: 're_1', amount: 5 },
      id: 'evt_1',
    });
    expect(verify({ ...good, ...signBody('{"type":"ping"}') })).toEqual({
      type: 'unknown',
      originalType: 'ping',
      data: undefined,
    });
  });

  it('keeps unlisted fields, even one that is named problem or __proto__', () => {
    const body =
      '{"type":"order.paid","problem":"x","__proto__":{"a":1},"data":{"order_id":"o","amount":"1.00","currency":"EUR","note":[1]}}';
    const event = verify({ ...good, ...signBody(body) });
    expect(event).toMatchObject({ problem: 'x', data: { order_id: 'o', note: [1] } });
    expect(Object.getPrototypeOf(event)).toBe(Object.prototype);
  });

  it.each([
    ['"19.9"', '19.90'],
    ['19.9', '19.90'],
    ['19', '19.00'],
    ['"19"', '19.00'],
    ['0.01', '0.01'],
    ['"1.125"', '1.125'],
    ['"9007199254740993.10"', '9007199254740993.10'],
  ])('has amount %s as the text %s', (wire, amount) => {
    const body = `{"type":"order.paid","data":{"order_id":"o","amount":${wire},"currency":"USD"}}`;
    expect(verify({ ...good, ...signBody(body) })).toMatchObject({ data: { amount } });
  });

  it.each([
    '-1',
    '"-1.00"',
    '1.125',
    '1e21',
    '"1e3"',
    '" 1.00"',
    '""',
    '"NaN"',
    'true',
    '[]',
    '{}',
    '9007199254740993',
  ])('is refused with amount %s', (wire) => {
    const body = `{"type":"order.paid","data":{"order_id":"o","amount":${wire},"currency":"USD"}}`;
    expect(attempt({ ...good, ...signBody(body) })).toMatchObject({ code: 'invalid_event', httpStatus: 500 });
  });

  it.each([
    ['null', 'not a JSON object'],
    ['"order.paid"', 'not a JSON object'],
    ['[]', 'not a JSON object'],
    ['{}', 'type'],
    ['{"type":""}', 'type'],
    ['{"type":null}', 'type'],
    ['{"type":"order.paid"}', 'data: expected an object'],
    ['{"type":"order.paid","data":[]}', 'data: expected an object'],
    ['{"type":"order.paid","data":null}', 'data: expected an object'],
    [paidBody({ order_id: '' }), 'data.order_id'],
    [paidBody({ order_id: 7 }), 'data.order_id'],
    [paidBody({ amount: undefined }), 'data.amount'],
    [paidBody({ currency: undefined }), 'data.currency'],
    [paidBody({ currency: '' }), 'data.currency'],
    [paidBody({ currency: 840 }), 'data.currency'],
  ])('is refused for the body %s, naming the field', (body, field) => {
    const error = attempt({ ...good, ...signBody(body) });
    expect(error).toBeInstanceOf(WebhookPayloadError);
    expect(error).toMatchObject({ code: 'invalid_event', message: expect.stringContaining(field) });
  });

  it.each([
    ['{"type":"order.paid"', 'JSON'],
    ['\ufeff\ufeff{}', 'JSON'],
    ["{'type':1}", 'JSON'],
    ['NaN', 'JSON'],
    ['', 'empty'],
  ])('is refused for the authentic text %j, which is not JSON', (body, word) => {
    const error = attempt({ ...good, ...signBody(body) });
    expect(error).toBeInstanceOf(WebhookPayloadError);
    expect(error).toMatchObject({ code: 'invalid_json', message: expect.stringContaining(word) });
  });

  it('is read from a body that was signed with a byte order mark', () => {
    expect(verify({ ...good, ...signBody(`\ufeff${rawBody}`) })).toEqual(paid);
  });

  it('is refused for authentic bytes that are not UTF-8', () => {
    const body = Buffer.concat([Buffer.from('{"type":"'), Buffer.from([0xff]), Buffer.from('"}')]);
    expect(attempt({ ...good, ...signBody(body) })).toMatchObject({ code: 'invalid_json' });
  });

  it('is read from 100,000 nested arrays without overflowing the stack', () => {
    const body = `{"type":"deep","data":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
    expect(attempt({ ...good, ...signBody(body) })).toMatchObject({ originalType: 'deep' });
  });
});

describe('rawBody', () => {
  const padded = Buffer.concat([Buffer.from('head'), rawBody, Buffer.from('tail')]);
  const view = padded.subarray(4, 4 + rawBody.byteLength);

  it.each<[string, unknown]>([
    ['a Buffer', rawBody],
    ['a Buffer inside a pooled one', view],
    ['a Uint8Array', new Uint8Array(rawBody)],
    ['a Uint8ClampedArray', new Uint8ClampedArray(rawBody)],
    ['a DataView with an offset', new DataView(view.buffer, view.byteOffset, view.byteLength)],
    ['an ArrayBuffer', new Uint8Array(rawBody).buffer],
    ['an ArrayBuffer of another realm', otherRealm(rawBody, 'bytes.buffer')],
    ['a Uint8Array of another realm', otherRealm(rawBody, 'bytes')],
    ['shared memory', sharedCopy(rawBody)],
    ['text', rawBody.toString()],
  ])('may be %s', (_form, body) => {
    expect(attempt({ ...good, rawBody: body })).toEqual(paid);
  });

  it.each<[string, unknown]>([
    ['undefined', undefined],
    ['null', null],
    ['a parsed object', paid],
    ['a number', 7],
    ['a boxed string', new String('x')],
    ['a promise', Promise.resolve(rawBody)],
    ['a Request', new Request('https://shop.example', { method: 'POST', body: 'x' })],
    ['a Response', new Response('x')],
    ['a web stream', new Response('x').body],
    ['a node stream', new IncomingMessage(new Socket())],
    ['an array of bytes', [...rawBody]],
    ['a Buffer turned into JSON', rawBody.toJSON()],
    ['a function', () => rawBody],
    ['a symbol', Symbol('x')],
    ['a detached ArrayBuffer', detachedBuffer()],
    ['an object that throws when touched', throwingProxy()],
  ])('must not be %s', (_form, body) => {
    const error = attempt({ ...good, rawBody: body });
    expect(error).toBeInstanceOf(WebhookConfigError);
    expect(error).toMatchObject({ code: 'invalid_body', httpStatus: 500 });
  });

  it('in shared memory is copied before it is checked: another thread cannot change what is parsed', () => {
    const shared = sharedCopy(rawBody);
    const scheme = { verify: () => shared.fill(0).length > 0 };
    expect(attempt({ ...good, rawBody: shared, scheme })).toEqual(paid);
  });
});

describe('headers', () => {
  const pairs = Object.entries(headers);
  const upper = Object.fromEntries(pairs.map(([name, value]) => [name.toUpperCase(), value]));

  it.each<[string, unknown]>([
    ['Headers', new Headers(headers)],
    ["Node's object", { host: 'shop.example', ...headers, 'set-cookie': ['a', 'b'] }],
    ['an object without a prototype', Object.assign(Object.create(null), headers)],
    ['a Map', new Map(pairs)],
    ['a Map with array values', new Map(pairs.map(([name, value]) => [name, [value]]))],
    ['an iterator', new Headers(headers).entries()],
    [
      'a generator',
      (function* () {
        yield* pairs;
      })(),
    ],
    ['URLSearchParams', new URLSearchParams(headers)],
    ['a Set of pairs', new Set(pairs)],
    ['upper-case names', upper],
    ['pairs in upper case', Object.entries(upper)],
    ['a Map of another realm', runInNewContext('new Map(pairs)', { pairs })],
    [
      'an object with other values of any form',
      { ...headers, odd: 7, headers: 'text', ...Object.fromEntries([['then', 'text']]) },
    ],
  ])('may be %s', (_form, container) => {
    expect(attempt({ ...good, headers: container })).toEqual(paid);
  });

  it.each<[string, unknown]>([
    ['null', null],
    ['text', 'x-service-signature: 1'],
    ['a function', () => headers],
    ['a promise', Promise.resolve(headers)],
    ['a thenable', thenable],
    ["Node's rawHeaders", pairs.flat()],
    ['pairs of three', [['x-service-signature', 'a', 'b']]],
    ['pairs with a number as name', [[1, 'a']]],
    ['a Set of names', new Set(['x-service-signature'])],
    ['bytes', Buffer.from('x')],
    ['a Request', new Request('https://shop.example', { headers })],
    ['a node request', new IncomingMessage(new Socket())],
    ['an object that throws when touched', throwingProxy()],
    ['a number as value', { ...headers, 'x-service-signature': 7 }],
    ['an object as value', { ...headers, 'x-service-signature': { a: 1 } }],
    ['a nested array as value', { ...headers, 'x-service-timestamp': [['1']] }],
  ])('must not be %s', (_form, container) => {
    const error = attempt({ ...good, headers: container });
    expect(error).toBeInstanceOf(WebhookConfigError);
    expect(error).toMatchObject({ code: 'invalid_headers', httpStatus: 500 });
  });

  it.each<[string, object, string]>([
    ['both are absent', {}, 'missing_signature'],
    ['the signature is undefined', { ...headers, 'x-service-signature': undefined }, 'missing_signature'],
    ['the signature is null', { ...headers, 'x-service-signature': null }, 'missing_signature'],
    ['the signature is an empty list', { ...headers, 'x-service-signature': [] }, 'missing_signature'],
    ['the timestamp is absent', { 'x-service-signature': 'a' }, 'missing_timestamp'],
    ['the headers are inherited', Object.create(headers), 'missing_signature'],
    ['the headers are not enumerable', hideFields(headers), 'missing_signature'],
    ['a field named headers throws', throwingField('headers'), 'missing_signature'],
    ['a field named then throws', throwingField('then'), 'missing_signature'],
    ['the signature is empty', { ...headers, 'x-service-signature': '' }, 'malformed_signature'],
    ['the timestamp is empty', { ...headers, 'x-service-timestamp': '' }, 'malformed_timestamp'],
    [
      'two spellings of the signature',
      { ...headers, 'X-Service-Signature': minimal.hmacSha256.hex },
      'duplicate_header',
    ],
    ['two spellings of the timestamp', { ...headers, 'X-SERVICE-TIMESTAMP': '1' }, 'duplicate_header'],
    [
      'two equal values',
      { ...headers, 'x-service-signature': [minimal.hmacSha256.hex, minimal.hmacSha256.hex] },
      'duplicate_header',
    ],
    ['a Map with both spellings', new Map([...pairs, ['X-Service-Timestamp', '1']]), 'duplicate_header'],
  ])('are refused where %s', (_case, container, code) => {
    const error = attempt({ ...good, headers: container });
    expect(error).toBeInstanceOf(WebhookVerificationError);
    expect(error).toMatchObject({ code, httpStatus: 400 });
  });

  it('joined by Headers from two lines are refused, as the text is no signature', () => {
    const doubled = new Headers(headers);
    doubled.append('x-service-signature', minimal.hmacSha256.hex);
    expect(attempt({ ...good, headers: doubled })).toMatchObject({ code: 'malformed_signature' });
    const scheme = { separator: ',' };
    expect(attempt({ ...good, headers: doubled, scheme })).toMatchObject({ code: 'malformed_signature' });
  });
});

describe('secret', () => {
  it.each<[string, unknown]>([
    ['undefined', undefined],
    ['null', null],
    ['empty', ''],
    ['a number', 7],
    ['an object', {}],
    ['a boxed string', new String(secret)],
    ['a function', () => secret],
    ['a promise', Promise.resolve(secret)],
    ['no bytes', new Uint8Array()],
    ['the text undefined', 'undefined'],
    ['the text null', 'null'],
    ['the text NaN', 'NaN'],
    ['the text of an object', '[object Promise]'],
    ['ending in a line feed', `${secret}\n`],
    ['ending in a carriage return', `${secret}\r\n`],
    ['beginning with a space', ` ${secret}`],
    ['ending in a tab', `${secret}\t`],
    ['ending in a no-break space', `${secret}\u00a0`],
    ['white space alone', '  '],
    ['an empty list', []],
    ['a list with undefined', [secret, undefined]],
    ['a list with a hole', sparseArray(secret)],
    ['a nested list', [[secret]]],
    ['a list with a bad last entry', [secret, 'null']],
  ])('must not be %s; nothing verifies then', (_form, value) => {
    const forged = { ...good, secret: value, headers: { ...headers, 'x-service-signature': emptyKeyMac() } };
    for (const options of [{ ...good, secret: value }, forged]) {
      const error = attempt(options);
      expect(error).toBeInstanceOf(WebhookConfigError);
      expect(error).toMatchObject({ code: 'invalid_secret', httpStatus: 500 });
    }
  });

  it('is checked before body and headers are looked at', () => {
    expect(attempt({ secret: '' })).toMatchObject({ code: 'invalid_secret' });
    expect(attempt({ secret })).toMatchObject({ code: 'invalid_body' });
    expect(attempt({ secret, rawBody })).toMatchObject({ code: 'invalid_headers' });
  });

  it('is called an API key only where it begins like one', () => {
    for (const other of ['whsec_x', 'my_service_live_1', Buffer.from('service_live_1')]) {
      expect(attempt({ ...good, secret: other })).toMatchObject({
        message: expect.not.stringContaining('API key'),
      });
    }
  });

  it('may contain a space, and is a string even if it looks like hex or base64', () => {
    for (const text of ['two words', 'deadbeef', 'd2hzZWM=', 'whsec_d2hzZWM=']) {
      const signedBy = sign({ rawBody, secret: text, timestamp: receivedAt });
      const mac = createHmac('sha256', Buffer.from(text))
        .update(`${minimal.timestamp}.`)
        .update(rawBody)
        .digest('hex');
      expect(signedBy['x-service-signature']).toBe(mac);
      expect(attempt({ ...good, secret: text, headers: signedBy })).toEqual(paid);
    }
  });

  it('in a list of several verifies with each of them, as while one is being replaced', () => {
    expect(verify({ ...good, secret: ['whsec_next', secret] })).toEqual(paid);
    expect(verify({ ...good, secret: [secret, 'whsec_old'] })).toEqual(paid);
    expect(verify({ ...good, secret: [Buffer.from(secret)] })).toEqual(paid);
    expect(attempt({ ...good, secret: ['whsec_next', 'whsec_old'] })).toMatchObject({
      code: 'signature_mismatch',
    });
  });

  it.each<[string, 'base64' | 'hex', string]>([
    ['base64', 'base64', Buffer.from(secret).toString('base64')],
    ['base64 after whsec_', 'base64', `whsec_${Buffer.from(secret).toString('base64')}`],
    ['hex', 'hex', Buffer.from(secret).toString('hex')],
    ['upper-case hex', 'hex', Buffer.from(secret).toString('hex').toUpperCase()],
  ])('is decoded from %s where the scheme says so', (_form, secretEncoding, text) => {
    expect(verify({ ...good, secret: text, scheme: { secretEncoding } })).toEqual(paid);
  });

  it.each<[string, 'base64' | 'hex', string]>([
    ['whsec_ alone', 'base64', 'whsec_'],
    ['base64 without its padding', 'base64', 'd2hzZQ'],
    ['url-safe base64', 'base64', '-_-_'],
    ['base64 with changed tail bits', 'base64', 'd2hzZR=='],
    ['base64 with junk', 'base64', 'd2hz!ZWM='],
    ['base64 with a line feed inside', 'base64', 'd2hz\nZWM='],
    ['base64 with whsec_ in its middle', 'base64', 'QUJDwhsec_QUJD'],
    ['hex of odd length', 'hex', 'abc'],
    ['hex with another letter', 'hex', 'abzz'],
    ['text that is no hex', 'hex', 'zzzz'],
    ['hex after 0x', 'hex', '0xabcd'],
  ])('is refused as %s', (_form, secretEncoding, text) => {
    const error = attempt({ ...good, secret: text, scheme: { secretEncoding } });
    expect(error).toMatchObject({ code: 'invalid_secret', message: expect.stringContaining(secretEncoding) });
  });

  it('may be an API key, which the service may sign with', () => {
    const key = 'service_test_51H';
    const headers = sign({ rawBody, secret: key, timestamp: receivedAt });
    expect(attempt({ ...good, secret: key, headers })).toEqual(paid);
  });
});

describe('the signature', () => {
  const { hex } = minimal.hmacSha256;
  const withSignature = (text: string, scheme = {}) =>
    attempt({ ...good, headers: { ...headers, 'x-service-signature': text }, scheme });

  it.each<[string, string, object]>([
    ['upper-case hex, the same bytes', hex.toUpperCase(), {}],
    ['the only one of a list', hex, { separator: ',' }],
    ['the last of a list', `${'0'.repeat(64)};${hex}`, { separator: ';' }],
    ['one of a list beside another version', `v0=short,v1=${hex}`, { separator: ',', prefix: 'v1=' }],
    [
      'one of a list by spaces',
      `v1,${minimal.hmacSha256.base64} v1a,x`,
      { separator: ' ', prefix: 'v1,', encoding: 'base64' },
    ],
    ['after a prefix', `sha256=${hex}`, { prefix: 'sha256=' }],
    ['of SHA-512', minimal.hmacSha512.hex, { algorithm: 'sha512' }],
    ['of SHA-384', sha384(), { algorithm: 'sha384' }],
    ['over the body alone', minimal.bodyOnlySha256.hex, { content: '{body}' }],
  ])('may be %s', (_form, text, scheme) => {
    expect(withSignature(text, scheme)).toEqual(paid);
  });

  it.each<[string, string, object]>([
    ['64 characters of which one is two bytes', `é${hex.slice(1)}`, {}],
    ['65 hex digits', `${hex}0`, {}],
    ['62 hex digits', hex.slice(2), {}],
    ['63 hex digits', hex.slice(1), {}],
    ['hex with a space before', ` ${hex}`, {}],
    ['hex with a NUL', `${hex.slice(0, -1)}\0`, {}],
    ['not hex from the start', `zz${hex.slice(2)}`, {}],
    ['hex in a base64 scheme', hex, { encoding: 'base64' }],
    ['base64 without padding', minimal.hmacSha256.base64.slice(0, -1), { encoding: 'base64' }],
    ['base64 with a space', ` ${minimal.hmacSha256.base64}`, { encoding: 'base64' }],
    [
      'base64 with url-safe letters',
      minimal.hmacSha256.base64.replace('+', '-').replace('/', '_').replace('H', '-'),
      { encoding: 'base64' },
    ],
    ['base64 under base64url', minimal.hmacSha256.base64, { encoding: 'base64url' }],
    ['SHA-256 under sha512', hex, { algorithm: 'sha512' }],
    ['SHA-512 under sha256', minimal.hmacSha512.hex, {}],
    ['the prefix alone', 'v1=', { prefix: 'v1=' }],
    ['without the prefix', hex, { prefix: 'v1=' }],
    ['with the prefix in another case', `V1=${hex}`, { prefix: 'v1=' }],
    ['with the prefix twice', `v1=v1=${hex}`, { prefix: 'v1=' }],
    ['a list with an empty entry', `${hex},`, { separator: ',' }],
    [
      'a list with an empty entry among prefixed ones',
      `v1=${hex},,v1=${hex}`,
      { separator: ',', prefix: 'v1=' },
    ],
    ['a list that begins empty', `,${hex}`, { separator: ',' }],
    ['a list with a space in it', `${hex}, ${hex}`, { separator: ',' }],
    ['a list by another separator', `${hex};${hex}`, { separator: ',' }],
    ['a list with a malformed entry', `${hex},abc`, { separator: ',' }],
    ['a list with an entry of the prefix alone', `v1=,v1=${hex}`, { separator: ',', prefix: 'v1=' }],
    ['a list whose second line node:http joined', `v1=${hex}, v1=${hex}`, { separator: ',', prefix: 'v1=' }],
    ['4,097 characters', 'a'.repeat(4097), {}],
    ['the separator alone', ',', { separator: ',' }],
  ])('must not be %s', (_form, text, scheme) => {
    const error = withSignature(text, scheme);
    expect(error).toBeInstanceOf(WebhookVerificationError);
    expect(error).toMatchObject({ code: 'malformed_signature' });
  });

  it('may fill its header up to 4,096 characters', () => {
    const list = `${`${'0'.repeat(64)},`.repeat(62)}${hex}`;
    expect(list.length).toBe(4094);
    expect(withSignature(list, { separator: ',' })).toEqual(paid);
    expect(withSignature('a'.repeat(4096))).toMatchObject({ message: expect.not.stringContaining('longer') });
    expect(withSignature('a'.repeat(4097))).toMatchObject({
      message: expect.stringContaining('longer than 4096'),
    });
  });

  it('that does not match has the facts of the body, to distinguish a changed body from a wrong secret', () => {
    const error = attempt({ ...good, rawBody: `${rawBody} ` });
    expect(error).toMatchObject({ code: 'signature_mismatch', received: { bytes: minimal.bodyLength + 1 } });
    expect(attempt({ ...good, secret: 'other' })).toMatchObject({
      received: { bytes: minimal.bodyLength, sha256: minimal.bodySha256 },
    });
  });
});

describe('the timestamp', () => {
  const at = (text: string, scheme = {}, more = {}) =>
    attempt({ ...good, ...signBody(rawBody, text), scheme, ...more });

  it.each<[string, string, string]>([
    ['seconds', '1767225600', 'auto'],
    ['milliseconds', '1767225600000', 'auto'],
    ['seconds', '1767225600', 'seconds'],
    ['milliseconds', '1767225600000', 'milliseconds'],
    ['ISO 8601', '2026-01-01T00:00:00Z', 'iso8601'],
    ['ISO 8601 with milliseconds', '2026-01-01T00:00:00.000Z', 'iso8601'],
    ['ISO 8601 of 40 characters', `2026-01-01T00:00:00.${'0'.repeat(19)}Z`, 'iso8601'],
    ['ISO 8601 with an offset', '2026-01-01T01:00:00+01:00', 'iso8601'],
  ])('may be %s: %s under %s', (_form, text, unit) => {
    expect(at(text, { timestamp: unit })).toEqual(paid);
  });

  it.each<[string, string]>([
    ['0', 'auto'],
    ['01767225600', 'auto'],
    ['-1767225600', 'auto'],
    ['123456789012345', 'auto'],
    ['1767225600 ', 'auto'],
    ['1767225600\0', 'auto'],
    ['0x69560000', 'auto'],
    ['Infinity', 'auto'],
    ['1,767,225,600', 'auto'],
    ['1767225600.5', 'seconds'],
    ['0', 'milliseconds'],
    ['2026-01-01T00:00:00Z', 'auto'],
    ['2026-01-01T00:00:00Z', 'seconds'],
    ['1767225600', 'iso8601'],
    ['2026-01-01', 'iso8601'],
    ['2026-01-01 00:00:00Z', 'iso8601'],
    ['2026-02-30T00:00:00Z', 'iso8601'],
    ['2026-13-01T00:00:00Z', 'iso8601'],
    ['2026-01-01T25:00:00Z', 'iso8601'],
    ['2026-01-01T00:00:00z', 'iso8601'],
    ['+002026-01-01T00:00:00Z', 'iso8601'],
    [`2026-01-01T00:00:00.${'0'.repeat(30)}Z`, 'iso8601'],
    ['Thu, 01 Jan 2026 00:00:00 GMT', 'iso8601'],
  ])('must not be %j under %s, even when signed', (text, unit) => {
    const error = at(text, { timestamp: unit });
    expect(error).toBeInstanceOf(WebhookVerificationError);
    expect(error).toMatchObject({ code: 'malformed_timestamp', httpStatus: 400 });
  });

  it('is milliseconds from 1e11 on and seconds below', () => {
    const tolerant = { toleranceSeconds: Number.POSITIVE_INFINITY };
    expect(at('100000000000', {}, { ...tolerant })).toEqual(paid);
    expect(at('100000000000', {}, { receivedAt: new Date(1e11) })).toEqual(paid);
    expect(at('99999999999', {}, { receivedAt: new Date(99_999_999_999_000) })).toEqual(paid);
    expect(at('99999999999999', {}, { receivedAt: new Date(99_999_999_999_999) })).toEqual(paid);
  });

  it.each<[number, string | undefined]>([
    [300_000, undefined],
    [300_001, 'timestamp_too_old'],
    [-300_000, undefined],
    [-300_001, 'timestamp_in_future'],
    [86_400_000, 'timestamp_too_old'],
    [-86_400_000, 'timestamp_in_future'],
  ])('%i ms from the clock is answered %s', (skew, code) => {
    const result = attempt({ ...good, receivedAt: new Date(receivedAt.getTime() + skew) });
    if (code === undefined) expect(result).toEqual(paid);
    else expect(result).toMatchObject({ code, httpStatus: 400, skewSeconds: skew / 1000 });
  });

  it('is judged only once the signature is right: a forged one is never called late', () => {
    const late = new Date(receivedAt.getTime() + 86_400_000);
    const error = attempt({ ...good, receivedAt: late, secret: 'other' });
    expect(error).toMatchObject({ code: 'signature_mismatch' });
    expect(error).not.toHaveProperty('skewSeconds');
  });

  it('in the other unit gets the hint as far as the tolerance reaches', () => {
    const seconds = (text: string) => at(text, { timestamp: 'seconds' });
    expect(seconds('1767225300000')).toMatchObject({ message: expect.stringContaining('In milliseconds') });
    expect(seconds('1767225299999')).toMatchObject({
      message: expect.not.stringContaining('In milliseconds'),
    });
  });

  it('is compared with the clock of now where receivedAt is not given', () => {
    const { receivedAt: _, ...withoutClock } = good;
    expect(attempt({ ...withoutClock, headers: sign({ rawBody, secret }) })).toEqual(paid);
    expect(attempt(withoutClock)).toMatchObject({ code: expect.stringMatching(/^timestamp_/) });
  });
});

describe('toleranceSeconds and receivedAt', () => {
  it.each<[unknown]>([
    [0],
    [-1],
    [-0],
    [Number.NaN],
    [Number.NEGATIVE_INFINITY],
    ['300'],
    ['300s'],
    [null],
    [true],
    [300n],
    [[300]],
    [{}],
  ])('toleranceSeconds must not be %s', (toleranceSeconds) => {
    const error = attempt({ ...good, toleranceSeconds });
    expect(error).toBeInstanceOf(WebhookConfigError);
    expect(error).toMatchObject({
      code: 'invalid_options',
      message: expect.stringContaining('toleranceSeconds'),
    });
  });

  it('toleranceSeconds is 300 where it is undefined', () => {
    const at = (ms: number) =>
      attempt({ ...good, toleranceSeconds: undefined, receivedAt: new Date(receivedAt.getTime() + ms) });
    expect(at(300_000)).toEqual(paid);
    expect(at(300_001)).toMatchObject({ code: 'timestamp_too_old' });
  });

  it('toleranceSeconds may be a fraction, or Infinity', () => {
    const late = new Date(receivedAt.getTime() + 600);
    expect(attempt({ ...good, receivedAt: late, toleranceSeconds: 0.6 })).toEqual(paid);
    expect(attempt({ ...good, receivedAt: late, toleranceSeconds: 0.5 })).toMatchObject({
      code: 'timestamp_too_old',
    });
    expect(attempt({ ...good, receivedAt: new Date(0), toleranceSeconds: Number.POSITIVE_INFINITY })).toEqual(
      paid,
    );
  });

  it.each<[string, unknown]>([
    ['an invalid Date', new Date('invalid')],
    ['milliseconds', 1767225600000],
    ['a string without a zone', '2026-01-01T00:00:00'],
    ['null', null],
    ['an object that says it is a Date', { getTime: () => 0 }],
  ])('receivedAt must not be %s', (_form, value) => {
    expect(attempt({ ...good, receivedAt: value })).toMatchObject({
      code: 'invalid_options',
      message: expect.stringContaining('receivedAt'),
    });
  });

  it('receivedAt may be a Date of another realm', () => {
    expect(attempt({ ...good, receivedAt: runInNewContext('new Date(1767225600000)') })).toEqual(paid);
  });
});

describe('options', () => {
  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['null', null],
    ['the body', rawBody],
    ['text', rawBody.toString()],
    ['an array', [rawBody, headers, secret]],
    ['a function', () => good],
  ])('must be one object, not %s', (_form, options) => {
    const error = attempt(options);
    expect(error).toBeInstanceOf(WebhookConfigError);
    expect(error).toMatchObject({
      code: 'invalid_options',
      message: expect.stringContaining('rawBody, headers, secret'),
    });
  });

  it.each([
    ['rawbody', 'rawBody'],
    ['raw_body', 'rawBody'],
    ['body', 'rawBody'],
    ['payload', 'rawBody'],
    ['header', 'headers'],
    ['secrets', 'secret'],
    ['webhookSecret', 'secret'],
    ['tolerance', 'toleranceSeconds'],
    ['toleranceSecond', 'toleranceSeconds'],
    ['recievedAt', 'receivedAt'],
    ['now', 'receivedAt'],
    ['clock', 'receivedAt'],
    ['schema', 'scheme'],
  ])('named %s is refused, with %s as the likely one', (name, likely) => {
    expect(attempt({ ...good, [name]: 1 })).toMatchObject({
      code: 'invalid_options',
      message: expect.stringContaining(`Did you mean ${likely}?`),
    });
  });

  it.each([
    ['toleranceSeconds', Number.POSITIVE_INFINITY],
    ['secret', secret],
    ['scheme', { verify: () => true }],
    ['order_id', 'ord_forged'],
  ])('are refused while Object.prototype has %s', (name, value) => {
    Reflect.set(Object.prototype, name, value);
    const error = attempt(good);
    Reflect.deleteProperty(Object.prototype, name);
    expect(error).toMatchObject({ name: 'WebhookConfigError', code: 'invalid_options', httpStatus: 500 });
    expect(String(error)).toContain(`Object.prototype has the field "${name}"`);
  });
});

describe('scheme', () => {
  it.each<[string, unknown, RegExp]>([
    ['null', null, /scheme must be an object/],
    ['text', 'sha256', /scheme must be an object/],
    ['SHA-1', { algorithm: 'sha1' }, /algorithm/],
    ['an algorithm in capitals', { algorithm: 'SHA256' }, /algorithm/],
    ['an algorithm that is null', { algorithm: null }, /algorithm/],
    ['an inherited name as algorithm', { algorithm: 'toString' }, /algorithm/],
    ['a list as algorithm', { algorithm: ['sha256'] }, /algorithm/],
    ['a prefix that is null', { prefix: null }, /prefix must be a string/],
    ['an empty separator', { separator: '' }, /separator/],
    ['a separator that is null', { separator: null }, /separator/],
    ['empty content', { content: '' }, /\{body\} exactly once/],
    ['content that is a function', { content: () => '' }, /content must be a string/],
    ['a placeholder in capitals', { content: '{TIMESTAMP}.{body}' }, /placeholders/],
    ['a header name with a colon', { signatureHeader: 'x-sig:' }, /signatureHeader/],
    ['a header name that is a symbol', { signatureHeader: Symbol('x') }, /signatureHeader/],
    ['a verify that is null', { verify: null }, /scheme\.verify must be a function/],
  ])('must not have %s', (_form, scheme, message) => {
    const error = attempt({ ...good, scheme });
    expect(error).toBeInstanceOf(WebhookConfigError);
    expect(error).toMatchObject({ code: 'invalid_options', message: expect.stringMatching(message) });
  });

  it('takes its defaults where fields are undefined', () => {
    const scheme = {
      algorithm: undefined,
      encoding: undefined,
      prefix: undefined,
      content: undefined,
      verify: undefined,
    };
    expect(attempt({ ...good, scheme })).toEqual(paid);
    expect(attempt({ ...good, scheme: undefined })).toEqual(paid);
  });

  it('is checked before the secret', () => {
    expect(attempt({ secret: '', scheme: { algorithm: 'md5' } })).toMatchObject({ code: 'invalid_options' });
  });

  it('names its headers in any case', () => {
    const scheme = { signatureHeader: 'X-Sig', timestampHeader: 'X-Time' };
    const renamed = { 'x-sIG': minimal.hmacSha256.hex, 'X-time': minimal.timestamp };
    expect(attempt({ ...good, headers: renamed, scheme })).toEqual(paid);
    expect(attempt({ ...good, scheme })).toMatchObject({
      message: expect.stringContaining('x-sig is missing'),
    });
  });

  it.each([
    '{timestamp}:{body}',
    'v0:{timestamp}:{body}',
    '{body}.{timestamp}',
    '{body}',
    '{timestamp}{timestamp}{body}é',
    'https://shop.example/hook{body}',
  ])('signs the content %s', (content) => {
    const text = content
      .replace('{body}', () => rawBody.toString())
      .replaceAll('{timestamp}', minimal.timestamp);
    const mac = createHmac('sha256', secret).update(text).digest('hex');
    expect(
      attempt({ ...good, headers: { ...headers, 'x-service-signature': mac }, scheme: { content } }),
    ).toEqual(paid);
  });
});

describe('scheme.verify', () => {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const signature = signWithKey(null, Buffer.from(`${minimal.timestamp}.${rawBody}`), privateKey).toString(
    'base64',
  );
  const scheme = {
    prefix: 'ed25519=',
    verify: ({ body, timestamp, signature }: SignedMessage) =>
      verifyWithKey(
        null,
        Buffer.concat([Buffer.from(`${timestamp}.`), body]),
        publicKey,
        Buffer.from(signature, 'base64'),
      ),
  };
  const asymmetric = {
    rawBody,
    headers: { ...headers, 'x-service-signature': `ed25519=${signature}` },
    receivedAt,
    scheme,
  };

  it('verifies an Ed25519 signature without any secret', () => {
    expect(attempt(asymmetric)).toEqual(paid);
    expect(attempt({ ...asymmetric, rawBody: `${rawBody} ` })).toMatchObject({ code: 'signature_mismatch' });
  });

  it('replaces the MAC alone: headers, freshness, JSON and shape are checked as ever', () => {
    const accepting = { verify: () => true };
    const code = (more: object) => attempt({ ...good, scheme: accepting, ...more });
    expect(code({ headers: {} })).toMatchObject({ code: 'missing_signature' });
    expect(code({ headers: { ...headers, 'x-service-timestamp': '0' } })).toMatchObject({
      code: 'malformed_timestamp',
    });
    expect(code({ headers: { ...headers, 'x-service-signature': '' } })).toMatchObject({
      code: 'malformed_signature',
    });
    expect(code({ receivedAt: new Date(0) })).toMatchObject({ code: 'timestamp_in_future' });
    expect(code({ rawBody: '{' })).toMatchObject({ code: 'invalid_json' });
    expect(code({ rawBody: '{}' })).toMatchObject({ code: 'invalid_event' });
    expect(code({ rawBody: {} })).toMatchObject({ code: 'invalid_body' });
  });

  it('still refuses a bad secret where one is given', () => {
    expect(attempt({ ...asymmetric, secret: '' })).toMatchObject({ code: 'invalid_secret' });
    expect(attempt({ ...asymmetric, secret: null })).toMatchObject({ code: 'invalid_secret' });
  });

  it.each<[string, unknown]>([
    ['false', false],
    ['1', 1],
    ['"true"', 'true'],
    ['an object', {}],
    ['nothing', undefined],
    ['null', null],
  ])('accepts on true alone, not on %s', (_form, answer) => {
    expect(attempt({ ...asymmetric, scheme: { verify: () => answer } })).toMatchObject({
      code: 'signature_mismatch',
    });
  });

  it.each<[string, () => unknown]>([
    ['a promise of true', async () => true],
    ['a promise that rejects', async () => Promise.reject(new Error('no'))],
    ['a thenable', () => thenable],
  ])('that returns %s is a mistake of the caller', (_form, verifier) => {
    const error = attempt({ ...asymmetric, scheme: { verify: verifier } });
    expect(error).toBeInstanceOf(WebhookConfigError);
    expect(error).toMatchObject({ code: 'invalid_options', message: expect.stringContaining('promise') });
  });

  it('that throws is a mistake of the caller, and its error does not get out', () => {
    const error = attempt({
      ...asymmetric,
      scheme: {
        verify: () => {
          throw new RangeError(secret);
        },
      },
    });
    expect(error).toBeInstanceOf(WebhookConfigError);
    expect(error).toMatchObject({ code: 'invalid_options', message: expect.stringContaining('threw') });
    expect(String(error)).not.toContain(secret);
  });

  it('sees body, timestamp, the signature after the prefix, and any header', () => {
    const seen: unknown[] = [];
    const verifier = ({ body, timestamp, signature, header }: SignedMessage) => {
      seen.push(
        Buffer.from(body).equals(rawBody),
        timestamp,
        signature,
        header('X-Key-Id'),
        header('x-none'),
      );
      return true;
    };
    const withKeyId = { ...asymmetric.headers, 'x-key-id': 'key-7' };
    attempt({ ...asymmetric, headers: withKeyId, scheme: { ...scheme, verify: verifier } });
    expect(seen).toEqual([true, minimal.timestamp, signature, 'key-7', null]);
  });

  it('is refused a header with two values', () => {
    const verifier = ({ header }: SignedMessage) => header('x-key-id') === 'key-7';
    const doubled = { ...asymmetric.headers, 'x-key-id': ['key-7', 'key-8'] };
    expect(
      attempt({ ...asymmetric, headers: doubled, scheme: { ...scheme, verify: verifier } }),
    ).toMatchObject({
      code: 'duplicate_header',
    });
  });

  it('is asked about each signature of a list', () => {
    const seen: string[] = [];
    const verifier = ({ signature }: SignedMessage) => seen.push(signature) === 2;
    const list = { ...headers, 'x-service-signature': 'v1=a,v0=b,v1=c,v1=d' };
    const several = { prefix: 'v1=', separator: ',', verify: verifier };
    expect(attempt({ ...good, headers: list, scheme: several })).toEqual(paid);
    expect(seen).toEqual(['a', 'c']);
  });
});

describe('sign()', () => {
  const signAs = (options: unknown): unknown => {
    try {
      return Reflect.apply(sign, undefined, [options]);
    } catch (error) {
      return error;
    }
  };

  it('returns the two headers that verify() takes', () => {
    expect(sign({ rawBody, secret, timestamp: receivedAt })).toEqual(headers);
    expect(verify({ rawBody, headers: sign({ rawBody, secret }), secret })).toEqual(paid);
  });

  it.each<['auto' | 'seconds' | 'milliseconds' | 'iso8601', string]>([
    ['auto', '1767225600'],
    ['seconds', '1767225600'],
    ['milliseconds', '1767225600999'],
    ['iso8601', '2026-01-01T00:00:00.999Z'],
  ])('writes the timestamp in the unit %s: %s', (timestamp, text) => {
    const at = new Date('2026-01-01T00:00:00.999Z');
    expect(sign({ rawBody, secret, timestamp: at, scheme: { timestamp } })['x-service-timestamp']).toBe(text);
  });

  it('uses prefix, encoding and header names of the scheme', () => {
    const scheme = {
      prefix: 'v1=',
      encoding: 'base64',
      signatureHeader: 'X-Sig',
      timestampHeader: 'X-Time',
    } as const;
    expect(sign({ rawBody, secret, timestamp: receivedAt, scheme })).toEqual({
      'x-sig': `v1=${minimal.hmacSha256.base64}`,
      'x-time': minimal.timestamp,
    });
  });

  it.each<[string, unknown, string]>([
    ['no options', undefined, 'invalid_options'],
    ['an unknown option', { rawBody, secret, headers }, 'invalid_options'],
    ['an empty secret', { rawBody, secret: '' }, 'invalid_secret'],
    ['no secret', { rawBody }, 'invalid_secret'],
    ['a list of secrets', { rawBody, secret: [secret] }, 'invalid_secret'],
    ['a parsed body', { rawBody: {}, secret }, 'invalid_body'],
    ['a timestamp that is no Date', { rawBody, secret, timestamp: 1767225600 }, 'invalid_options'],
    ['a timestamp before 1970', { rawBody, secret, timestamp: new Date(-1) }, 'invalid_options'],
    [
      'a timestamp of the year 10000',
      { rawBody, secret, timestamp: new Date(8.64e15), scheme: { timestamp: 'iso8601' } },
      'invalid_options',
    ],
    ['a custom verify', { rawBody, secret, scheme: { verify: () => true } }, 'invalid_options'],
    ['a bad scheme', { rawBody, secret, scheme: { content: '' } }, 'invalid_options'],
  ])('refuses %s', (_form, options, code) => {
    const error = signAs(options);
    expect(error).toBeInstanceOf(WebhookConfigError);
    expect(error).toMatchObject({ code });
  });
});

function emptyKeyMac(): string {
  return createHmac('sha256', '').update(`${minimal.timestamp}.`).update(rawBody).digest('hex');
}

function sha384(): string {
  return createHmac('sha384', secret).update(`${minimal.timestamp}.`).update(rawBody).digest('hex');
}

function sparseArray(first: string): unknown[] {
  const list: unknown[] = [first];
  list.length = 2;
  return list;
}

function sharedCopy(bytes: Uint8Array): Uint8Array {
  const copy = new Uint8Array(new SharedArrayBuffer(bytes.byteLength));
  copy.set(bytes);
  return copy;
}

function otherRealm(bytes: Uint8Array, expression: string): unknown {
  return runInNewContext(`const bytes = Uint8Array.from(list); ${expression}`, { list: [...bytes] });
}

function detachedBuffer(): ArrayBuffer {
  const buffer = new ArrayBuffer(8);
  structuredClone(buffer, { transfer: [buffer] });
  return buffer;
}

function throwingProxy(): object {
  const refuse = () => {
    throw new TypeError('touched');
  };
  return new Proxy({}, { get: refuse, has: refuse, ownKeys: refuse, getPrototypeOf: refuse });
}

/** Returns an object whose field throws. `verify()` reads this field only for a better message. */
function throwingField(name: string): object {
  const get = () => {
    throw new TypeError('touched');
  };
  return Object.defineProperty({}, name, { get, enumerable: true });
}

function hideFields(values: object): object {
  const descriptors = Object.entries(values).map(([name, value]) => [name, { value, enumerable: false }]);
  return Object.defineProperties({}, Object.fromEntries(descriptors));
}
