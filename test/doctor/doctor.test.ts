import { once } from 'node:events';
import { createServer } from 'node:net';
import { createSandbox, type Diagnosis } from 'merchant-payments/sandbox';
import { handler, verify } from 'merchant-payments/webhooks';
import { afterEach, describe, expect, test } from 'vitest';
import { diagnose } from '../../src/doctor/doctor.js';
import { findUnreachable } from '../../src/doctor/obstacles.js';
import {
  holds,
  listen,
  type ReceivedDelivery,
  type Receiver,
  type Reply,
  type VerificationParts,
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
  answer: (delivery: ReceivedDelivery) => Reply | Promise<Reply> | 'hang up',
): Promise<Diagnosis> {
  receiver = await listen(answer);
  const diagnosis = await createSandbox({ webhookSecret: secret }).doctor(receiver.url);
  expect(JSON.stringify(diagnosis)).not.toContain(secret);
  return diagnosis;
}

const codes = ({ findings }: Diagnosis) => findings.map(({ code }) => code);
const makeReceiver = (how: VerificationParts) => (delivery: ReceivedDelivery) =>
  holds(delivery, secret, how) ? good : bad;

describe('a secret of several prefixes', () => {
  test.each(['test_9f2c4e7a10b35d68c1e4', '9f2c4e7a10b35d68c1e4'])(
    'is found if %s is used of it',
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
  const messageOf = (use: () => unknown): string => {
    try {
      use();
    } catch (error) {
      return String(error);
    }
    throw new Error('It threw nothing.');
  };
  const own = { rawBody: '{}', headers: {}, secret };
  const messageFor = (options: object) =>
    messageOf(() => Reflect.apply(verify, undefined, [{ ...own, ...options }]));
  test.each([
    [
      'positional arguments',
      messageOf(() => Reflect.apply(verify, undefined, ['{}', {}, secret])),
      'handler_failed',
    ],
    ['a promise of the body', messageFor({ rawBody: Promise.resolve('{}') }), 'handler_failed'],
    ['headers that are none', messageFor({ headers: 5 }), 'handler_failed'],
    ['a parsed body', messageFor({ rawBody: {} }), 'parsed_object'],
    ['no body', messageFor({ rawBody: undefined }), 'parsed_object'],
    ['a promise of the secret', messageFor({ secret: Promise.resolve(secret) }), 'no_secret'],
  ])('names the cause: %s', async (_mistake, body, code) => {
    const diagnosis = await examine(() => ({ status: 400, body }));
    expect(codes(diagnosis)).toEqual([code]);
    expect(diagnosis.tried).toBe(0);
  });
});

describe('a right receiver', () => {
  test('has no finding, of any make', async () => {
    const diagnosis = await examine(makeReceiver({}));
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
    await examine(makeReceiver({}));
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
    const diagnosis = await examine(makeReceiver({}));
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
});

test('the clocks are not searched of a receiver that says that only the signature differs', async () => {
  const options = {
    secret: 'whsec_another',
    on: { 'order.paid': () => undefined },
    onError: () => undefined,
  };
  const POST = handler(options);
  const respondWithoutReason = async (request: Request) =>
    new Response('no', { status: (await POST(request)).status });
  const [said, unsaid] = [
    await diagnose({ target: POST, secret }),
    await diagnose({ target: respondWithoutReason, secret }),
  ];
  expect([codes(said), codes(unsaid)]).toEqual([['secret_or_scheme'], ['secret_or_scheme']]);
  expect(said.summary).toMatch(
    /^Your handler verifies the right bytes, but its secret is probably not the one that signs these deliveries\./,
  );
  expect(said.tried).toBeGreaterThan(64);
  expect(said.probes.length + said.tried).toBeLessThanOrEqual(278);
  expect(unsaid.tried).toBeGreaterThan(said.tried + 40);
});

test('of a receiver with another secret that accepts unsigned deliveries, the report says that the valid ones were rejected', async () => {
  const own = handler({
    secret: 'whsec_another',
    on: { 'order.paid': () => undefined },
    onError: () => undefined,
  });
  const target = (request: Request) =>
    request.headers.has('x-service-signature') ? own(request) : new Response('ok');
  const { findings, notes } = await diagnose({ target, secret });
  expect(findings.map(({ code }) => code)).toEqual(['accepts_unsigned']);
  expect(notes[0]).toMatch(/^It rejected every valid delivery, too: its secret is probably not the one/);
});

test('no other valid body is sent after a time-out', async () => {
  const target = async (request: Request) => {
    const headers = Object.fromEntries(request.headers);
    const body = Buffer.from(await request.arrayBuffer());
    return holds({ headers, body, path: '' }, secret)
      ? new Promise<never>(() => undefined)
      : new Response('bad', { status: 400 });
  };
  const { probes } = await diagnose({ target, secret, timeoutMs: 200 });
  expect(probes.filter(({ outcome }) => outcome === 'no response').map(({ name }) => name)).toEqual([
    'compact',
  ]);
});

describe('a receiver that is not reached', () => {
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

  test.each([
    [{ code: 'ENOTFOUND', error: 'getaddrinfo ENOTFOUND shop' }, 'host_unknown', /does not resolve/],
    [{ code: 'DEPTH_ZERO_SELF_SIGNED_CERT', error: 'self-signed certificate' }, 'tls', /TLS/],
  ])('is explained by the error of the connection: %j', (sent, code, words) => {
    const finding = findUnreachable(sent, 'https://shop.example/webhooks', undefined);
    expect(finding).toMatchObject({ code, evidence: sent.error });
    expect(`${finding?.problem} ${finding?.fix}`).toMatch(words);
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
      receiver = await listen(makeReceiver({}));
      const asked = createSandbox({ webhookSecret: secret }).doctor(receiver.url, options);
      await expect(asked).rejects.toMatchObject({ code: 'invalid_options' });
      expect(receiver.received).toEqual([]);
    },
  );

  test('reports each step before it takes it', async () => {
    const steps: string[] = [];
    receiver = await listen(makeReceiver({}));
    const { probes } = await createSandbox({ webhookSecret: secret }).doctor(receiver.url, {
      onStep: (step) => steps.push(step),
    });
    expect(steps.sort()).toEqual(probes.map(({ says }) => says).sort());
  });

  test('leaves no trace in the sandbox', async () => {
    receiver = await listen(makeReceiver({}));
    const sandbox = createSandbox({ webhookSecret: secret, webhook: receiver.url });
    await sandbox.doctor();
    expect(sandbox).toMatchObject({ orders: [], events: [], checkouts: [], products: [] });
  });

  test('is a control route', async () => {
    receiver = await listen(makeReceiver({}));
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
