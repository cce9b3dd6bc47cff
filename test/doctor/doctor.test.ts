import { once } from 'node:events';
import { createServer } from 'node:net';
import { createSandbox, type Diagnosis } from 'merchant-payments/sandbox';
import { handler, verify } from 'merchant-payments/webhooks';
import { afterEach, describe, expect, test } from 'vitest';
import { diagnose } from '../../src/doctor/doctor.js';
import { unreachable } from '../../src/doctor/obstacles.js';
import {
  holds,
  listen,
  type Received,
  type Receiver,
  type Reply,
  type Verifying,
} from '../helpers/receiver.js';

const secret = 'whsec_9f2c4e7a10b35d68c1e4';
const bad: Reply = { status: 400, body: '{"error":"bad signature"}' };
const good: Reply = { status: 200, body: '{"received":true}' };

let receiver: Receiver | undefined;
afterEach(async () => {
  await receiver?.close();
  receiver = undefined;
});

async function examine(
  answer: (delivery: Received) => Reply | Promise<Reply> | 'hang up',
): Promise<Diagnosis> {
  receiver = await listen(answer);
  const diagnosis = await createSandbox({ webhookSecret: secret }).doctor(receiver.url);
  expect(JSON.stringify(diagnosis)).not.toContain(secret);
  return diagnosis;
}

const codes = ({ findings }: Diagnosis) => findings.map(({ code }) => code);
const verifying = (how: Verifying) => (delivery: Received) => (holds(delivery, secret, how) ? good : bad);

/** Reads JSON or answers as a framework does that cannot. */
const parsed = (body: Buffer): unknown => JSON.parse(body.toString());

describe('a secret of several prefixes', () => {
  test.each(['test_9f2c4e7a10b35d68c1e4', '9f2c4e7a10b35d68c1e4'])(
    'is found where %s is used of it',
    async (used) => {
      receiver = await listen((delivery) => (holds(delivery, used, {}) ? good : bad));
      const diagnosis = await createSandbox({ webhookSecret: 'whsec_test_9f2c4e7a10b35d68c1e4' }).doctor(
        receiver.url,
      );
      expect(diagnosis.findings).toMatchObject([
        { code: 'altered_secret', problem: "Your handler's secret is used without its prefix." },
      ]);
    },
  );
});

describe('what verify() says of a mistake in its use', () => {
  const thrown = (use: () => unknown): string => {
    try {
      use();
    } catch (error) {
      return String(error);
    }
    throw new Error('It threw nothing.');
  };
  const own = { rawBody: '{}', headers: {}, secret };
  const given = (options: object) => thrown(() => Reflect.apply(verify, undefined, [{ ...own, ...options }]));
  test.each([
    [
      'positional arguments',
      thrown(() => Reflect.apply(verify, undefined, ['{}', {}, secret])),
      'handler_failed',
    ],
    ['a promise of the body', given({ rawBody: Promise.resolve('{}') }), 'handler_failed'],
    ['headers that are none', given({ headers: 5 }), 'handler_failed'],
    ['a parsed body', given({ rawBody: {} }), 'parsed_object'],
    ['no body', given({ rawBody: undefined }), 'parsed_object'],
    ['a promise of the secret', given({ secret: Promise.resolve(secret) }), 'no_secret'],
  ])('names the cause: %s', async (_mistake, body, code) => {
    const diagnosis = await examine(() => ({ status: 400, body }));
    expect(codes(diagnosis)).toEqual([code]);
    expect(diagnosis.tried).toBe(0);
  });
});

describe('a right receiver', () => {
  test('has no finding, of any make', async () => {
    const diagnosis = await examine(verifying({}));
    expect(diagnosis).toMatchObject({ ok: true, findings: [], warnings: [], tried: 0 });
    expect(diagnosis.summary).toMatch(/^All good/);
    expect(diagnosis.summary).toContain('whether your shop goes on after a rejection cannot be seen');
    expect(diagnosis.notes.join()).toMatch(/\d+ forged ones were rejected: none may be in your shop/);
    const refused = diagnosis.probes.filter(({ expected }) => expected === 'refused');
    expect(refused.map(({ outcome }) => outcome)).toEqual(refused.map(() => 'refused'));
    expect(refused.map(({ name }) => name).sort()).toEqual(
      // The forgeries that a receiver must refuse before it is called good.
      [
        ...[
          'unsigned',
          'forged',
          'empty_secret',
          'tampered',
          'reencoded',
          'redated',
          'stale',
          'future',
          'empty_body',
          'known_order',
        ],
        ...[
          'empty',
          'one_character',
          'first_half',
          'second_half',
          'truncated',
          'padded',
          'extended',
          'preceded',
        ],
        ...['first_digit', 'middle_digit', 'last_digit', 'right_first', 'right_last'],
        ...['unsigned_text', 'unsigned_form', 'unsigned_multipart', 'unsigned_charset'],
        ...['no_timestamp', 'odd_timestamp', 'non_ascii_signature'],
        ...['foreign_half', 'other_prefix', 'no_digits'],
        ...['undefined_secret', 'null_secret', 'none_secret'],
        ...['promise_secret', 'object_secret', 'sandbox_secret'],
      ].sort(),
    );
    const accepted = diagnosis.probes.filter(({ outcome }) => outcome === 'accepted');
    expect(accepted.map(({ name }) => name)).toEqual([
      'compact',
      'spaced',
      'newline',
      'non_ascii',
      'duplicate',
    ]);
  });

  test('gets every forgery as it is named', async () => {
    await examine(verifying({}));
    const signatures = receiver?.received.map(({ headers, headersDistinct = {} }) => ({
      one: headers['x-service-signature'],
      all: headersDistinct['x-service-signature']?.length ?? 0,
    }));
    expect(signatures?.filter(({ one }) => one === undefined)).toHaveLength(5);
    expect(signatures?.filter(({ one }) => one === '')).toHaveLength(1);
    expect(signatures?.filter(({ all }) => all === 2)).toHaveLength(2);
    const lengths = signatures?.filter(({ all }) => all === 1).map(({ one }) => String(one).length);
    expect(new Set(lengths)).toEqual(new Set([64, 0, 1, 32, 63, 66, 70]));
  });

  test('is asked about throw-away orders, one for each delivery but the two that repeat the first', async () => {
    const diagnosis = await examine(verifying({}));
    const data = (receiver?.received ?? []).map(({ body, headers }) => {
      const type = headers['content-type'] ?? '';
      if (type.startsWith('multipart/form-data')) {
        const part = (name: string) =>
          new RegExp(`name="data\\[${name}\\]"\r\n\r\n([^\r]*)`).exec(`${body}`)?.[1];
        return { order_id: part('order_id'), amount: part('amount'), currency: part('currency') };
      }
      if (type !== 'application/x-www-form-urlencoded') return JSON.parse(`${body}`).data;
      const form = new URLSearchParams(`${body}`);
      return { order_id: form.get('data[order_id]'), amount: form.get('data[amount]') };
    });
    const orders: string[] = data.map(({ order_id }) => order_id);
    expect(new Set(orders).size).toBe(orders.length - 2);
    const [run = ''] = /ord_doctor[0-9a-f]+/.exec(orders[0] ?? '') ?? [];
    expect(orders.filter((id) => !id.startsWith(`${run}_`))).toEqual([]);
    expect(diagnosis.notes.join()).toContain(run);
    expect(diagnosis.notes.join()).toContain('98765.43 USD. No shop charges that amount');
    expect(new Set(data.map(({ amount }) => amount))).toEqual(new Set(['98765.43', '998765.43']));
  });

  test('can be the route handler itself', async () => {
    const POST = handler({ secret, on: { 'order.paid': () => undefined }, onError: () => undefined });
    expect((await createSandbox({ webhookSecret: secret }).doctor(POST)).findings).toEqual([]);
  });

  test('may follow another scheme, which the sandbox then signs', async () => {
    receiver = await listen(verifying({ text: (timestamp, body) => [timestamp, body], encoding: 'base64' }));
    const signature = { content: '{timestamp}{body}', encoding: 'base64' } as const;
    const sandbox = createSandbox({
      webhookSecret: secret,
      webhook: receiver.url,
      unspecified: { signature },
    });
    expect((await sandbox.doctor()).findings).toEqual([]);
  });
});

describe('a receiver that takes what is false', () => {
  test('verifies nothing', async () => {
    const diagnosis = await examine(({ body }) => {
      try {
        return parsed(body) ? good : bad;
      } catch {
        return bad;
      }
    });
    expect(codes(diagnosis)).toEqual(['accepts_forged']);
    expect(diagnosis.summary).toMatch(
      /^DANGER: Your handler accepts forged events\. It does not verify signatures.*webhooks\.verify\(/,
    );
  });

  test('responds before it verifies', async () => {
    const diagnosis = await examine((delivery) => {
      if (delivery.path !== '/webhooks') return { status: 404 };
      queueMicrotask(() => holds(delivery, secret));
      return good;
    });
    expect(codes(diagnosis)).toEqual(['answers_before_verifying']);
    expect(diagnosis.summary).toMatch(/^DANGER/);
  });

  test('is a catch-all that responds 200 to every address', async () => {
    receiver = await listen(() => good);
    const everything = await createSandbox({ webhookSecret: secret }).doctor(receiver.url);
    expect(codes(everything)).toEqual(['answers_everything']);
    expect(everything.summary).toMatch(/^DANGER: Forged events are accepted/);
  });

  test('is a login page with 200', async () => {
    const diagnosis = await examine(() => ({
      status: 200,
      headers: { 'content-type': 'text/html; charset=utf-8' },
      body: '<form action="/login"><input type="password"></form>',
    }));
    expect(codes(diagnosis)).toEqual(['login_page']);
  });

  test('verifies only where there is a signature', async () => {
    const diagnosis = await examine((delivery) =>
      delivery.headers['x-service-signature'] === undefined || holds(delivery, secret) ? good : bad,
    );
    expect(codes(diagnosis)).toEqual(['accepts_unsigned']);
  });

  test('looks only whether there is a signature', async () => {
    const diagnosis = await examine(({ headers }) => (headers['x-service-signature'] ? good : bad));
    expect(codes(diagnosis)).toEqual(['accepts_forged']);
  });

  test('has an empty secret', async () => {
    const diagnosis = await examine(verifying({ key: '' }));
    expect(codes(diagnosis)).toEqual(['empty_secret']);
    expect(diagnosis.summary).toMatch(/^DANGER/);
  });

  test('accepts a replay: a finding, and nothing is called well', async () => {
    const diagnosis = await examine(verifying({ toleranceMs: Infinity }));
    expect(diagnosis).toMatchObject({ ok: false, findings: [{ code: 'no_tolerance' }], warnings: [] });
    expect(diagnosis.summary).not.toContain('well');
  });
});

describe('a receiver that verifies other bytes', () => {
  test('parses and re-encodes', async () => {
    const diagnosis = await examine(verifying({ body: (body) => JSON.stringify(parsed(body)) }));
    expect(codes(diagnosis)).toEqual(['re_encodes']);
    expect(diagnosis.findings[0]?.evidence).toContain('JSON with uneven spaces');
  });

  test('sorts the keys as it re-encodes', async () => {
    const sorted = (body: Buffer) => {
      const { type, data } = JSON.parse(body.toString());
      const { amount, currency, order_id } = data;
      return JSON.stringify({ data: { amount, currency, order_id }, type });
    };
    expect(codes(await examine(verifying({ body: sorted })))).toEqual(['re_encodes']);
  });

  test('throws because it was given a parsed object, and its framework is named', async () => {
    const diagnosis = await examine(() => ({
      status: 500,
      headers: { 'x-powered-by': 'Express' },
      body: 'TypeError: The "data" argument must be of type string or an instance of Buffer. Received an instance of Object',
    }));
    expect(codes(diagnosis)).toEqual(['parsed_object']);
    expect(diagnosis.summary).toContain("express.raw({ type: 'application/json' })");
  });

  test('signs [object Object]', async () => {
    const diagnosis = await examine(verifying({ body: (body) => `${parsed(body)}` }));
    expect(codes(diagnosis)).toEqual(['parsed_object']);
  });

  test('reads a body that was read before', async () => {
    expect(codes(await examine(verifying({ body: () => '' })))).toEqual(['body_consumed']);
  });

  test('trims', async () => {
    expect(codes(await examine(verifying({ body: (body) => body.toString().trim() })))).toEqual(['trims']);
  });

  test('decodes as Latin-1', async () => {
    expect(codes(await examine(verifying({ body: (body) => body.toString('latin1') })))).toEqual([
      'wrong_charset',
    ]);
  });

  test('trims and decodes as Latin-1: both are named', async () => {
    const diagnosis = await examine(verifying({ body: (body) => body.toString('latin1').trim() }));
    expect(codes(diagnosis)).toEqual(['trims', 'wrong_charset']);
    expect(diagnosis.summary).toContain('1 more');
  });

  test('is certain if its response says what it verified', async () => {
    const POST = handler({ secret, on: { 'order.paid': () => undefined }, onError: () => undefined });
    const diagnosis = await createSandbox({ webhookSecret: secret }).doctor(async (request) => {
      const body = JSON.stringify(await request.json());
      return POST(new Request(request.url, { method: 'POST', headers: request.headers, body }));
    });
    expect(codes(diagnosis)).toEqual(['re_encodes']);
    expect(diagnosis.findings[0]?.evidence).toMatch(/We sent \d+ bytes, your handler verified \d+\./);
  });
});

describe('a receiver that verifies in another way', () => {
  const day = { toleranceMs: 86_400_000 * 400 };

  test.each<[string, Verifying, string, object?]>([
    [
      'the timestamp left out of the signed text',
      { text: (_, body) => [body] },
      'other_scheme',
      { content: '{body}' },
    ],
    [
      'no dot',
      { text: (timestamp, body) => [timestamp, body] },
      'other_scheme',
      { content: '{timestamp}{body}' },
    ],
    ['base64', { encoding: 'base64' }, 'other_scheme', { encoding: 'base64' }],
    ['a prefix', { prefix: 'sha256=' }, 'other_scheme', { prefix: 'sha256=' }],
    ['milliseconds', { milliseconds: Number }, 'wrong_time_unit', {}],
    ['ISO 8601', { milliseconds: Date.parse }, 'wrong_time_unit', { timestamp: 'iso8601' }],
    ['a secret with a line feed', { key: `${secret}\n` }, 'altered_secret'],
    ['a secret in quotes', { key: `"${secret}"` }, 'altered_secret'],
    ['a secret without its prefix', { key: secret.slice(6) }, 'altered_secret'],
    [
      'a secret decoded from base64',
      { key: Buffer.from(secret.slice(6), 'base64') },
      'other_scheme',
      { secretEncoding: 'base64' },
    ],
    ['another secret', { key: 'whsec_another' }, 'secret_or_scheme'],
    ['another secret and no tolerance', { key: 'whsec_another', ...day }, 'secret_or_scheme'],
  ])('expects %s', async (_what, how, code, expects) => {
    const diagnosis = await examine(verifying(how));
    expect(codes(diagnosis)).toEqual([code]);
    expect(diagnosis.expects).toEqual(expects);
    expect(diagnosis.tried).toBeGreaterThan(code === 'secret_or_scheme' ? 64 : 0);
  });

  test.each([
    ['seconds', {}, 'Unix seconds'],
    [
      'seconds or milliseconds',
      { milliseconds: (text: string) => Number(text) * (text.length > 11 ? 1 : 1000) },
      'Unix seconds',
    ],
    ['milliseconds', { milliseconds: Number }, 'Unix milliseconds'],
  ])('names the unit of the timestamp that it expects: %s', async (_what, how, unit) => {
    const diagnosis = await examine(verifying({ text: (timestamp, body) => [timestamp, body], ...how }));
    expect(codes(diagnosis)).toEqual(['other_scheme']);
    expect(diagnosis.findings[0]?.problem).toContain(`timestamp in ${unit}`);
  });

  test('throws where a signature has another length: what it expects is found all the same', async () => {
    const diagnosis = await examine((delivery) => {
      if (`${delivery.headers['x-service-signature']}`.length !== 44)
        return { status: 500, body: 'RangeError' };
      return holds(delivery, secret, { encoding: 'base64' }) ? good : bad;
    });
    expect(codes(diagnosis)).toEqual(['other_scheme']);
    expect(diagnosis.expects).toEqual({ encoding: 'base64' });
  });

  test('has another secret, as its own response shows: the bytes are the same', async () => {
    const POST = handler({
      secret: 'whsec_another',
      on: { 'order.paid': () => undefined },
      onError: () => undefined,
    });
    const diagnosis = await createSandbox({ webhookSecret: secret }).doctor(POST);
    expect(codes(diagnosis)).toEqual(['secret_or_scheme']);
    expect(diagnosis.summary).toMatch(
      /^Your handler verifies the right bytes with a different secret or signature scheme\./,
    );
    // Its response says that its clock is right, so no delivery asks about the clock.
    expect(diagnosis.probes.length + diagnosis.tried).toBeLessThanOrEqual(278);
  });

  test.each([['no secret', { secret: () => undefined }, 'no_secret']])(
    'has %s, as its own response shows',
    async (_what, options, code) => {
      const POST = handler({ ...options, on: { 'order.paid': () => undefined }, onError: () => undefined });
      expect(codes(await createSandbox({ webhookSecret: secret }).doctor(POST))).toEqual([code]);
    },
  );

  test.each([
    ['timestamp_too_old', 'wrong_clock'],
    ['timestamp_in_future', 'wrong_clock'],
    ['missing_signature', 'header_lost'],
  ])('answers %s', async (error, code) => {
    expect(codes(await examine(() => ({ status: 400, body: JSON.stringify({ error }) })))).toEqual([code]);
  });
});

describe('a receiver that is late', () => {
  const late = (delivery: Received) => (holds(delivery, secret) ? 'late' : bad);

  /** Examines a handler that never responds to what `late` names, with a short time limit. */
  async function examineLate(answer: (delivery: Received) => Reply | 'late') {
    const target = async (request: Request) => {
      const headers = Object.fromEntries(request.headers);
      const reply = answer({ headers, body: Buffer.from(await request.arrayBuffer()), path: '/webhooks' });
      return reply === 'late' ? new Promise<never>(() => undefined) : new Response(reply.body, reply);
    };
    return diagnose({ target, secret, timeoutMs: 200 });
  }

  test('is slow, not broken, if it refuses forged deliveries at once', async () => {
    const diagnosis = await examineLate(late);
    expect(codes(diagnosis)).toEqual(['slow']);
    expect(diagnosis.summary).toMatch(
      /^Your handler verifies the delivery, and then does not respond in time/,
    );
    expect(diagnosis.probes.filter(({ outcome }) => outcome === 'no response').length).toBe(1);
  });

  test('is slow where only some valid deliveries are late', async () => {
    const diagnosis = await examineLate((delivery) =>
      !holds(delivery, secret) ? bad : delivery.body.includes('Café') ? 'late' : good,
    );
    expect(codes(diagnosis)).toEqual(['slow']);
  });

  test('does not respond in time where it responds to nothing', async () => {
    expect(codes(await examineLate(() => 'late'))).toEqual(['time_out']);
  });
});

describe('a receiver in another language', () => {
  test.each<[string, Reply, RegExp]>([
    [
      'Python',
      { status: 200, headers: { server: 'BaseHTTP/0.6 Python/3.11.2' } },
      /in Python, hmac\.compare_digest\(/,
    ],
    [
      'PHP',
      { status: 200, headers: { 'x-powered-by': 'PHP/8.2.7' } },
      /compare the whole signature with the HMAC of the raw body, in constant time/,
    ],
    [
      'Ruby',
      { status: 200, headers: { server: 'WEBrick/1.8.1 (Ruby/3.1.2)' } },
      /compare the whole signature with the HMAC of the raw body, in constant time/,
    ],
    [
      'Go',
      {
        status: 200,
        headers: { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' },
        body: 'ok\n',
      },
      /compare the whole signature with the HMAC of the raw body, in constant time/,
    ],
  ])('is told the fix in %s', async (_language, accepted, fix) => {
    const diagnosis = await examine(({ body, path }) => {
      if (path !== '/webhooks') return { status: 404 };
      try {
        return parsed(body) ? accepted : bad;
      } catch {
        return bad;
      }
    });
    expect(codes(diagnosis)).toEqual(['accepts_forged']);
    expect(diagnosis.summary).toMatch(fix);
  });

  test('that parses and encodes again as Python does is found out', async () => {
    // As json.dumps(json.loads(body)) writes it.
    const python = (body: Buffer) => {
      const { type, data } = JSON.parse(body.toString());
      const { order_id, amount, currency } = data;
      return `{"type": "${type}", "data": {"order_id": "${order_id}", "amount": "${amount}", "currency": "${currency}"}}`;
    };
    expect(codes(await examine(verifying({ body: python })))).toEqual(['re_encodes']);
  });
});

describe('a receiver that fails after verifying', () => {
  test('crashes on every valid delivery', async () => {
    const diagnosis = await examine((delivery) => (holds(delivery, secret) ? 'hang up' : bad));
    expect(codes(diagnosis)).toEqual(['handler_failed']);
    expect(diagnosis.findings[0]?.evidence).toMatch(
      /^"valid, compact JSON" got .+\. "signed with a different secret" got 400 /,
    );
  });

  test('does not know the order', async () => {
    const diagnosis = await examine((delivery) => (holds(delivery, secret) ? { status: 404 } : bad));
    expect(codes(diagnosis)).toEqual(['handler_failed']);
    expect(diagnosis.summary).toContain('verifies the signature, and then rejects the event');
  });

  test('throws on every delivery, and nothing shows why', async () => {
    expect(codes(await examine(() => ({ status: 500, body: 'Internal Server Error' })))).toEqual([
      'handler_failed',
    ]);
  });

  test('refuses a duplicate', async () => {
    const seen = new Set<string>();
    const diagnosis = await examine((delivery) => {
      if (!holds(delivery, secret)) return bad;
      const { order_id } = JSON.parse(delivery.body.toString()).data;
      if (seen.has(order_id)) return { status: 409 };
      seen.add(order_id);
      return good;
    });
    expect(codes(diagnosis)).toEqual(['refuses_duplicates']);
  });

  test('refuses a duplicate and re-encodes: both are named', async () => {
    const seen = new Set<string>();
    const diagnosis = await examine((delivery) => {
      if (!holds(delivery, secret, { body: (body) => JSON.stringify(parsed(body)) })) return bad;
      const { order_id } = JSON.parse(delivery.body.toString()).data;
      if (seen.has(order_id)) return { status: 409 };
      seen.add(order_id);
      return good;
    });
    expect(codes(diagnosis)).toEqual(['re_encodes', 'refuses_duplicates']);
  });

  test('refuses fields that it does not know', async () => {
    const diagnosis = await examine((delivery) => {
      if (!holds(delivery, secret)) return bad;
      const extra = Object.keys(JSON.parse(delivery.body.toString()).data).length > 3;
      return extra ? { status: 422 } : good;
    });
    expect(codes(diagnosis)).toEqual(['refuses_new_fields']);
  });
});

describe('a receiver that is not reached', () => {
  const to = (location: string) => ({ status: 308, headers: { location } });

  test.each<[string, Reply | ((delivery: Received) => Reply), string]>([
    ['404', { status: 404 }, 'not_found'],
    ['405', { status: 405 }, 'wrong_method'],
    ['413', { status: 413 }, 'too_large'],
    ['415', { status: 415 }, 'content_type'],
    ['429', { status: 429 }, 'rate_limited'],
    ['419', { status: 419 }, 'csrf'],
    [
      '403 of a CSRF check',
      { status: 403, body: '<h1>Forbidden</h1><p>CSRF verification failed.</p>' },
      'csrf',
    ],
    ['401 everywhere', { status: 401, body: 'Not authenticated' }, 'access_check'],
    ['502', { status: 502 }, 'gateway'],
    ['503', { status: 503 }, 'gateway'],
    ['504', { status: 504 }, 'gateway'],
    ['a redirect to a trailing slash', ({ path }) => to(`${path}/`), 'redirect_slash'],
    ['a redirect to https', ({ headers }) => to(`https://${headers.host}/webhooks`), 'redirect_https'],
    ['a redirect to the login', () => to('/login?next=/webhooks'), 'redirect_login'],
    ['a redirect elsewhere', () => to('/api/webhooks'), 'redirect'],
    ['a redirect to nowhere', { status: 302 }, 'redirect'],
  ])('answers %s', async (_what, reply, code) => {
    const diagnosis = await examine((delivery) => (typeof reply === 'function' ? reply(delivery) : reply));
    expect(codes(diagnosis)).toEqual([code]);
    expect(diagnosis.summary).toContain(`${diagnosis.findings[0]?.problem} ${diagnosis.findings[0]?.fix}`);
  });

  test('does not speak HTTP', async () => {
    const server = createServer((socket) => socket.on('error', () => {}).end('SSH-2.0-OpenSSH_9.2\r\n'));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : undefined;
    const diagnosis = await createSandbox({ webhookSecret: secret }).doctor(`http://127.0.0.1:${port}/`);
    expect(diagnosis.findings).toMatchObject([
      { problem: 'The server sent something that is not HTTP.', fix: 'Check the port.' },
    ]);
    server.close();
  });

  test('closes the connection', async () => {
    expect(codes(await examine(() => 'hang up'))).toEqual(['connection_lost']);
  });

  test('does not listen', async () => {
    const gone = await listen(() => good);
    await gone.close();
    const diagnosis = await createSandbox({ webhookSecret: secret }).doctor(gone.url);
    expect(codes(diagnosis)).toEqual(['not_listening']);
    expect(diagnosis.summary).toContain(new URL(gone.url).host);
  });

  test.each([
    [{ code: 'timeout', error: 'No response within 10 s.' }, 'time_out', /Store the event, respond 200/],
    [{ code: 'ENOTFOUND', error: 'getaddrinfo ENOTFOUND shop' }, 'host_unknown', /does not resolve/],
    [{ code: 'DEPTH_ZERO_SELF_SIGNED_CERT', error: 'self-signed certificate' }, 'tls', /TLS/],
  ])('gives no answer: %j', (sent, code, words) => {
    const finding = unreachable(sent, 'https://shop.example/webhooks', undefined);
    expect(finding).toMatchObject({ code, evidence: sent.error });
    expect(`${finding?.problem} ${finding?.fix}`).toMatch(words);
  });

  test('speaks no TLS', async () => {
    receiver = await listen(() => good);
    const url = receiver.url.replace('http:', 'https:');
    expect(codes(await createSandbox({ webhookSecret: secret }).doctor(url))).toEqual(['tls']);
  });
});

describe('the doctor', () => {
  test('stays on this machine and its private network', async () => {
    const sandbox = createSandbox({ webhookSecret: secret });
    await expect(sandbox.doctor('http://203.0.113.7/webhooks')).rejects.toThrow(/neither on this machine/);
    await expect(sandbox.doctor('http://169.254.169.254/latest')).rejects.toThrow(/link-local/);
  });

  test('asks for a receiver where none is set', async () => {
    await expect(createSandbox().doctor()).rejects.toMatchObject({ code: 'no_webhook' });
    await expect(createSandbox().doctor('ftp://127.0.0.1/')).rejects.toMatchObject({
      code: 'invalid_options',
    });
  });

  test.each([{ amount: '1,50' }, { amount: '0.00' }, { amount: '' }, { currency: 'usd' }])(
    'sends nothing about an order of %j',
    async (options) => {
      receiver = await listen(verifying({}));
      const asked = createSandbox({ webhookSecret: secret }).doctor(receiver.url, options);
      await expect(asked).rejects.toMatchObject({ code: 'invalid_options' });
      expect(receiver.received).toEqual([]);
    },
  );

  test('reports each step before it takes it', async () => {
    const steps: string[] = [];
    receiver = await listen(verifying({}));
    const { probes } = await createSandbox({ webhookSecret: secret }).doctor(receiver.url, {
      onStep: (step) => steps.push(step),
    });
    expect(steps.sort()).toEqual(probes.map(({ says }) => says).sort());
  });

  test('leaves no trace in the sandbox', async () => {
    receiver = await listen(verifying({}));
    const sandbox = createSandbox({ webhookSecret: secret, webhook: receiver.url });
    await sandbox.doctor();
    expect(sandbox).toMatchObject({ orders: [], events: [], checkouts: [], products: [] });
  });

  test('is a control route', async () => {
    receiver = await listen(verifying({}));
    const sandbox = createSandbox({ webhookSecret: secret });
    const response = await sandbox.fetch('/_sandbox/doctor', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ target: receiver.url, amount: '5.00', currency: 'EUR' }),
    });
    expect(receiver.received[0]?.body.toString()).toContain('"amount":"5.00","currency":"EUR"');
    expect(await response.json()).toMatchObject({ ok: true, target: receiver.url });
  });
});
