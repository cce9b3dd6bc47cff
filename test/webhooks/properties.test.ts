import { createHmac } from 'node:crypto';
import { inspect } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  sign,
  verify,
  WebhookConfigError,
  WebhookPayloadError,
  WebhookVerificationError,
} from '../../src/webhooks/index.js';
import { check } from '../helpers/fuzz.js';
import { bodyOf, type Case, cases, optionsOf, vector } from '../helpers/webhook-cases.js';

const secret = 'whsec_merchant_test_7Qm2xV9c';
const receivedAt = new Date('2026-01-01T00:00:00Z');
const minimal = vector('minimal');
const good = {
  rawBody: bodyOf(minimal),
  headers: { 'x-service-signature': minimal.hmacSha256.hex, 'x-service-timestamp': minimal.timestamp },
  secret,
  receivedAt,
};

function attempt(options: unknown): unknown {
  try {
    return Reflect.apply(verify, undefined, [options]);
  } catch (error) {
    return error;
  }
}

function isOurs(error: unknown): boolean {
  return [WebhookConfigError, WebhookVerificationError, WebhookPayloadError].some(
    (kind) => error instanceof kind,
  );
}

/** An event came back, or one of the three classes: never anything else. */
function isTotal(outcome: unknown): boolean {
  return outcome instanceof Error ? isOurs(outcome) : typeof outcome === 'object' && outcome !== null;
}

const event = fc.record({
  type: fc.constant('order.paid'),
  data: fc.record({
    order_id: fc.string({ minLength: 1, unit: 'grapheme' }),
    amount: fc
      .bigInt({ min: 0n, max: 10n ** 30n })
      .map((cents) => `${cents / 100n}.${String(cents % 100n).padStart(2, '0')}`),
    currency: fc.constantFrom('USD', 'EUR', 'JPY'),
  }),
});
const scheme = fc
  .record({
    algorithm: fc.constantFrom('sha256', 'sha384', 'sha512'),
    encoding: fc.constantFrom('hex', 'base64', 'base64url'),
    prefix: fc.constantFrom('', 'v1=', 'sha256=', 'v1,'),
    separator: fc.constantFrom(undefined, ',', ' ', ';'),
    content: fc.constantFrom('{timestamp}.{body}', '{body}', 'v0:{timestamp}:{body}', '{body}{timestamp}'),
    timestamp: fc.constantFrom('auto', 'seconds', 'milliseconds', 'iso8601'),
  })
  .filter(({ prefix, separator }) => separator === undefined || !prefix.includes(separator));
const text = fc.string({ minLength: 1, unit: 'grapheme' }).filter((value) => value.trim() === value);
const instant = fc.date({ min: new Date(1_000), max: new Date('2100-01-01T00:00:00Z'), noInvalidDate: true });

describe('for every event, scheme, secret and date', () => {
  it('what sign() signed, verify() accepts, in any form of body', async () => {
    await check(
      fc.property(event, scheme, text, instant, (value, chosen, key, at) => {
        fc.pre(!/^(?:undefined|null|NaN|\[object \w+\])$/.test(key) && at.getTime() / 1000 < 1e11);
        const body = JSON.stringify(value);
        const headers = Reflect.apply(sign, undefined, [
          { rawBody: body, secret: key, timestamp: at, scheme: chosen },
        ]);
        const whole = { headers, secret: key, receivedAt: at, scheme: chosen };
        for (const rawBody of [body, Buffer.from(body), new TextEncoder().encode(body).buffer]) {
          expect(attempt({ ...whole, rawBody })).toEqual(value);
        }
      }),
      200,
    );
  });

  it('one changed byte anywhere in the body is refused as a mismatch', async () => {
    await check(
      fc.property(event, fc.nat(), fc.integer({ min: 1, max: 255 }), (value, place, change) => {
        const body = Buffer.from(JSON.stringify(value));
        const headers = sign({ rawBody: body, secret, timestamp: receivedAt });
        const index = place % body.byteLength;
        body.writeUInt8(body.readUInt8(index) ^ change, index);
        expect(attempt({ rawBody: body, headers, secret, receivedAt })).toMatchObject({
          code: 'signature_mismatch',
        });
      }),
      200,
    );
  });

  it('one changed digit of the signature is refused as a mismatch', async () => {
    await check(
      fc.property(fc.nat(63), fc.integer({ min: 1, max: 15 }), (index, change) => {
        const digits = [...minimal.hmacSha256.hex];
        digits[index] = (Number.parseInt(digits[index] ?? '', 16) ^ change).toString(16);
        const headers = { ...good.headers, 'x-service-signature': digits.join('') };
        expect(attempt({ ...good, headers })).toMatchObject({ code: 'signature_mismatch' });
      }),
      200,
    );
  });

  it('another secret is refused as a mismatch', async () => {
    await check(
      fc.property(text, (other) => {
        fc.pre(
          other !== secret && !/^(?:undefined|null|NaN|\[object \w+\]|whsec_|(["'`]).*\1|<.*>)$/.test(other),
        );
        expect(attempt({ ...good, secret: other })).toMatchObject({ code: 'signature_mismatch' });
      }),
      200,
    );
  });

  it('the tolerance holds both ways to the millisecond', async () => {
    await check(
      fc.property(
        fc.integer({ min: -900_000, max: 900_000 }),
        fc.integer({ min: 1, max: 600 }),
        (skew, toleranceSeconds) => {
          const outcome = attempt({
            ...good,
            toleranceSeconds,
            receivedAt: new Date(receivedAt.getTime() + skew),
          });
          if (Math.abs(skew) <= toleranceSeconds * 1000)
            expect(outcome).toMatchObject({ type: 'order.paid' });
          else
            expect(outcome).toMatchObject({ code: skew > 0 ? 'timestamp_too_old' : 'timestamp_in_future' });
        },
      ),
      200,
    );
  });
});

describe('whatever is given', () => {
  const anything = fc.anything({
    withBigInt: true,
    withDate: true,
    withMap: true,
    withSet: true,
    withNullPrototype: true,
    withTypedArray: true,
    withSparseArray: true,
  });
  const nearly = fc.oneof(
    fc.constant(minimal.hmacSha256.hex),
    fc.constant(minimal.timestamp),
    fc.string({ unit: 'binary', maxLength: 80 }),
    fc.stringMatching(/^[0-9a-f]{64}$/),
    fc.integer().map(String),
    fc.double().map(String),
    fc.array(fc.string({ maxLength: 5 }), { maxLength: 3 }),
    anything,
  );
  const name = fc.constantFrom(
    'x-service-signature',
    'x-service-timestamp',
    'X-Service-Signature',
    'X-SERVICE-TIMESTAMP',
    'x',
    '__proto__',
  );
  const headers = fc.oneof(
    anything,
    fc.array(fc.tuple(name, nearly), { maxLength: 4 }),
    fc.array(fc.tuple(name, nearly), { maxLength: 4 }).map((pairs) => Object.fromEntries(pairs)),
    fc.array(fc.tuple(name, nearly), { maxLength: 4 }).map((pairs) => new Map(pairs)),
    fc.record({ 'x-service-signature': nearly, 'x-service-timestamp': fc.constant(minimal.timestamp) }),
    fc.record({ 'x-service-signature': fc.constant(minimal.hmacSha256.hex), 'x-service-timestamp': nearly }),
    fc.constant(good.headers),
  );
  const body = fc.oneof(
    anything,
    fc.uint8Array(),
    fc.string({ unit: 'binary' }),
    fc.constant(good.rawBody),
    fc.json(),
  );

  it('as headers and body: only the three classes come out', async () => {
    await check(
      fc.property(body, headers, (rawBody, container) =>
        isTotal(attempt({ ...good, rawBody, headers: container })),
      ),
      1_000,
    );
  });

  it('as authentic content: an event, or a payload error', async () => {
    const content = fc.oneof(
      fc.uint8Array(),
      fc.string({ unit: 'binary' }),
      fc.json(),
      fc.json().map((json) => `{"type":"order.paid","data":${json}}`),
    );
    await check(
      fc.property(content, (given) => {
        const rawBody = typeof given === 'string' ? Buffer.from(given) : Buffer.from(given);
        const mac = createHmac('sha256', secret)
          .update(`${minimal.timestamp}.`)
          .update(rawBody)
          .digest('hex');
        const outcome = attempt({
          ...good,
          rawBody,
          headers: { ...good.headers, 'x-service-signature': mac },
        });
        return outcome instanceof Error ? outcome instanceof WebhookPayloadError : isTotal(outcome);
      }),
      1_000,
    );
  });

  it('as options, scheme and secret: only the three classes come out', async () => {
    await check(
      fc.property(
        anything,
        anything,
        anything,
        anything,
        anything,
        (options, chosen, key, toleranceSeconds, at) => {
          const outcomes = [
            attempt(options),
            attempt({ ...good, scheme: chosen }),
            attempt({ ...good, secret: key }),
            attempt({ ...good, toleranceSeconds }),
            attempt({ ...good, receivedAt: at }),
          ];
          return outcomes.every(isTotal);
        },
      ),
      200,
    );
  });
});

describe('20,000 random header and body values', () => {
  /** A repeatable stream of numbers below a limit (xorshift32). */
  function randomFrom(seed: number): (limit: number) => number {
    let state = seed;
    return (limit) => {
      state ^= state << 13;
      state ^= state >>> 17;
      state ^= state << 5;
      return (state >>> 0) % limit;
    };
  }

  const below = randomFrom(20_260_101);
  const pick = <Value>(values: readonly Value[]): Value | undefined => values[below(values.length)];
  const bytes = (limit: number) => Uint8Array.from({ length: below(limit) }, () => below(256));
  const refuse = () => {
    throw new RangeError('touched');
  };
  const oddities: (() => unknown)[] = [
    () => undefined,
    () => null,
    () => below(3) - 1,
    () => Number.NaN,
    () => 10n,
    () => true,
    () => Symbol('s'),
    () => refuse,
    () => new Date(Number.NaN),
    () => /x/,
    () => [],
    () => [[], [[]]],
    () => Object.create(null),
    () => new Proxy({}, { get: refuse, ownKeys: refuse }),
    () => new Proxy([], { get: refuse }),
    () => Promise.resolve(),
    () => new Map([[{}, {}]]),
    () => new Set([1]),
    () => new WeakMap(),
    () => new Error('x'),
    () => new SharedArrayBuffer(2),
    () => new Float64Array(2),
    () => ({ [Symbol.iterator]: refuse }),
    () => ({ [Symbol.iterator]: 7 }),
    () => ({ toString: refuse, valueOf: refuse, length: -1 }),
  ];
  const texts: (() => string)[] = [
    () => Buffer.from(bytes(70)).toString('latin1'),
    () => Buffer.from(bytes(70)).toString('utf16le'),
    () => Buffer.from(Uint8Array.from({ length: 32 }, () => below(256))).toString('hex'),
    () => minimal.hmacSha256.hex.slice(below(4)) + String.fromCharCode(below(0xffff)),
    () => minimal.hmacSha256.hex,
    () => minimal.hmacSha256.base64,
    () => String(below(2 ** 31)),
    () => `17672256${below(1000)}`,
    () => minimal.timestamp,
    () => '9'.repeat(below(20)),
    () => 'a'.repeat(below(5000)),
    () => '',
  ];
  const text = () => pick(texts)?.() ?? '';
  const value = () =>
    pick([text, text, text, () => pick(oddities)?.(), () => [text()], () => [text(), text()]])?.();
  const headerName = () =>
    pick(['x-service-signature', 'x-service-timestamp', 'X-Service-Signature', '__proto__', text()]);
  const pairs = () => Array.from({ length: below(5) }, (): [unknown, unknown] => [headerName(), value()]);
  const both = () => ({ 'x-service-signature': value(), 'x-service-timestamp': value() });
  const headersOf = [
    both,
    () => ({ ...good.headers, [headerName() ?? '']: value() }),
    pairs,
    () => new Map(pairs()),
    () => Object.fromEntries(pairs()),
    () => pairs().flat(),
    () => pick(oddities)?.(),
    () => good.headers,
  ];
  const bodyOfAnyKind = [
    () => good.rawBody,
    () => bytes(200),
    () => bytes(64).buffer,
    () => new DataView(bytes(64).buffer),
    text,
    () => pick(oddities)?.(),
    () => ({ type: 'order.paid' }),
  ];

  it('bring out an event or one of the three classes, never anything else', () => {
    const names = new Set<string>();
    for (let run = 0; run < 20_000; run++) {
      const options = { ...good, rawBody: pick(bodyOfAnyKind)?.(), headers: pick(headersOf)?.() };
      const outcome = attempt(options);
      if (!isTotal(outcome)) expect.fail(`run ${run}: ${inspect(options)} gave ${inspect(outcome)}`);
      names.add(outcome instanceof Error && 'code' in outcome ? String(outcome.code) : 'event');
    }
    expect([...names].sort()).toEqual([
      'duplicate_header',
      'event',
      'invalid_body',
      'invalid_headers',
      'malformed_signature',
      'malformed_timestamp',
      'missing_signature',
      'missing_timestamp',
      'signature_mismatch',
    ]);
  });
});

describe('no error holds anything of the delivery or of the secret', () => {
  /** Every text that can be reached from an error: own, inherited, symbol and hidden fields, causes, printed forms. */
  function textsOf(error: unknown): string {
    const seen = new Set<unknown>();
    const texts = [
      inspect(error, { showHidden: true, depth: 20, getters: true }),
      String(error),
      JSON.stringify(error),
    ];
    const walk = (value: unknown): void => {
      if (typeof value !== 'object' || value === null) {
        texts.push(String(value));
        return;
      }
      if (seen.has(value)) return;
      seen.add(value);
      if (ArrayBuffer.isView(value)) texts.push(bytesOf(value).toString('hex'), bytesOf(value).toString());
      for (
        let link: object | null = value;
        link && link !== Object.prototype;
        link = Object.getPrototypeOf(link)
      ) {
        for (const key of Reflect.ownKeys(link)) {
          texts.push(String(key));
          walk(Reflect.get(link, key, value));
        }
      }
    };
    walk(error);
    return texts.join('\n');
  }

  const rejected = cases.filter(({ expect }) => expect === 'reject');

  for (const one of rejected) {
    it(`${one.id}: neither body, header values, secret nor MAC`, () => {
      const options = optionsOf(one);
      const error = attempt(options);
      expect(isOurs(error)).toBe(true);
      const inside = textsOf(error);
      for (const canary of canaries(options, one.headers)) expect(inside).not.toContain(canary);
    });
  }

  function canaries(
    { rawBody, headers, secret: given }: Record<string, unknown>,
    sent: Case['headers'],
  ): string[] {
    const body =
      typeof rawBody === 'string'
        ? Buffer.from(rawBody)
        : ArrayBuffer.isView(rawBody)
          ? bytesOf(rawBody)
          : undefined;
    const texts = [
      body?.toString(),
      body?.toString('latin1'),
      'ord_1001',
      '19.90',
      secret,
      given,
      minimal.hmacSha256.hex,
    ];
    if (typeof headers === 'object' && headers !== null) texts.push(...headerTexts(headers));
    for (const [name, timestamp] of sent) {
      if (!body || name.toLowerCase() !== 'x-service-timestamp') continue;
      const mac = createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest();
      texts.push(mac.toString('hex'), mac.toString('base64'), mac.toString('base64url'));
    }
    return texts
      .filter((each) => typeof each === 'string')
      .filter((each) => each.length > 4 && each !== 'undefined');
  }

  function bytesOf({ buffer, byteOffset, byteLength }: ArrayBufferView): Buffer {
    return Buffer.from(buffer, byteOffset, byteLength);
  }

  function headerTexts(headers: object): string[] {
    const values: unknown[] = Array.isArray(headers)
      ? headers.map((pair) => pair[1])
      : Object.values(headers);
    return values.flat().map(String);
  }

  it('nor the secret of a list, the decoded key, or the text that a verifier threw', () => {
    const key = Buffer.from('canary-of-the-key-bytes').toString('base64');
    const errors = [
      attempt({ ...good, secret: ['canary-first', 'canary-second'] }),
      attempt({ ...good, secret: [secret, ' canary-third'] }),
      attempt({ ...good, secret: key, scheme: { secretEncoding: 'base64' } }),
      attempt({ ...good, secret: `${key}=`, scheme: { secretEncoding: 'base64' } }),
      attempt({
        ...good,
        scheme: {
          verify: () => {
            throw new Error('canary-thrown');
          },
        },
      }),
      attempt({ ...good, scheme: { prefix: 'canary-prefix' } }),
      attempt({ 'canary, an option': 1 }),
    ];
    for (const error of errors) {
      expect(isOurs(error)).toBe(true);
      expect(textsOf(error)).not.toMatch(/canary|Y2FuYXJ5/);
    }
  });

  it('and the walk would find them: it sees hidden, inherited and symbol fields, and causes', () => {
    class Leaky extends Error {
      get inherited(): string {
        return 'canary-inherited';
      }
    }
    const leaky = new Leaky('x', { cause: { deep: 'canary-cause' } });
    Object.defineProperty(leaky, 'hidden', { value: 'canary-hidden', enumerable: false });
    Object.defineProperty(leaky, Symbol('canary-symbol'), { value: 1, enumerable: false });
    Object.defineProperty(leaky, 'bytes', { value: Buffer.from('canary-bytes'), enumerable: false });
    const inside = textsOf(leaky);
    for (const place of ['inherited', 'cause', 'hidden', 'symbol', 'bytes'])
      expect(inside).toContain(`canary-${place}`);
  });
});
