import { createServer } from 'node:http';
import { createServer as createTcpServer } from 'node:net';
import { createSandbox, type SandboxOptions } from 'merchant-payments/sandbox';
import * as webhooks from 'merchant-payments/webhooks';
import { describe, expect, test } from 'vitest';
import { watch } from '../../src/cli/sandbox.js';
import { createContext } from '../../src/sandbox/create.js';
import { guardedLookup } from '../../src/sending/address.js';
import { isInstalled, runProcessSync } from '../helpers/processes.js';

const start = new Date('2026-01-01T00:00:00Z');

/** A receiver that answers what it is told to, and keeps what it got. */
function receiver(...statuses: number[]) {
  const got: { body: string; headers: Headers }[] = [];
  const handler = async (request: Request) => {
    got.push({ body: await request.text(), headers: request.headers });
    return new Response(null, { status: statuses.shift() ?? 200 });
  };
  return { got, handler };
}

function open(options: SandboxOptions = {}) {
  return createSandbox({ now: start, ...options });
}

/** Encodes a JSON text again in another language, one form per line; returns none if the language is not installed. */
const reencodeWith = (program: string, args: string[]) => (body: string) =>
  isInstalled(program)
    ? runProcessSync(program, args, { input: body }).stdout.split('\n').filter(Boolean)
    : [];

test.each([
  ['base64', undefined],
  ['hex', undefined],
  ['base64', 'whsec_bWVyY2hhbnQ='],
  ['hex', '6d65726368616e74'],
] as const)(
  'signs with a secret that is decoded from %s first: %s',
  async (secretEncoding, webhookSecret) => {
    const scheme = { secretEncoding };
    const sandbox = open({ webhookSecret, unspecified: { signature: scheme } });
    sandbox.setWebhook(
      webhooks.handler({ secret: sandbox.webhookSecret, scheme, on: { 'order.paid': () => {} } }),
    );
    expect((await sandbox.trigger('order.paid')).delivery).toMatchObject({ ok: true });
    sandbox.failNext({ webhook: true, tamper: 'secret' });
    expect((await sandbox.trigger('order.paid')).delivery).toMatchObject({ status: 400 });
    expect((await sandbox.doctor()).findings).toEqual([]);
  },
);

describe('delivery', () => {
  test('a paid checkout is delivered once, signed, before completeCheckout returns', async () => {
    const { got, handler } = receiver();
    const sandbox = open({ webhook: handler });
    const { order, event, delivery } = await sandbox.trigger('order.paid', { amount: '19.9' });
    expect(delivery).toMatchObject({ ok: true, status: 200, number: 1, target: '(handler)' });
    expect(event.state).toBe('delivered');
    expect(got).toHaveLength(1);
    const [{ body, headers } = { body: '', headers: new Headers() }] = got;
    expect(webhooks.verify({ rawBody: body, headers, secret: sandbox.webhookSecret })).toEqual({
      type: 'order.paid',
      data: { order_id: order.id, amount: '19.90', currency: 'USD' },
    });
    expect([...headers.keys()].sort()).toEqual([
      'content-type',
      'user-agent',
      'x-service-signature',
      'x-service-timestamp',
    ]);
  });

  test('no encoder writes the body again as it was, so that re-encoding it breaks the signature here and not in production', async () => {
    const { event, order } = await open({ seed: 1 }).trigger('order.paid');
    expect(event.body).toBe(
      `{"type":"order.paid","data": {"order_id":"${order.id}","amount": "19.90", "currency":"USD"}}`,
    );
    const written = [
      JSON.stringify(JSON.parse(event.body)),
      ...reencodeWith('python3', [
        '-c',
        `import json, sys; body = json.loads(sys.stdin.read())
for options in [{}, {"separators": (",", ":")}, {"separators": (",", ": ")}, {"separators": (", ", ":")}, {"sort_keys": True}]:
  print(json.dumps(body, **options))`,
      ])(event.body),
      ...reencodeWith('php', [
        '-r',
        '$body = json_decode(stream_get_contents(STDIN)); foreach ([0, JSON_UNESCAPED_SLASHES] as $flags) echo json_encode($body, $flags), "\n";',
      ])(event.body),
      // Go's encoding/json and Ruby's JSON.generate write the compact form; their other form has line feeds.
      JSON.stringify(JSON.parse(event.body), null, 2),
    ];
    expect(written).not.toContain(event.body);
    expect(written.length).toBeGreaterThanOrEqual(7);
    const compact = await open({ encoding: 'compact' }).trigger('order.paid');
    expect(compact.event.body).toBe(JSON.stringify(JSON.parse(compact.event.body)));
  });

  test('a refused event is sent again after 5 s, 30 s, 2 min and 10 min, the same bytes each time, then fails', async () => {
    const { got, handler } = receiver(500, 500, 500, 500, 500);
    const sandbox = open({ webhook: handler, signatureTime: 'virtual' });
    await sandbox.trigger('order.paid');
    const seen: [number, number, string | undefined][] = [];
    for (const wait of ['4999ms', '1ms', '30s', '2m', '10m', '1d'] as const) {
      await sandbox.advanceTime(wait);
      seen.push([sandbox.now().getTime() - start.getTime(), got.length, sandbox.events[0]?.state]);
    }
    expect(seen).toEqual([
      [4_999, 1, 'retrying'],
      [5_000, 2, 'retrying'],
      [35_000, 3, 'retrying'],
      [155_000, 4, 'retrying'],
      [755_000, 5, 'failed'],
      [87_155_000, 5, 'failed'],
    ]);
    expect(new Set(got.map(({ body }) => body)).size).toBe(1);
    const stamps = got.map(({ headers }) => Number(headers.get('x-service-timestamp')));
    expect(stamps.map((stamp) => stamp - start.getTime() / 1000)).toEqual([0, 5, 35, 155, 755]);
  });

  test.each([
    ['order_id', ['data', 'order_id']],
    ['data.checkout_id', ['data', 'checkout_id']],
    ['data.checkoutId', ['data', 'checkoutId']],
    ['data.session_id', ['data', 'session_id']],
    ['data.checkout.id', ['data', 'checkout', 'id']],
    ['data.metadata.checkout_id', ['data', 'metadata', 'checkout_id']],
    ['checkout_id', ['checkout_id']],
    ['data.object.id', ['data', 'object', 'id']],
    ['data.items[0].checkout_id', ['data', 'items', '0', 'checkout_id']],
    ['data.reference', ['data', 'reference'], 'checkout:'],
  ] as const)(
    'with eventLink %s the event names its checkout there',
    async (eventLink, path, prefix: string = '') => {
      const { event, order } = await open({ unspecified: { eventLink } }).trigger('order.paid');
      const found = path.reduce((value, name) => value[name], JSON.parse(event.body));
      expect(found).toBe(prefix + order.checkoutId);
      expect(JSON.parse(event.body)).toMatchObject({
        type: 'order.paid',
        data: { order_id: order.id, amount: '19.90', currency: 'USD' },
      });
    },
  );

  test('a redelivery goes to the current receiver, whatever became of the event', async () => {
    const [first, second] = [receiver(500), receiver()];
    const sandbox = open({ webhook: first.handler, unspecified: { retries: [] } });
    const { event } = await sandbox.trigger('order.paid');
    expect(event.state).toBe('failed');
    sandbox.setWebhook(second.handler);
    expect(await sandbox.redeliver(event.id)).toMatchObject({ ok: true, number: 2 });
    expect(await sandbox.redeliver(event.id)).toMatchObject({ ok: true, number: 3 });
    expect(sandbox.events[0]?.state).toBe('delivered');
    expect([first.got.length, second.got.length]).toEqual([1, 2]);
    await expect(sandbox.redeliver('evt_unknown')).rejects.toThrow('There is no event "evt_unknown"');
  });

  test('manual delivery lets the customer come back before the webhook', async () => {
    const { got, handler } = receiver();
    const sandbox = open({ webhook: handler, webhooks: 'manual' });
    const { delivery, event } = await sandbox.trigger('order.paid');
    expect([delivery, event.state, got.length]).toEqual([undefined, 'held', 0]);
    await sandbox.advanceTime('1d');
    expect(got).toHaveLength(0);
    expect(await sandbox.deliver()).toMatchObject([{ ok: true }]);
    expect(await sandbox.deliver()).toEqual([]);
    expect(got).toHaveLength(1);
  });

  test('a delay is on the clock of the sandbox', async () => {
    const { got, handler } = receiver();
    const sandbox = open({ webhook: handler, webhooks: { delay: '10s' } });
    await sandbox.trigger('order.paid');
    await sandbox.advanceTime('9s');
    expect(got).toHaveLength(0);
    await sandbox.advanceTime('1s');
    expect(got).toHaveLength(1);
  });

  test('without a webhook events are kept, and delivered once there is one', async () => {
    const sandbox = open();
    const { event } = await sandbox.trigger('order.paid');
    expect(event.state).toBe('no_url');
    await expect(sandbox.deliver()).rejects.toThrow(
      'No webhook is set, so nothing can be delivered. Start the sandbox with --webhook-url',
    );
    sandbox.setWebhook(receiver().handler);
    expect(await sandbox.deliver()).toHaveLength(1);
  });

  test('waitForEvent returns what has come and what comes, and says so when nothing does', async () => {
    const sandbox = open({ webhook: receiver().handler });
    const coming = sandbox.waitForEvent(({ state }) => state === 'delivered');
    const { order } = await sandbox.trigger('order.paid');
    expect((await coming).data.order_id).toBe(order.id);
    expect((await sandbox.waitForEvent()).data.order_id).toBe(order.id);
    await expect(sandbox.waitForEvent(() => false, { timeoutMs: 5 })).rejects.toThrow(
      'no event matched within 5 ms',
    );
  });
});

describe('what a receiver has to refuse', () => {
  test.each([
    ['body', 'signature_mismatch'],
    ['signature', 'signature_mismatch'],
    ['timestamp', 'signature_mismatch'],
    ['secret', 'signature_mismatch'],
    ['missing', 'missing_signature'],
    ['stale', 'timestamp_too_old'],
    ['future', 'timestamp_in_future'],
  ] as const)('signedRequest with tamper %s is refused as %s', async (tamper, code) => {
    const sandbox = open();
    const { event } = await sandbox.trigger('order.paid');
    const verify = async (request: Request) =>
      webhooks.verify({
        rawBody: await request.arrayBuffer(),
        headers: request.headers,
        secret: sandbox.webhookSecret,
      });
    expect(await verify(await sandbox.signedRequest(event))).toMatchObject({ type: 'order.paid' });
    await expect(verify(await sandbox.signedRequest(event, { tamper }))).rejects.toMatchObject({ code });
  });

  test('another signature scheme is the one that deliveries are signed with', async () => {
    const scheme = { algorithm: 'sha512', encoding: 'base64', prefix: 'v1=', content: '{body}' } as const;
    const sandbox = open({ unspecified: { signature: scheme } });
    const { event } = await sandbox.trigger('order.paid');
    const request = await sandbox.signedRequest(event);
    const { headers } = request;
    const rawBody = await request.arrayBuffer();
    expect(webhooks.verify({ rawBody, headers, secret: sandbox.webhookSecret, scheme }).type).toBe(
      'order.paid',
    );
    expect(() => webhooks.verify({ rawBody, headers, secret: sandbox.webhookSecret })).toThrow();
  });
});

describe('webhook faults', () => {
  test('a duplicate arrives twice, with the same body', async () => {
    const { got, handler } = receiver();
    const sandbox = open({ webhook: handler });
    sandbox.failNext({ webhook: true, duplicate: 1 });
    await sandbox.trigger('order.paid');
    await sandbox.deliver();
    expect(got).toHaveLength(2);
    expect(got[0]?.body).toBe(got[1]?.body);
    await sandbox.trigger('order.paid');
    expect(got).toHaveLength(3);
  });

  test('a held event arrives after a newer one', async () => {
    const { got, handler } = receiver();
    const sandbox = open({ webhook: handler });
    sandbox.failNext({ webhook: true, hold: true });
    const first = await sandbox.trigger('order.paid');
    const second = await sandbox.trigger('order.paid');
    await sandbox.deliver();
    expect(got.map(({ body }) => JSON.parse(body).data.order_id)).toEqual([second.order.id, first.order.id]);
  });

  test('a dropped delivery comes with the first retry', async () => {
    const { got, handler } = receiver();
    const sandbox = open({ webhook: handler });
    sandbox.failNext({ webhook: true, drop: true });
    const { delivery } = await sandbox.trigger('order.paid');
    expect(delivery).toMatchObject({ ok: false, error: 'A fault was injected: the delivery was lost.' });
    expect(got).toHaveLength(0);
    await sandbox.advanceTime('5s');
    expect(got).toHaveLength(1);
  });

  test('a tampered delivery is sent tampered', async () => {
    const { got, handler } = receiver(400);
    const sandbox = open({ webhook: handler });
    sandbox.failNext({ webhook: true, tamper: 'body' });
    await sandbox.trigger('order.paid');
    expect(JSON.parse(got[0]?.body ?? '').data.amount).toBe('919.90');
  });

  test('a handler that throws or returns nothing is a failed attempt', async () => {
    const sandbox = open({
      webhook: () => {
        throw new Error('no database');
      },
    });
    expect((await sandbox.trigger('order.paid')).delivery).toMatchObject({ ok: false, error: 'no database' });
    sandbox.setWebhook(() => JSON.parse('{}'));
    expect((await sandbox.trigger('order.paid')).delivery).toMatchObject({ ok: false });
  });
});

describe('delivery over HTTP', () => {
  async function listenOnLocalhost(
    server: ReturnType<typeof createServer> | ReturnType<typeof createTcpServer>,
  ) {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('no port');
    return {
      url: `http://127.0.0.1:${address.port}/hook`,
      close: () => new Promise((done) => server.close(done)),
    };
  }

  test('a redirect is not followed, and is named', async () => {
    let requests = 0;
    const server = createServer((_, response) => {
      requests++;
      response.writeHead(308, { location: '/hook/' }).end();
    });
    const { url, close } = await listenOnLocalhost(server);
    const { delivery } = await open({ webhook: url }).trigger('order.paid');
    expect(delivery).toMatchObject({ ok: false, status: 308 });
    expect(delivery?.hint).toContain('redirects to /hook/');
    expect(requests).toBe(1);
    await close();
  });

  test('of an endless response 64 kB are read and 4 kB kept', async () => {
    const server = createServer((_, response) => {
      const writeMore = () => {
        while (response.write('x'.repeat(16_384)));
      };
      response.on('drain', writeMore);
      response.on('error', () => {});
      writeMore();
    });
    const { url, close } = await listenOnLocalhost(server);
    const { delivery } = await open({ webhook: url }).trigger('order.paid');
    expect(delivery).toMatchObject({ ok: true, status: 200 });
    expect(delivery?.responseBody).toHaveLength(4096);
    server.closeAllConnections();
    await close();
  });

  test('a closed port is a failed attempt with a hint', async () => {
    const { url, close } = await listenOnLocalhost(createServer());
    await close();
    const { delivery } = await open({ webhook: url }).trigger('order.paid');
    expect(delivery?.error).toContain('ECONNREFUSED');
    expect(delivery?.hint).toContain('Nothing is listening');
  });

  test.each([
    ['http://169.254.169.254/latest', 'link-local', true],
    ['http://[fe80::1]/', 'link-local', true],
    ['http://[::ffff:169.254.169.254]/', 'link-local', true],
    ['http://2852039166/', '169.254.169.254 is a link-local', true],
    ['http://0.0.0.0:1/', 'reserved', true],
    ['http://93.184.215.14/', 'neither on this machine nor in a private network', false],
    ['http://[2606:2800:21f::1]/', 'neither on this machine nor in a private network', false],
  ])('%s is refused as soon as it is given, in every way', async (url, why, allowRemoteWebhooks) => {
    expect(() => open({ webhook: url, allowRemoteWebhooks })).toThrow(why);
    const sandbox = open({ allowRemoteWebhooks });
    expect(() => sandbox.setWebhook(url)).toThrow(why);
    const given = await sandbox.fetch('/_sandbox/webhook', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ url }),
    });
    const { error } = await given.json();
    expect([given.status, error.message]).toEqual([400, expect.stringContaining(why)]);
    expect(error.message).toMatch(/^The body is invalid: url \S+ is /);
    expect((await sandbox.trigger('order.paid')).event.state).toBe('no_url');
    await expect(sandbox.doctor(url)).rejects.toThrow(why);
  });

  test.each([
    ['169.254.169.254', true, 'link-local'],
    ['93.184.215.14', false, 'neither on this machine'],
    ['93.184.215.14', true, undefined],
    ['127.0.0.1', false, undefined],
  ])(
    'a name is judged by the address that it leads to: %s, remote allowed %j',
    (address, allowRemote, why) => {
      const lookup = guardedLookup(allowRemote);
      return new Promise<void>((resolve) => {
        lookup(address, {}, (error, found) => {
          expect(error?.message ?? found).toContain(why ?? address);
          expect(error === null).toBe(why === undefined);
          resolve();
        });
      });
    },
  );

  test.each(['reset', 'close'] as const)(
    '%s() sends nothing more, nor what waits for its turn',
    async (end) => {
      let calls = 0;
      const webhook = () => {
        calls++;
        return new Promise<Response>(() => {});
      };
      const sandbox = open({ webhook });
      sandbox.failNext({ webhook: true, duplicate: 3 });
      const paid = Array.from({ length: 20 }, () => sandbox.trigger('order.paid'));
      await expect.poll(() => calls).toBe(16);
      await sandbox[end]();
      await Promise.all(paid);
      expect(calls).toBe(16);
    },
  );

  test('reset() ends duplicates and redeliveries, and tells nobody of their events', async () => {
    const sandbox = open({ webhook: () => new Response() });
    let calls = 0;
    sandbox.setWebhook(() => {
      if (++calls === 2) sandbox.reset();
      return new Response();
    });
    sandbox.failNext({ webhook: true, duplicate: 5 });
    await sandbox.trigger('order.paid');
    expect(calls).toBe(2);

    const { event } = await sandbox.trigger('order.paid');
    const { promise: arrived, resolve } = makeDeferred();
    sandbox.setWebhook(() => {
      resolve();
      return new Promise<Response>(() => {});
    });
    const again = sandbox.redeliver(event.id);
    await arrived;
    sandbox.reset();
    const seen = sandbox.waitForEvent(undefined, { timeoutMs: 20 });
    expect(await again).toMatchObject({ error: 'The sandbox was reset.' });
    await expect(seen).rejects.toMatchObject({ code: 'wait_timeout' });
  });

  test('a time limit may be longer than any timer', async () => {
    const webhook = () => new Promise<Response>((resolve) => setTimeout(resolve, 20, new Response()));
    const sandbox = open({ webhook, unspecified: { deliveryTimeout: '30d' } });
    expect((await sandbox.trigger('order.paid')).delivery).toMatchObject({ ok: true });
  });

  test('duplicates end when the webhook is taken away', async () => {
    const sandbox = open();
    sandbox.setWebhook(() => {
      sandbox.setWebhook(undefined);
      return new Response();
    });
    sandbox.failNext({ webhook: true, duplicate: 2 });
    const { event } = await sandbox.trigger('order.paid');
    expect(event).toMatchObject({ state: 'delivered', attempts: [{ ok: true }] });
  });

  test('a redelivery that fails takes no due attempt away', async () => {
    const { handler } = receiver(500, 200);
    const sandbox = open({ webhook: handler, webhooks: { delay: '1m' } });
    const { event } = await sandbox.trigger('order.paid');
    expect((await sandbox.redeliver(event.id)).status).toBe(500);
    await sandbox.advanceTime('1m');
    expect(sandbox.events[0]).toMatchObject({ state: 'delivered', attempts: [{ ok: false }, { ok: true }] });
  });

  test('reset() ends a move of the clock that waits for a delivery', async () => {
    const { promise: arrived, resolve } = makeDeferred();
    const webhook = () => {
      resolve();
      return new Promise<Response>(() => {});
    };
    const sandbox = open({ webhook, webhooks: { delay: '1h' } });
    await sandbox.trigger('order.paid');
    const moved = sandbox.advanceTime('1d');
    await arrived;
    sandbox.reset();
    await moved;
    expect(sandbox.now()).toEqual(start);
  });

  test('a delivery that takes longer than the clock is moved by sets it back by nothing', async () => {
    const webhook = async () => {
      await new Promise((resolve) => setTimeout(resolve, 200));
      return new Response();
    };
    const sandbox = createSandbox({ webhook, webhooks: { delay: 10 } });
    await sandbox.trigger('order.paid');
    const times = [sandbox.now().getTime()];
    const moved = sandbox.advanceTime(50);
    for (let looks = 0; looks < 30; looks++) {
      await new Promise((resolve) => setTimeout(resolve, 10));
      times.push(sandbox.now().getTime());
    }
    await moved;
    expect(times).toEqual(times.toSorted((one, other) => one - other));
  });

  test('accepts a Response of another library', async () => {
    const undici = await import('undici');
    // Its types are not those of the platform's.
    const Other: unknown = undici.Response;
    const webhook = (): Response =>
      typeof Other === 'function' ? Reflect.construct(Other, ['kept', { status: 202 }]) : new Response();
    const { delivery } = await open({ webhook }).trigger('order.paid');
    expect(delivery).toMatchObject({ ok: true, status: 202, responseBody: 'kept' });
  });

  test('deliver() takes a due retry away, so that it is not made a second time', async () => {
    const { got, handler } = receiver(500);
    const sandbox = createSandbox({ webhook: handler, unspecified: { retries: [1] } });
    await sandbox.trigger('order.paid');
    await retryDue();
    expect(await sandbox.deliver()).toMatchObject([{ ok: true }]);
    await sandbox.advanceTime('1h');
    expect(got).toHaveLength(2);
    expect(sandbox.events[0]).toMatchObject({ state: 'delivered', nextAttemptAt: undefined });
  });

  test('a redelivery that fails undoes no delivery that succeeded meanwhile', async () => {
    const { promise: meanwhile, resolve } = makeDeferred();
    const statuses = [500, 500, 200];
    let calls = 0;
    const webhook = async () => {
      const status = statuses[calls++] ?? 200;
      if (calls === 2) await meanwhile;
      return new Response(null, { status });
    };
    const sandbox = createSandbox({ webhook, unspecified: { retries: [1] } });
    const { event } = await sandbox.trigger('order.paid');
    const again = sandbox.redeliver(event.id);
    await retryDue();
    expect(await sandbox.deliver()).toMatchObject([{ ok: true }]);
    resolve();
    expect(await again).toMatchObject({ status: 500 });
    expect(sandbox.events[0]).toMatchObject({ state: 'delivered', nextAttemptAt: undefined });
  });

  test('a retry that fails undoes no redelivery that succeeded meanwhile', async () => {
    const { redelivered, retried, webhook } = holdSecondAndThird(200);
    const sandbox = createSandbox({ webhook, unspecified: { retries: [1, 1] } });
    const { event } = await sandbox.trigger('order.paid');
    const again = sandbox.redeliver(event.id);
    await retryDue();
    const retry = sandbox.deliver();
    redelivered.resolve();
    expect(await again).toMatchObject({ ok: true });
    retried.resolve();
    expect(await retry).toMatchObject([{ ok: false }]);
    expect(sandbox.events[0]).toMatchObject({ state: 'delivered', nextAttemptAt: undefined });
  });

  test('while it listens, a retry that hangs holds up no other event', async () => {
    const hanging = makeDeferred();
    const attempts = new Map<string, number>();
    const sandbox = createSandbox({
      unspecified: { retries: [1] },
      webhook: async (request) => {
        const { data } = await request.json();
        const attempt = (attempts.get(data.amount) ?? 0) + 1;
        attempts.set(data.amount, attempt);
        if (attempt === 2 && data.amount === '1.00') {
          hanging.resolve();
          return new Promise<Response>(() => {});
        }
        return new Response(null, { status: attempt === 1 ? 500 : 200 });
      },
    });
    await sandbox.listen();
    await sandbox.trigger('order.paid', { amount: '1.00' });
    await hanging.promise;
    const { event } = await sandbox.trigger('order.paid', { amount: '2.00' });
    const other = await sandbox.waitForEvent(({ id, state }) => id === event.id && state === 'delivered');
    expect(other.attempts).toHaveLength(2);
    await sandbox.close();
  });

  test('a retry in flight is shown as one, and a snapshot of it makes the retry again', async () => {
    const { promise: arrived, resolve } = makeDeferred();
    let calls = 0;
    const first = open({
      webhook: async () => {
        if (++calls === 1) return new Response(null, { status: 500 });
        resolve();
        return new Promise<Response>(() => {});
      },
    });
    await first.trigger('order.paid');
    const moved = first.advanceTime('5s');
    await arrived;
    const shown = await (await first.fetch('/events')).text();
    expect(shown).toContain('>sending<');
    const restored = createSandbox({ from: first.snapshot(), webhook: () => new Response() });
    await restored.advanceTime(0);
    expect(restored.events[0]).toMatchObject({ state: 'delivered' });
    await first.close();
    await moved;
  });

  test('the log names no time for a retry that is on its way', async () => {
    const { redelivered, retried, webhook } = holdSecondAndThird(500);
    const context = createContext({ webhook, unspecified: { retries: [1, 1] } });
    const lines: string[] = [];
    watch(context, false, (line) => lines.push(line));
    const { sandbox } = context;
    const { event } = await sandbox.trigger('order.paid');
    const again = sandbox.redeliver(event.id);
    await retryDue();
    const retry = sandbox.deliver();
    redelivered.resolve();
    await again;
    retried.resolve();
    await retry;
    expect(lines).toContainEqual(expect.stringMatching(/, redelivery/m));
    expect(lines.join('\n')).not.toContain('undefined');
  });

  test('closing the sandbox ends a delivery that hangs', async () => {
    const { promise: arrived, resolve } = makeDeferred();
    const server = createTcpServer((socket) => {
      socket.on('data', () => resolve());
      socket.on('error', () => {});
    });
    const { url, close } = await listenOnLocalhost(server);
    const sandbox = open({ webhook: url });
    const payment = sandbox.trigger('order.paid');
    await arrived;
    await sandbox.close();
    expect((await payment).delivery).toMatchObject({ ok: false, error: 'The sandbox was closed.' });
    await close();
  });
});

/** A receiver that fails, and responds to the second and third request only when told to; to the second with `status`. */
function holdSecondAndThird(status: number) {
  const [redelivered, retried] = [makeDeferred(), makeDeferred()];
  let calls = 0;
  const webhook = async () => {
    const call = ++calls;
    if (call === 2) await redelivered.promise;
    if (call === 3) await retried.promise;
    return new Response(null, { status: call === 2 ? status : 500 });
  };
  return { redelivered, retried, webhook };
}

const retryDue = () => new Promise((resolve) => setTimeout(resolve, 5));

function makeDeferred() {
  let resolve = () => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
