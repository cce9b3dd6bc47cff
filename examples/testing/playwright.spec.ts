/**
 * The shop in a real browser with Playwright, and a fixture that gives each test an order that is paid.
 *
 *     npm install --save-dev @playwright/test && npx playwright install chromium
 *     npx merchant-payments exec --webhook-path /webhooks -- npx playwright test --config testing/playwright.config.ts
 */
import { test as base, expect } from '@playwright/test';

const test = base.extend<{ paidOrder: { id: string; url: string } }>({
  paidOrder: async ({ page }, use) => {
    await page.goto('/');
    await page.getByRole('button', { name: 'Buy' }).first().click();
    await page.getByTestId('pay').click(); // the sandbox's payment page, with a test card filled in
    await page.getByText('Paid', { exact: true }).waitFor();
    const url = page.url();
    await use({ id: /thanks\/(\w+)/.exec(url)?.[1] ?? '', url });
  },
});

test('the orders page lists a paid order', async ({ page, paidOrder }) => {
  await page.goto('/orders?key=key-of-the-tests');
  await expect(page.getByRole('row', { name: paidOrder.id })).toContainText('Paid');
});

test('nobody sees an order without its token', async ({ page, paidOrder }) => {
  const response = await page.goto(paidOrder.url.replace(/token=.*/, 'token=guess'));
  expect(response?.status()).toBe(404);
});
