import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { useChromium } from './chromium.js';
import { type Shop, useShop } from './shop.js';

const visit = useChromium();
const shop = useShop();

/** Returns the violations that axe finds, in words: all in light mode, those of contrast in dark mode too. */
async function violations(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  const found: string[] = [];
  for (const [scheme, options] of [
    ['light', {}],
    ['dark', { runOnly: ['color-contrast'] }],
  ] as const) {
    await page.emulateMedia({ colorScheme: scheme });
    const results: axe.AxeResults = await page.evaluate(`axe.run(${JSON.stringify(options)})`);
    for (const { id, nodes } of results.violations)
      found.push(...nodes.map((node) => `${scheme}: ${id}: ${node.html} ${node.failureSummary}`));
  }
  return found;
}

const openWaiting = async ({ sandbox }: Shop, page: Page) => {
  await page.getByTestId('method-wallet-a').check();
  await page.getByTestId('pay').click();
  await page.getByTestId('qr').waitFor();
  return `${sandbox.url}/wallet/${sandbox.checkouts[0]?.id}?m=a`;
};
const stay = { successUrl: undefined, cancelUrl: undefined };

const payment: Record<string, (at: Shop) => Promise<Page>> = {
  open: async ({ checkout }) => {
    const page = await visit(await checkout());
    await page.getByTestId('developer').locator('summary').click();
    return page;
  },
  'open with a wallet chosen': async ({ checkout }) => {
    const page = await visit(await checkout());
    await page.getByTestId('method-wallet-b').check();
    return page;
  },
  declined: async ({ sandbox, checkout }) => {
    const url = await checkout();
    await sandbox.failCheckout(url);
    return visit(url);
  },
  processing: async (at) => {
    const page = await visit(await at.checkout());
    await openWaiting(at, page);
    return page;
  },
  paid: async ({ sandbox, checkout }) => {
    const url = await checkout(stay);
    await sandbox.completeCheckout(url);
    return visit(url);
  },
  cancelled: async ({ checkout }) => {
    const page = await visit(await checkout(stay));
    await page.getByTestId('cancel').click();
    await page.getByTestId('cancelled').waitFor();
    return page;
  },
  expired: async ({ sandbox, checkout }) => {
    const url = await checkout();
    await sandbox.expireCheckout(url);
    return visit(url);
  },
  archived: async ({ sandbox, product, checkout }) => {
    const url = await checkout();
    sandbox.archiveProduct(product.id);
    return visit(url);
  },
  unknown: ({ sandbox }) => visit(`${sandbox.url}/pay/chk_none`),
  'the wallet': async (at) => {
    const page = await visit(await at.checkout());
    return visit(await openWaiting(at, page));
  },
  'the wallet, approved': async (at) => {
    const page = await visit(await at.checkout(stay));
    const phone = await visit(await openWaiting(at, page));
    await phone.getByTestId('approve').click();
    await phone.getByTestId('wallet-approved').waitFor();
    return phone;
  },
  'the wallet, with nothing to approve': async ({ sandbox, checkout }) => {
    const { pathname } = new URL(await checkout());
    return visit(`${sandbox.url}${pathname.replace('pay', 'wallet')}?m=a`);
  },
};

describe('axe finds nothing wrong with the payment page', () => {
  it.each(Object.entries(payment))('%s', async (_, open) => {
    expect(await violations(await open(shop()))).toEqual([]);
  });
});

describe('axe finds nothing wrong with the dashboard', () => {
  const paths = ['/', '/products', '/checkouts', '/events', '/requests', '/developer'];

  it.each(paths)('at %s, with nothing in it', async (path) => {
    const { sandbox } = shop();
    sandbox.reset();
    expect(await violations(await visit(sandbox.url + path))).toEqual([]);
  });

  it.each([...paths, 'the event'])('at %s, with something in it', async (path) => {
    const { sandbox, webhook, origin, checkout, client } = shop();
    webhook.status = 400;
    sandbox.setWebhook(`${origin}/webhooks`);
    const { event } = await sandbox.completeCheckout(await checkout());
    await sandbox.failCheckout(await checkout());
    await client.products.create({ name: 'Cup', price: 'free' }).catch(() => undefined);
    sandbox.failNext({ status: 503, method: 'PATCH' });
    sandbox.failNext({ webhook: true, hold: true });
    await sandbox.completeCheckout(await checkout());
    const page = await visit(sandbox.url + (path === 'the event' ? `/events/${event.id}` : path));
    for (const summary of await page.locator('summary').all()) await summary.click();
    expect(await violations(page)).toEqual([]);
  });

  it('at the report of the doctor', async () => {
    const { sandbox, origin } = shop();
    sandbox.setWebhook(`${origin}/webhooks`);
    const page = await visit(`${sandbox.url}/developer`);
    await page.getByTestId('run-doctor').click();
    await page.getByTestId('doctor-summary').waitFor();
    expect(await violations(page)).toEqual([]);
  });
});
