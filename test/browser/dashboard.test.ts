import { createHash, createHmac } from 'node:crypto';
import { AuthenticationError, PaymentsClient } from 'merchant-payments';
import { describe, expect, it } from 'vitest';
import { useChromium } from './chromium.js';
import { useShop } from './shop.js';

const visit = useChromium();
const shop = useShop();

it('regenerates the key: the old one is refused at once, the shown one is accepted', async () => {
  const { sandbox, client } = shop();
  const page = await visit(`${sandbox.url}/developer`);
  await page.getByTestId('regenerate').click();
  await page.getByTestId('regenerate-confirm').click();
  await expect.poll(() => page.getByTestId('api-key').textContent()).toBe(sandbox.apiKey);
  const { apiKey } = sandbox;
  await expect(client.balance.retrieve()).rejects.toThrow(AuthenticationError);
  const { baseUrl } = sandbox.clientOptions;
  expect(await new PaymentsClient({ baseUrl, apiKey }).balance.retrieve()).toMatchObject({ currency: 'USD' });
});

it('shows key and secret, for .env too, and copies them', async () => {
  const { sandbox } = shop();
  const page = await visit(`${sandbox.url}/developer`, {
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  await page.getByRole('button', { name: 'Copy the .env block' }).click();
  await page.getByRole('status').filter({ hasText: 'Copied' }).waitFor();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(
    `PAYMENTS_BASE_URL=${sandbox.url}\nPAYMENTS_API_KEY=${sandbox.apiKey}\nPAYMENTS_WEBHOOK_SECRET=${sandbox.webhookSecret}`,
  );
});

it('saves Webhook Settings, shows why an event failed, and delivers it again', async () => {
  const { sandbox, origin, webhook } = shop();
  webhook.status = 401;
  const page = await visit(`${sandbox.url}/developer`);
  await page.getByTestId('webhook-url').fill('not a url');
  await page.getByTestId('save-webhook').click();
  await page.getByTestId('problem').waitFor();
  expect(await page.getByTestId('webhook-url').inputValue()).toBe('not a url');

  await page.getByTestId('webhook-url').fill(`${origin}/webhooks`);
  await page.getByTestId('save-webhook').click();
  await page.waitForURL(/#webhook$/);
  await page.getByTestId('send-test-event').click();
  await page.waitForURL(/\/events\/evt_/);
  expect(await page.getByTestId('attempt').first().textContent()).toContain('401');
  expect(await page.getByTestId('hint').first().textContent()).toContain('Exempt the webhook path');

  webhook.status = 200;
  await page.getByTestId('redeliver').click();
  await page.getByText('delivered', { exact: true }).waitFor();
  expect(sandbox.events).toMatchObject([{ state: 'delivered' }]);
});

it('runs the doctor, which says what is wrong with the handler', async () => {
  const { sandbox, origin } = shop();
  const page = await visit(`${sandbox.url}/developer`);
  expect(await page.getByTestId('run-doctor').count()).toBe(0);
  sandbox.setWebhook(`${origin}/webhooks`);
  await page.reload();
  await page.getByTestId('run-doctor').click();
  const summary = page.getByTestId('doctor-summary');
  await summary.waitFor();
  expect(await summary.textContent()).toContain('accept');
  expect(await page.getByTestId('probe').count()).toBeGreaterThan(5);
  expect(await page.content()).not.toContain(sandbox.webhookSecret);
});

it('shows the exact bytes of an event, their hash and the string that was signed', async () => {
  const { sandbox, origin, checkout } = shop();
  sandbox.setWebhook(`${origin}/webhooks`);
  const { event } = await sandbox.completeCheckout(await checkout());
  const page = await visit(`${sandbox.url}/events/${event.id}`);
  const text = (id: string) => page.getByTestId(id).textContent();
  expect(await text('body')).toBe(event.body.replaceAll(' ', '·'));
  expect(await text('bytes')).toBe(`${Buffer.byteLength(event.body)} bytes`);
  expect(await text('sha256')).toBe(createHash('sha256').update(event.body).digest('hex'));
  const signed = ((await text('signed-string')) ?? '').replaceAll('·', ' ');
  const signature = createHmac('sha256', sandbox.webhookSecret).update(signed).digest('hex');
  expect(await page.getByLabel('Headers', { exact: true }).textContent()).toContain(
    `x-service-signature: ${signature}`,
  );
});

it('shows what happens while it is looked at, without a reload', async () => {
  const { sandbox, checkout } = shop();
  const overview = await visit(sandbox.url);
  const checkouts = await visit(`${sandbox.url}/checkouts`);
  expect(await overview.getByTestId('pending').textContent()).toBe('0.00');
  await sandbox.completeCheckout(await checkout());
  await overview.getByTestId('pending').filter({ hasText: '19.90' }).waitFor();
  await checkouts.getByTestId('checkout-row').filter({ hasText: 'paid' }).waitFor();
});

it('settles what is pending', async () => {
  const { sandbox, checkout } = shop();
  await sandbox.completeCheckout(await checkout());
  const page = await visit(sandbox.url);
  await page.getByTestId('settle').click();
  await page.getByTestId('available').filter({ hasText: '19.90' }).waitFor();
  expect(sandbox.balance).toMatchObject({ available: '19.90', pending: '0.00' });
});

it('moves the clock, and expires and settles what is due by then', async () => {
  const { sandbox, checkout } = shop();
  await checkout();
  await sandbox.completeCheckout(await checkout());
  const page = await visit(sandbox.url);
  await page.getByTestId('clock-1h').click();
  await page.waitForLoadState();
  await page.getByTestId('clock-1d').click();
  await page.getByTestId('available').filter({ hasText: '19.90' }).waitFor();
  expect(sandbox.checkouts.map(({ state }) => state)).toEqual(['expired', 'paid']);
});

it('pays, declines and expires checkouts', async () => {
  const { sandbox, checkout } = shop();
  for (let count = 0; count < 3; count++) await checkout();
  const page = await visit(`${sandbox.url}/checkouts`);
  const row = (index: number) => page.getByTestId('checkout-row').nth(index);
  await row(0).getByRole('button', { name: 'Pay' }).click();
  await row(0).getByText('paid').waitFor();
  await row(1).getByRole('button', { name: 'Decline' }).click();
  await row(1).getByText('card_declined').waitFor();
  await row(2).getByRole('button', { name: 'Expire' }).click();
  await row(2).getByText('expired').waitFor();
  expect(sandbox.checkouts.map(({ state }) => state)).toEqual(['expired', 'open', 'paid']);
});

it('breaks no reason inside the word beside a long name and a long amount', async () => {
  const { sandbox, client, checkout } = shop();
  await client.products.create({ name: 'W'.repeat(200), price: '123456789012345678901234567890.99' });
  const [long] = sandbox.products.slice(-1);
  await client.checkouts.create({ productId: String(long?.id) });
  await sandbox.failCheckout(await checkout());
  const page = await visit(`${sandbox.url}/checkouts`);
  // The page draws its rows anew as it learns of a change.
  const rects = () => page.getByText('card_declined').evaluate((element) => element.getClientRects().length);
  await expect.poll(rects).toBe(1);
});

it('shows which choices a request depended on, and the likely name of an unknown field', async () => {
  const { sandbox } = shop();
  await sandbox.fetch('/v1/products', {
    method: 'POST',
    headers: { 'x-api-key': sandbox.apiKey, 'content-type': 'application/json' },
    body: '{"name": "Cup", "price": "3", "desciption": "small"}',
  });
  const page = await visit(`${sandbox.url}/requests`);
  const row = page.getByTestId('request-row').first();
  expect(await row.textContent()).toContain('unknownFields');
  expect(await row.getByTestId('lint').textContent()).toContain('description');
});

it('lists the faults that wait until they have happened', async () => {
  const { sandbox, client } = shop();
  const page = await visit(`${sandbox.url}/requests`);
  const faults = page.getByTestId('faults');
  expect(await faults.count()).toBe(0);
  sandbox.failNext({ status: 503, method: 'GET', path: '/v1/balance' });
  sandbox.failNext({ webhook: true, times: 2, drop: true });
  await faults.waitFor();
  expect((await faults.textContent())?.trim()).toContain(
    'Faults are waiting: status 503 · next GET /v1/balance request drop · next 2 events',
  );
  await expect(client.balance.retrieve({ maxRetries: 0 })).rejects.toThrow('503');
  await faults.filter({ hasText: /^A fault is waiting: drop · next 2 events\s/ }).waitFor();
  expect(await page.getByTestId('request-row').first().textContent()).toContain('fault: status 503');
});

it('lists the events that are held back, and delivers them', async () => {
  const { sandbox, origin, checkout } = shop();
  sandbox.setWebhook(`${origin}/webhooks`);
  const page = await visit(sandbox.url);
  sandbox.failNext({ webhook: true, hold: true, times: 2 });
  for (let count = 0; count < 2; count++) await sandbox.completeCheckout(await checkout());
  await page.goto(`${sandbox.url}/events`);
  const states = page.getByTestId('event-row').locator('.badge');
  expect(await states.allTextContents()).toEqual(['held', 'held']);
  await page.getByTestId('event-row').first().getByRole('link').click();
  await page.getByText('Held back: deliver it with Redeliver').waitFor();
  await page.goBack();
  await page.getByTestId('deliver').click();
  await expect.poll(() => states.allTextContents()).toEqual(['delivered', 'delivered']);
  expect(await page.getByTestId('deliver').count()).toBe(0);
  expect(sandbox.events.map(({ attempts }) => attempts.length)).toEqual([1, 1]);
});

it('forgets everything after a confirmation', async () => {
  const { sandbox, checkout } = shop();
  await checkout();
  const page = await visit(sandbox.url);
  expect(await page.getByTestId('reset-confirm').isVisible()).toBe(false);
  await page.getByTestId('reset').click();
  await page.getByTestId('reset-confirm').click();
  await page.waitForLoadState();
  await expect.poll(() => sandbox.checkouts).toEqual([]);
});

it('works without script', async () => {
  const { sandbox, checkout } = shop();
  await checkout();
  const page = await visit(`${sandbox.url}/checkouts`, { javaScriptEnabled: false });
  await page.getByTestId('pay').click();
  await page.getByText('paid').waitFor();
  expect(sandbox.orders).toHaveLength(1);
});

it('fits every width', async () => {
  const { sandbox, origin, webhook, checkout } = shop();
  webhook.status = 500;
  sandbox.setWebhook(`${origin}/webhooks`);
  const { event } = await sandbox.completeCheckout(await checkout());
  await sandbox.failCheckout(await checkout(), 'insufficient_funds');
  await sandbox.doctor();
  const page = await visit(sandbox.url);
  for (const width of [320, 360, 768, 1280]) {
    await page.setViewportSize({ width, height: 700 });
    for (const path of [
      '/',
      '/products',
      '/checkouts',
      '/events',
      `/events/${event.id}`,
      '/requests',
      '/developer',
      '/developer/doctor',
    ]) {
      await page.goto(sandbox.url + path);
      expect(
        await page.evaluate(() => document.documentElement.scrollWidth - innerWidth),
        `${path} at ${width}`,
      ).toBeLessThanOrEqual(0);
      const outside = await page.evaluate(() =>
        [...document.querySelectorAll('nav a, main a, main button, main input')]
          .map((one) => ({ text: one.textContent, box: one.getBoundingClientRect() }))
          .filter(({ box }) => box.width > 0 && (box.left < 0 || box.right > innerWidth))
          .map(({ text }) => text),
      );
      expect(outside, `${path} at ${width}`).toEqual([]);
      if (path !== '/' || width < 1280) continue;
      const heights = await page
        .getByTestId('activity')
        .evaluateAll((rows) => rows.map((one) => one.clientHeight));
      expect(Math.max(...heights), 'the highest row of the log').toBeLessThan(100);
    }
  }
});

it('archives a product and restores it', async () => {
  const { sandbox, checkout } = shop();
  const url = await checkout();
  const page = await visit(`${sandbox.url}/products`);
  await page.getByTestId('archive').first().click();
  await page.getByText('ARCHIVED', { exact: true }).waitFor();
  await expect(sandbox.completeCheckout(url)).rejects.toThrow('sells a product that is archived');
  await page.getByTestId('restore').first().click();
  await page.getByText('ARCHIVED', { exact: true }).waitFor({ state: 'detached' });
  expect((await sandbox.completeCheckout(url)).order.amount).toBe('19.90');
});

it('shows the faults that wait, and clears them', async () => {
  const { sandbox } = shop();
  sandbox.failNext({ status: 503, path: '/v1/products', times: 2 });
  const page = await visit(`${sandbox.url}/requests`);
  expect(await page.getByTestId('faults').textContent()).toContain(
    'status 503 · next 2 /v1/products requests',
  );
  await page.getByTestId('clear-faults').click();
  await page.getByTestId('faults').waitFor({ state: 'detached' });
  expect(sandbox.faults).toEqual([]);
});

it('runs the doctor for an event that was refused, and offers it for no other', async () => {
  const { sandbox, origin, webhook, checkout } = shop();
  sandbox.setWebhook(`${origin}/webhooks`);
  webhook.status = 500;
  const refused = await sandbox.completeCheckout(await checkout());
  webhook.status = 200;
  const taken = await sandbox.completeCheckout(await checkout());
  const page = await visit(`${sandbox.url}/events/${taken.event.id}`);
  expect(await page.getByTestId('run-doctor').count()).toBe(0);
  await page.goto(`${sandbox.url}/events/${refused.event.id}`);
  await page.getByTestId('run-doctor').click();
  expect(await page.getByTestId('doctor-summary').textContent()).not.toBe('');
});

describe('with another signature scheme', () => {
  const signature = {
    algorithm: 'sha512',
    encoding: 'base64',
    content: 'v0:{timestamp}:{body}',
    signatureHeader: 'x-signature',
    timestampHeader: 'x-request-timestamp',
  } as const;
  const signing = useShop({ unspecified: { signature } });

  it('shows the scheme, and by it the headers and the string that was signed', async () => {
    const { sandbox, origin, checkout } = signing();
    const page = await visit(`${sandbox.url}/developer`);
    expect(JSON.parse((await page.getByTestId('scheme').textContent()) ?? '')).toEqual(signature);
    sandbox.setWebhook(`${origin}/webhooks`);
    const { event } = await sandbox.completeCheckout(await checkout());
    await page.goto(`${sandbox.url}/events/${event.id}`);
    const signed = ((await page.getByTestId('signed-string').textContent()) ?? '').replaceAll('·', ' ');
    const headers = (await page.getByLabel('Headers', { exact: true }).textContent()) ?? '';
    const timestamp = /^x-request-timestamp: (\d+)$/m.exec(headers)?.[1];
    expect(signed).toBe(`v0:${timestamp}:${event.body}`);
    expect(headers).toContain(
      `x-signature: ${createHmac('sha512', sandbox.webhookSecret).update(signed).digest('base64')}`,
    );
    await page.getByText('sha512 HMAC of this text with the webhook secret, in base64.').waitFor();
  });

  it('shows no scheme where it is the default', async () => {
    const page = await visit(`${shop().sandbox.url}/developer`);
    expect(await page.getByTestId('scheme').count()).toBe(0);
  });
});

it('keeps what was typed when somebody comes back to it', async () => {
  const page = await visit(`${shop().sandbox.url}/developer`);
  await page.getByTestId('webhook-url').fill('http://127.0.0.1:3000/half-typed');
  await page.evaluate(() => dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true })));
  await page.evaluate(async () => void (await fetch('/')));
  expect(await page.getByTestId('webhook-url').inputValue()).toBe('http://127.0.0.1:3000/half-typed');
});
