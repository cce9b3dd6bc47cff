import { PaymentsClient } from 'merchant-payments';
import { createSandbox, type SandboxOptions } from 'merchant-payments/sandbox';
import { describe, expect, it } from 'vitest';

async function open(options: SandboxOptions = {}, urls: object = { successUrl: 'https://shop.test/ok' }) {
  const sandbox = createSandbox(options);
  const client = new PaymentsClient(sandbox.clientOptions);
  const product = await client.products.create({
    name: 'Mug',
    price: '19.90',
    description: 'x'.repeat(1000),
  });
  const { url } = await client.checkouts.create({ productId: product.id, ...urls });
  const get = (path = '') => sandbox.fetch(url + path);
  const token = async () => /name="token" value="([^"]+)"/.exec(await (await get()).text())?.[1] ?? '';
  const post = (action: string, fields: Record<string, string>, headers: Record<string, string> = {}) =>
    sandbox.fetch(`${url}/${action}`, { method: 'POST', body: new URLSearchParams(fields), headers });
  return { sandbox, client, product, url, get, post, token };
}

describe('the payment page', () => {
  it('shows successUrl only once it was paid: neither in its source nor in headers, its status or its other pages', async () => {
    const successUrl = 'https://shop.test/thanks?token=only-for-those-who-paid';
    const opened = await open({}, { successUrl, cancelUrl: 'https://shop.test/cart' });
    const { sandbox, product, url, token, post } = opened;
    const id = url.split('/').at(-1) ?? '';
    const readAllPages = async () => {
      const paths = [
        `/pay/${id}`,
        `/pay/${id}/status`,
        `/pay/${id}/done`,
        `/wallet/${id}`,
        `/wallet/${id}?m=b`,
      ];
      const responses = await Promise.all(paths.map((path) => sandbox.fetch(path)));
      return (
        await Promise.all(responses.map(async (one) => JSON.stringify([...one.headers]) + (await one.text())))
      ).join('\n');
    };
    const steps: [string, () => unknown][] = [
      ['open', () => undefined],
      ['declined', () => sandbox.failCheckout(url)],
      ['waiting for a wallet', async () => post('pay', { token: await token(), method: 'walletA' })],
      ['cancelled', async () => post('cancel', { token: await token() })],
      ['archived', () => sandbox.archiveProduct(product.id)],
      ['restored', () => sandbox.restoreProduct(product.id)],
    ];
    for (const [state, step] of steps) {
      await step();
      expect((await readAllPages()).includes('only-for-those-who-paid'), state).toBe(false);
    }
    const raw = await sandbox.fetch(`/v1/checkouts/${id}`, { headers: { 'x-api-key': sandbox.apiKey } });
    expect(await raw.text()).not.toContain('only-for-those-who-paid');
    await sandbox.completeCheckout(url);
    expect(await readAllPages()).toContain('only-for-those-who-paid');
    const other = await open({}, { successUrl });
    await other.sandbox.expireCheckout(other.url);
    expect(await (await other.get()).text()).not.toContain('only-for-those-who-paid');
  });

  it('has an HTTP status for each state', async () => {
    const { sandbox, product, url, get } = await open();
    expect((await get()).status).toBe(200);
    await sandbox.failCheckout(url);
    expect((await get()).status).toBe(200);
    sandbox.archiveProduct(product.id);
    expect((await get()).status).toBe(409);
    sandbox.restoreProduct(product.id);
    await sandbox.expireCheckout(url);
    expect((await get()).status).toBe(410);
    expect((await sandbox.fetch('/pay/chk_none')).status).toBe(404);
    expect((await sandbox.fetch('/wallet/chk_none')).status).toBe(404);
  });

  it('that is paid says so, leaves for successUrl after three seconds, and links the event of the order', async () => {
    const { sandbox, url, get } = await open();
    const { event } = await sandbox.completeCheckout(url);
    const answer = await get();
    expect(answer.status).toBe(200);
    expect(answer.headers.get('refresh')).toBe('3; url=https://shop.test/ok');
    const page = await answer.text();
    expect(page).toContain('Paid 19.90 USD');
    expect(page).toContain(`/events/${event.id}"`);
  });

  it.each([
    ['https://shop.test/ok?a=%2F&b=c;d#e', 'https://shop.test/ok?a=%2F&b=c;d#e'],
    ['https://shop.test/über', 'https://shop.test/%C3%BCber'],
    ['myshop://orders/1', 'myshop://orders/1'],
  ])('leaves for %s in a form that a header can carry', async (successUrl, sent) => {
    const { sandbox, url, get } = await open({}, { successUrl });
    await sandbox.completeCheckout(url);
    expect((await get()).headers.get('refresh')).toBe(`3; url=${sent}`);
  });

  it('is at most 30 KB in every state, its QR code included', async () => {
    const { get, post, token } = await open({ publicUrl: `https://${'long.'.repeat(40)}example` });
    expect((await (await get()).blob()).size).toBeLessThan(30_000);
    await post('pay', { token: await token(), method: 'walletA' });
    const waiting = await (await get()).text();
    expect(waiting).toContain('data-testid="qr"');
    expect(Buffer.byteLength(waiting)).toBeLessThan(30_000);
  });

  it('lets nothing run or load but its own, is never stored and never framed', async () => {
    const { headers } = await (await open()).get();
    const policy = headers.get('content-security-policy') ?? '';
    for (const rule of [
      "default-src 'none'",
      "form-action 'self'",
      "frame-ancestors 'none'",
      "base-uri 'none'",
    ])
      expect(policy.split('; ')).toContain(rule);
    expect(policy).not.toContain('unsafe');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('referrer-policy')).toBe('same-origin');
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('set-cookie')).toBeNull();
  });

  it('has another nonce each time, and each style and script carries it', async () => {
    const { get } = await open();
    const nonces = await Promise.all(
      [get(), get()].map(async (answer) => {
        const text = await (await answer).text();
        const found = new Set(
          [...text.matchAll(/<(?:style|script)[^>]*nonce="([^"]+)"/g)].map(([, one]) => one),
        );
        expect(found.size).toBe(1);
        expect(text.match(/<(?:style|script)\b/g)).toHaveLength(2);
        expect(text).not.toMatch(/\sstyle="|\son\w+="/);
        return [...found][0];
      }),
    );
    expect(nonces[0]).not.toBe(nonces[1]);
  });

  it('takes only what it offers', async () => {
    const { sandbox, post, token } = await open();
    const fields = { token: await token(), method: 'card', card: '1111' };
    expect((await post('pay', { ...fields, card: '4242' })).status).toBe(400);
    expect((await post('pay', { ...fields, card: '' })).status).toBe(400);
    expect((await post('pay', { ...fields, method: 'cash' })).status).toBe(400);
    expect((await post('fail', { ...fields, reason: 'bad_luck' })).status).toBe(400);
    expect((await post('pay', { token: fields.token, card: '__proto__' })).status).toBe(400);
    expect(sandbox.orders).toEqual([]);
    expect((await post('pay', fields)).status).toBe(303);
    expect(sandbox.orders).toHaveLength(1);
  });

  it('cannot be paid by a link, without its own token, or from another site', async () => {
    const { sandbox, url, get, post, token } = await open();
    const other = await sandbox.fetch('/v1/checkouts', {
      method: 'POST',
      headers: { 'x-api-key': sandbox.apiKey, 'content-type': 'application/json' },
      body: JSON.stringify({ productId: sandbox.products[0]?.id }),
    });
    const { data } = await other.json();
    const foreign =
      /name="token" value="([^"]+)"/.exec(await (await sandbox.fetch(data.url)).text())?.[1] ?? '';
    const fields = { token: await token(), method: 'card', card: '1111' };
    expect((await get('/pay')).status).toBe(404);
    expect((await post('pay', { ...fields, token: foreign })).status).toBe(403);
    expect((await post('pay', { method: 'card', card: '1111' })).status).toBe(403);
    for (const headers of [
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
    ])
      expect((await post('pay', fields, { ...headers })).status).toBe(403);
    expect(sandbox.orders).toEqual([]);
    expect((await post('pay', fields, { origin: new URL(url).origin })).status).toBe(303);
  });

  it('closes on cancelling where that is chosen, and stays open otherwise', async () => {
    for (const [cancel, state] of [
      ['stay-open', 'open'],
      ['close', 'cancelled'],
    ] as const) {
      const { sandbox, get, post, token } = await open({ unspecified: { cancel } });
      const answer = await post('cancel', { token: await token() });
      expect(answer.headers.get('location')).toMatch(/\/done$/);
      const done = await get('/done');
      expect(done.status).toBe(200);
      expect((await done.text()).includes('return-to-payment')).toBe(state === 'open');
      expect(sandbox.checkouts[0]?.state).toBe(state);
    }
  });

  it('approves a wallet only while it waits for that wallet', async () => {
    const { sandbox, url, post, token } = await open();
    const fields = { token: await token(), method: 'walletA' };
    const wallet = (m: string, answer: string) =>
      sandbox.fetch(`${url.replace('/pay/', '/wallet/')}?m=${m}`, {
        method: 'POST',
        body: new URLSearchParams({ token: fields.token, answer }),
      });
    await wallet('a', 'approve');
    await post('pay', { ...fields, approve: 'yes' });
    expect(sandbox.orders).toEqual([]);
    expect(sandbox.checkouts[0]?.state).toBe('processing');
    await wallet('b', 'approve');
    expect(sandbox.orders).toEqual([]);
    expect((await wallet('a', 'perhaps')).status).toBe(400);
    await wallet('a', 'approve');
    expect(sandbox.orders).toMatchObject([{ method: 'walletA' }]);
  });
});

describe('an address in a restored state', () => {
  const image = 'https://shop.test/mug.png';
  const successUrl = 'https://shop.test/ok';

  it.each([
    ['https://shop.test/new', true],
    ['javascript:alert(1)', false],
    ['data:text/html,hello', false],
    ['//evil.example', false],
    ['http://a b/', false],
  ])('%s is shown: %s', async (address, shown) => {
    const { sandbox, client, product, url } = await open({}, { successUrl });
    const pictured = await client.products.create({ name: 'Mug', price: '1', image });
    const { url: other } = await client.checkouts.create({ productId: pictured.id });
    await sandbox.completeCheckout(url);
    const state = JSON.stringify(sandbox.snapshot());
    const restored = createSandbox({
      from: JSON.parse(state.replace(image, address).replace(successUrl, address)),
    });
    const paid = await restored.fetch(url);
    expect(paid.headers.has('refresh')).toBe(shown);
    expect((await paid.text()).includes('return-link')).toBe(shown);
    expect((await (await restored.fetch(other)).text()).includes('<img')).toBe(shown);
    expect(product.image).toBeNull();
  });
});

describe('the dashboard', () => {
  it('holds key and secret on the Developer page alone', async () => {
    const { sandbox, url } = await open({ webhook: () => new Response('ok') });
    const { event } = await sandbox.completeCheckout(url);
    for (const path of ['/', '/checkouts', '/events', `/events/${event.id}`, '/requests', url]) {
      const text = await (await sandbox.fetch(path)).text();
      expect(text).not.toContain(sandbox.apiKey);
      expect(text).not.toContain(sandbox.webhookSecret);
    }
    const shown = await (await sandbox.fetch('/developer')).text();
    expect(shown).toContain(sandbox.apiKey);
    expect(shown).toContain(sandbox.webhookSecret);
    expect(shown).toContain('The doctor sends valid and invalid deliveries about throw-away orders,');
  });

  it.each([
    '/balance',
    '/clock',
    '/reset',
    '/events/deliver',
    '/developer/key',
    '/developer/webhook',
    '/developer/test-event',
  ])('changes nothing at %s without the token of its own pages', async (path) => {
    const { sandbox } = await open();
    const before = JSON.stringify(sandbox.snapshot());
    const answer = await sandbox.fetch(path, {
      method: 'POST',
      body: new URLSearchParams({ token: 'guess' }),
    });
    expect(answer.status).toBe(403);
    expect((await sandbox.fetch(path, { method: 'GET' })).status).toBe(404);
    expect(JSON.stringify({ ...sandbox.snapshot() })).toBe(before);
  });

  it.each<[string, string]>([
    ['the secret\n  does not <b>match</b>', 'the secret does not &lt;b&gt;match&lt;/b&gt;'],
    ['x'.repeat(500), `${'x'.repeat(79)}…`],
    [' ', ''],
  ])('lists an event with the beginning of what the receiver said: %j', async (said, words) => {
    const { sandbox, url } = await open({ webhook: () => new Response(said, { status: 400 }) });
    await sandbox.completeCheckout(url);
    const text = await (await sandbox.fetch('/events')).text();
    expect(/data-testid="words">(.*?)<\/bdi>/.exec(text)?.[1] ?? '').toBe(words);
  });

  it("keeps the doctor's last report at an address of its own", async () => {
    const { sandbox } = await open({ webhook: () => new Response(null, { status: 404 }) });
    const report = async () => (await sandbox.fetch('/developer/doctor')).text();
    expect(await report()).toContain('The doctor has not run since the sandbox started.');
    await sandbox.doctor();
    for (const text of [await report(), await report()])
      expect(text).toMatch(
        /<code>not_found<\/code>.*<details id="probes"><summary>\d+ of \d+ deliveries got.*<\/details>.*data-testid="doctor-summary"/s,
      );
  });

  it('has each time in ISO 8601 for the browser to show in its zone', async () => {
    const at = '2026-01-01T10:30:00.000Z';
    const { sandbox, url } = await open({ now: new Date(at) });
    const { event } = await sandbox.completeCheckout(url);
    const time = `<time datetime="${at}" title="${at}" data-form="`;
    for (const path of ['/', '/products', '/checkouts', '/events', `/events/${event.id}`, '/requests'])
      expect(await (await sandbox.fetch(path)).text(), path).toContain(time);
  });

  it('says that an event is unknown', async () => {
    const { sandbox } = await open();
    expect((await sandbox.fetch('/events/evt_none')).status).toBe(404);
  });

  it.each<[SandboxOptions['webhooks'], string, string]>([
    ['auto', 'as soon as a checkout is paid', 'delivered'],
    ['manual', 'when you deliver them', 'held'],
    [{ delay: '10m' }, '10 min after a checkout is paid', 'goes out in 10 min'],
  ])('says when webhooks go out: %j', async (webhooks, when, state) => {
    const now = new Date('2026-01-01T00:00:00Z');
    const { sandbox } = await open({ now, webhooks, webhook: () => new Response() });
    await sandbox.trigger('order.paid');
    expect(await (await sandbox.fetch('/events')).text()).toContain(`>${state}</span>`);
    sandbox.setWebhook('http://127.0.0.1:3000/');
    expect(await (await sandbox.fetch('/developer')).text()).toContain(`Events are sent here ${when}.`);
  });

  it('says as the next step to set a webhook, until there is one', async () => {
    const { sandbox } = await open();
    const overview = async () => (await sandbox.fetch('/')).text();
    expect(await overview()).toContain('Next: set the URL of your webhook handler');
    sandbox.setWebhook('http://127.0.0.1:3000/webhooks');
    expect(await overview()).not.toContain('next-step');
  });

  it('says of a checkout that expires only that, though it was declined before', async () => {
    const { sandbox, url } = await open();
    await sandbox.failCheckout(url);
    await sandbox.expireCheckout(url);
    const overview = await (await sandbox.fetch('/')).text();
    const outcomes = [...overview.matchAll(/<span class="badge \w+">([^<]+)<\/span>/g)].map(
      ([, text]) => text,
    );
    expect(outcomes.slice(0, 2)).toEqual(['expired', 'declined: card_declined']);
  });

  it('lists the newest 500 checkouts, newest first', async () => {
    const { sandbox, client, product } = await open();
    for (let count = 0; count < 502; count++) await client.checkouts.create({ productId: product.id });
    const page = await (await sandbox.fetch('/checkouts')).text();
    const newest = sandbox.checkouts.map(({ id }) => id).slice(-500);
    expect(page.match(/chk_\w+(?=<\/code>)/g)).toEqual(newest.reverse());
  });
});
