import { EventEmitter } from 'node:events';
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { handler, nodeHandler, sign, verify, WebhookConfigError } from '../../src/webhooks/index.js';

const secret = 'whsec_merchant_test_7Qm2xV9c';
const rawBody = '{"type":"order.paid","data":{"order_id":"ord_1","amount":"19.90","currency":"USD"}}';
const headers = sign({ rawBody, secret });
const good = { rawBody, headers, secret };
const on = { 'order.paid': () => {} };
const keepBytes =
  'Keep them: in Express express.raw({ type: "application/json" }) on this route, before express.json(); with a Fetch request `await request.arrayBuffer()`; in NestJS `rawBody: true` and req.rawBody.';

/** The message of what a call throws, made as JavaScript would, with options of any form. */
function messageOf(call: (...args: never[]) => unknown, options: unknown): string {
  try {
    Reflect.apply(call, undefined, [options]);
  } catch (error) {
    if (error instanceof Error) return error.message;
  }
  throw new Error('Nothing was thrown.');
}

const messageOfVerify = () => {
  throw new TypeError('touched');
};
const untouchable = new Proxy(
  {},
  { get: messageOfVerify, has: messageOfVerify, ownKeys: messageOfVerify, getPrototypeOf: messageOfVerify },
);
const thenable = Object.fromEntries([['then', () => {}]]);

describe('verify() tells of a body', () => {
  it.each<[unknown, string]>([
    [null, 'rawBody is missing. In Express, give the route express.raw({ type: "application/json" }).'],
    [{}, `rawBody is a parsed object, and the signature covers the bytes that were received. ${keepBytes}`],
    [[1], 'rawBody is an array. Pass bytes as a Uint8Array or Buffer.'],
    [untouchable, 'rawBody could not be read. Pass the bytes as received, before you transfer them.'],
    [7, `rawBody is neither bytes nor a string. ${keepBytes}`],
    [thenable, 'rawBody is a promise. Write `await` before it.'],
    [new Response('x'), 'rawBody is a whole Request, Response or Blob. Pass `await request.arrayBuffer()`.'],
    [
      new Response('x').body,
      'rawBody is a stream. Read it to its end and pass the bytes, or use webhooks.nodeHandler().',
    ],
    [
      new IncomingMessage(new Socket()),
      'rawBody is a stream. Read it to its end and pass the bytes, or use webhooks.nodeHandler().',
    ],
  ])('%#', (body, problem) => {
    expect(messageOf(verify, { ...good, rawBody: body })).toBe(`The webhook cannot be verified: ${problem}`);
  });

  it.each([
    ['', `The body is empty: a body parser may have read the stream. ${keepBytes}`],
    [
      'x',
      "Either the body was changed in transit (pass the raw bytes; `received` describes those verified), or the secret or the scheme is not the sender's.",
    ],
  ])('%j, whose signature does not match', (body, hint) => {
    expect(messageOf(verify, { ...good, rawBody: body })).toBe(`The signature does not match. ${hint}`);
  });

  it('that is authentic, and no JSON', () => {
    const signed = { rawBody: '{', headers: sign({ rawBody: '{', secret }) };
    expect(messageOf(verify, { ...good, ...signed })).toBe(
      'The webhook is authentic, but its body is not JSON in UTF-8. Look at the delivery itself.',
    );
  });
});

describe('verify() tells of headers', () => {
  const withSignature = (value: unknown) => ({ ...headers, 'x-service-signature': value });
  const notPairs = 'headers is not an array of [name, value] pairs. Pass request.headers, not rawHeaders.';
  it.each<[unknown, string]>([
    [undefined, 'headers must be an object. Pass request.headers.'],
    ['x', 'headers must be an object. Pass request.headers.'],
    [untouchable, 'headers could not be read. Pass a copy.'],
    [thenable, 'headers is a promise. Write `await headers()`, which Next.js 15 made asynchronous.'],
    [{ headers }, 'headers is a whole request. Pass request.headers.'],
    [['x-service-signature', 'a'], notPairs],
    [[['x-service-signature', 'a', 'b']], notPairs],
    [[['x-service-signature']], notPairs],
    [[[1, 'a']], notPairs],
    [
      withSignature(7),
      'the value of x-service-signature is not a string. Pass headers as they were received.',
    ],
    [
      withSignature([7]),
      'the value of x-service-signature is not a string. Pass headers as they were received.',
    ],
    [
      Object.defineProperty({ ...headers }, 'x-service-signature', {
        get: messageOfVerify,
        enumerable: true,
      }),
      'the value of x-service-signature cannot be read. Pass headers as they were received.',
    ],
  ])('%#', (container, problem) => {
    expect(messageOf(verify, { ...good, headers: container })).toBe(
      `The webhook cannot be verified: ${problem}`,
    );
  });

  it('that one has two values', () => {
    const repeated = { ...headers, 'x-service-timestamp': ['1', '2'] };
    expect(messageOf(verify, { ...good, headers: repeated })).toBe(
      'The header x-service-timestamp has more than one value, so it is unclear which of them was signed. Look for a proxy that repeats it.',
    );
  });

  it.each([
    ['x-service-signature', 'x-service-timestamp'],
    ['x-service-timestamp', 'x-service-signature'],
  ])('that %s is missing', (missing, present) => {
    expect(messageOf(verify, { ...good, headers: { [present]: headers[present] } })).toBe(
      `The header ${missing} is missing: the request is not a webhook delivery, or a proxy dropped the header.`,
    );
  });
});

describe('verify() tells of a secret', () => {
  const missing = 'secret is missing. Is its environment variable set in this process?';
  const notText = 'secret must be a string or bytes.';
  it.each<[unknown, object, string]>([
    [undefined, {}, missing],
    ['', {}, 'secret is empty. Is its environment variable set in this process?'],
    [[], {}, 'array of secrets is empty.'],
    [new Uint8Array(), {}, 'secret has no bytes.'],
    [7, {}, notText],
    [{}, {}, notText],
    ['undefined', {}, 'secret is the string of a missing value, such as "undefined".'],
    ['"whsec_abc"', {}, 'secret is in quotes or <…>: remove them where it is read.'],
    ["'whsec_abc'", {}, 'secret is in quotes or <…>: remove them where it is read.'],
    ['<your secret>', {}, 'secret is in quotes or <…>: remove them where it is read.'],
    ['whsec_', {}, 'secret is only the prefix whsec_.'],
    [`${secret}\n`, {}, 'secret ends in a line feed: remove it where it is read.'],
    [`${secret}\r`, {}, 'secret ends in a line feed: remove it where it is read.'],
    [` ${secret}`, {}, 'secret begins or ends with white space: remove it where it is read.'],
    [`\n${secret}`, {}, 'secret begins or ends with white space: remove it where it is read.'],
    ['xyz', { secretEncoding: 'hex' }, 'secret is not hex, as scheme.secretEncoding says.'],
    ['a', { secretEncoding: 'hex' }, 'secret is not hex, as scheme.secretEncoding says.'],
    ['whsec_', { secretEncoding: 'base64' }, 'secret is not base64, as scheme.secretEncoding says.'],
    ['a whsec_b', { secretEncoding: 'base64' }, 'secret is not base64, as scheme.secretEncoding says.'],
  ])('%#', (given, scheme, problem) => {
    expect(messageOf(verify, { ...good, secret: given, scheme })).toBe(
      `The webhook ${problem} Pass what signs your webhooks as \`secret\`; the service does not document which secret that is, so ask it.`,
    );
  });

  it('that looks like an API key', () => {
    for (const given of [
      'service_live_1',
      ['whsec_other', 'service_test_1'],
      ['service_test_1', 'whsec_other'],
    ])
      expect(messageOf(verify, { ...good, secret: given })).toBe(
        'The signature does not match. The secret looks like an API key. The service does not document which secret signs webhooks: ask it, or try `merchant-payments identify`.',
      );
  });
});

describe('verify() tells of a signature', () => {
  const hex = 'a'.repeat(64);
  const other = 'If real deliveries have another form, set scheme.';
  const looksLike = (form: string) => `It looks like ${form}: set scheme.algorithm and scheme.encoding.`;
  it.each<[string, object, string]>([
    ['a'.repeat(4097), {}, `is longer than 4096 characters. ${other}`],
    ['a'.repeat(4096), {}, `is not 32 bytes in hex. ${other}`],
    [`t=1,${hex}`, {}, 'is not 32 bytes in hex. It seems to have a prefix: set scheme.prefix.'],
    [`v1,${hex}`, {}, 'is not 32 bytes in hex. It seems to have a prefix: set scheme.prefix.'],
    [`=${hex}`, {}, `is not 32 bytes in hex. ${other}`],
    [`${'v'.repeat(11)}=${hex}`, {}, `is not 32 bytes in hex. ${other}`],
    [`v=${hex}x`, { prefix: 'v=' }, `is not 32 bytes in hex. ${other}`],
    ['a'.repeat(96), {}, `is not 32 bytes in hex. ${looksLike('sha384 in hex')}`],
    ['A'.repeat(128), {}, `is not 32 bytes in hex. ${looksLike('sha512 in hex')}`],
    [hex, { algorithm: 'sha512' }, `is not 64 bytes in hex. ${looksLike('sha256 in hex')}`],
    [`${'+/'.repeat(21)}a=`, {}, `is not 32 bytes in hex. ${looksLike('sha256 in base64')}`],
    ['_-'.repeat(32), {}, `is not 32 bytes in hex. ${looksLike('sha384 in base64')}`],
    [`${'z'.repeat(86)}==`, {}, `is not 32 bytes in hex. ${looksLike('sha512 in base64')}`],
    [hex, { encoding: 'base64' }, `is not 32 bytes in base64. ${looksLike('sha256 in hex')}`],
    [`${'z'.repeat(42)}!`, {}, `is not 32 bytes in hex. ${other}`],
    [`${'z'.repeat(20)}=${'z'.repeat(23)}`, {}, `is not 32 bytes in hex. ${other}`],
    ['z'.repeat(64).concat('!'), {}, `is not 32 bytes in hex. ${other}`],
    [`${hex.slice(1)}g`, {}, `is not 32 bytes in hex. ${looksLike('sha384 in base64')}`],
    [' x', { prefix: 'v=' }, `holds an empty signature, or white space before one. ${other}`],
    ['v=', { prefix: 'v=' }, `holds an empty signature. ${other}`],
    ['v0=a', { prefix: 'v1=' }, `does not begin with scheme.prefix. ${other}`],
    [
      'v0=a,',
      { prefix: 'v1=', separator: ',' },
      `holds an empty signature, or white space before one. ${other}`,
    ],
  ])('%#', (signature, scheme, problem) => {
    expect(
      messageOf(verify, { ...good, headers: { ...headers, 'x-service-signature': signature }, scheme }),
    ).toBe(`The signature header ${problem}`);
  });
});

it('verify() leaves out a signature of another version, even one with a space inside', () => {
  const scheme = { prefix: 'v1=', separator: ',' } as const;
  const signed = sign({ rawBody, secret, scheme });
  const several = { ...signed, 'x-service-signature': `v0=a b,${signed['x-service-signature']}` };
  expect(verify({ ...good, headers: several, scheme })).toMatchObject({ type: 'order.paid' });
});

describe('verify() tells of a timestamp', () => {
  const inSeconds = '1767225600';
  const signFresh = (timestamp: 'auto' | 'seconds' | 'milliseconds', sent: string, receivedAt: string) => {
    const scheme = { timestamp } as const;
    const date = new Date(timestamp === 'milliseconds' ? Number(sent) : Number(sent) * 1000);
    return { ...good, headers: sign({ rawBody, secret, timestamp: date, scheme }), scheme, receivedAt };
  };

  it.each([
    [
      inSeconds,
      'iso8601',
      'The timestamp header is in another form than scheme.timestamp "iso8601" says. Set scheme.timestamp.',
    ],
    [
      '2026-01-01T00:00:00Z',
      'auto',
      'The timestamp header is in another form than scheme.timestamp "auto" says. Set scheme.timestamp.',
    ],
    [
      '2026-01-01T00:00:00Z',
      'seconds',
      'The timestamp header is in another form than scheme.timestamp "seconds" says. Set scheme.timestamp.',
    ],
    ['today', 'iso8601', 'The timestamp header is not ISO 8601 with a zone.'],
    ['01', 'milliseconds', 'The timestamp header is not plain Unix time.'],
  ])('%s as %s', (value, timestamp, message) => {
    const given = { ...good, headers: { ...headers, 'x-service-timestamp': value }, scheme: { timestamp } };
    expect(messageOf(verify, given)).toBe(message);
  });

  it('that would be fresh in the other unit', () => {
    expect(messageOf(verify, signFresh('milliseconds', inSeconds, '2026-01-01T00:00:00Z'))).toMatch(
      /In seconds it would be fresh: set scheme\.timestamp to "auto"\.$/,
    );
    expect(messageOf(verify, signFresh('seconds', '1767225600000', '2026-01-01T00:00:00Z'))).toMatch(
      /In milliseconds it would be fresh: set scheme\.timestamp to "auto"\.$/,
    );
    expect(messageOf(verify, signFresh('milliseconds', inSeconds, '2026-01-02T00:00:00Z'))).toMatch(
      / s in the past, .* It is a replay or was queued \(then pass receivedAt\), or a clock is wrong\.$/,
    );
    const scheme = { timestamp: 'iso8601' } as const;
    const early = sign({ rawBody, secret, timestamp: new Date(Number(inSeconds)), scheme });
    const receivedAt = '2026-01-01T00:00:00Z';
    expect(messageOf(verify, { ...good, headers: early, scheme, receivedAt })).toMatch(
      / or a clock is wrong\.$/,
    );
    expect(messageOf(verify, signFresh('auto', inSeconds, '2025-12-31T00:00:00Z'))).toMatch(
      / 86400 s in the future, .* One of the two clocks is wrong\.$/,
    );
  });

  it('unless its fraction is as long as a timestamp of 40 characters can have', () => {
    const signed = sign({ rawBody, secret, timestamp: new Date('2026-01-01T00:00:00Z') });
    const receivedAt = `2026-01-01T00:00:00.${'0'.repeat(19)}Z`;
    expect(verify({ ...good, headers: signed, receivedAt })).toMatchObject({ type: 'order.paid' });
    const longer = receivedAt.replace('Z', '0Z');
    expect(messageOf(verify, { ...good, headers: signed, receivedAt: longer })).toMatch(
      /: receivedAt must be/,
    );
  });

  it.each<[object, string]>([
    [
      { toleranceSeconds: 0 },
      'toleranceSeconds must be a number above 0; write Infinity to switch the check off.',
    ],
    [
      { toleranceSeconds: '5' },
      'toleranceSeconds must be a number above 0; write Infinity to switch the check off.',
    ],
    [{ receivedAt: 'today' }, 'receivedAt must be a valid Date or ISO 8601 with a zone.'],
    [{ receivedAt: new Date(Number.NaN) }, 'receivedAt must be a valid Date or ISO 8601 with a zone.'],
  ])('or an option %#', (options, message) => {
    expect(messageOf(verify, { ...good, ...options })).toBe(`webhooks.verify(): ${message}`);
  });
});

describe('verify() tells of a scheme', () => {
  it.each<[unknown, string]>([
    [[], 'scheme must be an object, got an array.'],
    [{ encodng: 'hex' }, 'scheme.encodng is unknown. Did you mean encoding?'],
    [{ algorithm: 'md5' }, 'scheme.algorithm must be "sha256", "sha384" or "sha512", got a string.'],
    [{ encoding: 'utf8' }, 'scheme.encoding must be "hex", "base64" or "base64url", got a string.'],
    [{ separator: '|' }, 'scheme.separator must be ",", " " or ";", got a string.'],
    [
      { timestamp: 'unix' },
      'scheme.timestamp must be "auto", "seconds", "milliseconds" or "iso8601", got a string.',
    ],
    [{ secretEncoding: 'text' }, 'scheme.secretEncoding must be "utf8", "base64" or "hex", got a string.'],
    [{ prefix: 1 }, 'scheme.prefix must be a string, got the number 1.'],
    [{ content: 1 }, 'scheme.content must be a string, got the number 1.'],
    [
      { prefix: 'v1,', separator: ',' },
      'scheme.prefix contains scheme.separator, so the signatures cannot be separated.',
    ],
    [
      { signatureHeader: 'a b' },
      'scheme.signatureHeader must be the name of a header, such as "x-service-signature".',
    ],
    [
      { timestampHeader: '' },
      'scheme.timestampHeader must be the name of a header, such as "x-service-timestamp".',
    ],
    [
      { signatureHeader: 'X-A', timestampHeader: 'x-a' },
      'scheme.signatureHeader and scheme.timestampHeader name the same header.',
    ],
    [{ content: '{timestamp}' }, 'scheme.content must hold {body} exactly once.'],
    [{ content: '{body}{body}' }, 'scheme.content must hold {body} exactly once.'],
    [{ content: '{id}.{body}' }, 'scheme.content may hold only the placeholders {timestamp} and {body}.'],
    [{ content: '{body}}' }, 'scheme.content may hold only the placeholders {timestamp} and {body}.'],
    [{ verify: 1 }, 'scheme.verify must be a function, not a generator, got the number 1.'],
  ])('%#', (scheme, message) => {
    expect(messageOf(verify, { ...good, scheme })).toBe(`webhooks.verify(): ${message}`);
  });

  it.each<[object, string]>([
    [{ verify: messageOfVerify }, 'scheme.verify threw. Let it return false for an invalid signature.'],
    [
      { verify: async () => true },
      'scheme.verify returned a promise. Verify synchronously: node:crypto has verify().',
    ],
  ])('that fails: %#', (scheme, message) => {
    expect(messageOf(verify, { ...good, scheme })).toBe(message);
  });

  it.each(['a b', 'a.b', '', `a${'b'.repeat(40)}`, `a"${rawBody}`])(
    'with no likely option for %j',
    (name) => {
      const shown = name === 'a.b' ? name : 'a name';
      expect(messageOf(verify, { ...good, [name]: 1 })).toBe(
        `webhooks.verify(): ${shown} is unknown. Known are rawBody, headers, secret, toleranceSeconds, scheme, receivedAt, encoding.`,
      );
    },
  );
});

it('verify() tells of options that are none', () => {
  expect(messageOf(verify, undefined)).toBe(
    'webhooks.verify() takes one options object, such as { rawBody, headers, secret }.',
  );
});

it.each<[object, string]>([
  [{ tolerance: 1 }, 'webhooks.sign(): tolerance is unknown. Known are rawBody, secret, timestamp, scheme.'],
  [{ timestamp: 1 }, 'webhooks.sign(): timestamp must be a valid Date, got the number 1.'],
  [{ timestamp: new Date(-1) }, 'timestamp is outside the range that the header can hold.'],
  [{ scheme: { verify: () => true } }, 'scheme.verify cannot sign: sign with its private key yourself.'],
])('sign() tells of an option %#', (options, message) => {
  expect(messageOf(sign, { rawBody, secret, ...options })).toContain(message);
});

describe.each([
  ['webhooks.handler()', handler],
  ['webhooks.nodeHandler()', nodeHandler],
])('%s tells of its options', (what, create) => {
  it.each<[unknown, string]>([
    [undefined, ' takes one options object, such as { secret, on }.'],
    [{ secret }, ': pass "on" to handle events in the request, or "accept" to store them first.'],
    [
      { secret, on, accept: async () => {} },
      ': "accept" gets every event, so pass no "on" and no "onUnknown" beside it.',
    ],
    [
      { secret, onUnknown: () => {}, accept: async () => {} },
      ': "accept" gets every event, so pass no "on" and no "onUnknown" beside it.',
    ],
    [{ secret, on: {} }, ': on has no function for "order.paid", so orders would be lost.'],
    [{ secret, on: 1 }, ': on must be an object, got the number 1.'],
    [{ secret, on, hooks: 1 }, ': hooks must be an object of functions, got the number 1.'],
    [{ secret, on, hooks: null }, ': hooks must be an object of functions, got null.'],
    [
      { secret, on, hooks: Object.assign(Object.create(null), { recieved: () => {} }) },
      ': hooks.recieved is unknown. Did you mean received?',
    ],
    [
      { secret, on, hooks: { a: 1 } },
      ': hooks.a is unknown. Known are received, duplicate, refused, done, failed.',
    ],
  ])('%#', (options, problem) => {
    expect(messageOf(create, options)).toBe(`${what}${problem}`);
  });

  it.each<[object, string]>([
    [{ secret, accept: 1 }, 'accept must be a function, not a generator, got the number 1.'],
    [{ secret, on, onUnknown: 1 }, 'onUnknown must be a function, not a generator, got the number 1.'],
    [{ secret, on, onError: 1 }, 'onError must be a function, not a generator, got the number 1.'],
    [
      { secret, on: { 'order.paid': 1 } },
      'on.order.paid must be a function, not a generator, got the number 1.',
    ],
    [
      { secret, on: { 'order.paid': function* () {} } },
      'on.order.paid must be a function, not a generator, got a function.',
    ],
    [
      { secret, accept: async function* () {} },
      'accept must be a function, not a generator, got a function.',
    ],
    [{ secret, on, hooks: { done: 1 } }, 'hooks.done must be a function, got the number 1.'],
  ])('that are no functions %#', (options, message) => {
    expect(messageOf(create, options)).toBe(`${what}: ${message}`);
  });
});

describe('a handler reports of a request', () => {
  const errorOf = async (receive: (options: { onError: (error: unknown) => void }) => Promise<unknown>) => {
    const errors: unknown[] = [];
    await receive({ onError: (error) => errors.push(error) });
    expect(errors).toEqual([expect.any(WebhookConfigError)]);
    return errors[0];
  };
  const options = { secret, accept: async () => {} };
  const begin = 'The webhook cannot be verified: ';

  it('that was read before', async () => {
    const request = new Request('https://shop.example', { method: 'POST', headers, body: rawBody });
    await request.text();
    expect(await errorOf(({ onError }) => handler({ ...options, onError })(request))).toMatchObject({
      message: `${begin}the request was read before. Pass it unread, or read \`request.clone()\` before.`,
    });
  });

  it.each([
    [
      { method: 'POST', headers },
      'webhooks.handler() takes Fetch requests. Use webhooks.nodeHandler() here.',
    ],
    [{}, 'no request was passed. With Hono, pass c.req.raw.'],
  ])('that is none %#', async (request, problem) => {
    const call = ({ onError }: { onError: (error: unknown) => void }) =>
      Promise.resolve(Reflect.apply(handler({ ...options, onError }), undefined, [request]));
    expect(await errorOf(call)).toMatchObject({ message: begin + problem });
  });

  it('that a body parser has read', async () => {
    const request = {
      method: 'POST',
      headers,
      body: {},
      readableDidRead: true,
      on: () => {},
    };
    const response = { statusCode: 0, setHeader: () => {}, end: () => {} };
    expect(
      await errorOf(async ({ onError }) => nodeHandler({ ...options, onError })(request, response)),
    ).toMatchObject({
      message: `${begin}a body parser has read the request before. In Express, register this route before app.use(express.json()), alone or with express.raw({ type: "application/json" }); in NestJS, create the app with \`rawBody: true\`; in a Next.js API route, export \`config = { api: { bodyParser: false } }\`; in Fastify and NestJS on it, pass request and reply themselves, in Koa ctx.request and ctx.response.`,
    });
  });

  it.each([
    ['error', [new Error('reset')], 'reset'],
    ['close', [], 'The connection closed before the body was complete.'],
  ])('that broke off with %s', async (event, facts, message) => {
    const request = new EventEmitter();
    const rest = { method: 'POST', headers, pause: () => {} };
    const response = { statusCode: 0, setHeader: () => {}, end: () => {} };
    const errors: unknown[] = [];
    const receive = nodeHandler({ ...options, onError: (error) => errors.push(error) });
    const receiving = receive(Object.assign(request, rest), response);
    request.emit(event, ...facts);
    await receiving;
    expect(errors).toMatchObject([{ message }]);
    expect(response.statusCode).toBe(500);
  });
});
