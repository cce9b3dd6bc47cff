import jsQR from 'jsqr';
import type { Locator, Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { useChromium } from './chromium.js';
import { useShop } from './shop.js';

const visit = useChromium();
const shop = useShop();

/** Text of a QR code as a phone's camera sees it: from the pixels of a screenshot. */
async function scan(code: Locator): Promise<string | undefined> {
  const png = await code.screenshot();
  const canvas = await code.page().context().newPage();
  const { pixels, width, height } = await canvas.evaluate(
    async (source) => {
      const image = new Image();
      image.src = source;
      await image.decode();
      const surface = new OffscreenCanvas(image.width, image.height).getContext('2d');
      if (!surface) throw new Error('no canvas');
      surface.drawImage(image, 0, 0);
      const { data } = surface.getImageData(0, 0, image.width, image.height);
      return {
        pixels: Array.from(data, (part) => String.fromCharCode(part)).join(''),
        width: image.width,
        height: image.height,
      };
    },
    `data:image/png;base64,${png.toString('base64')}`,
  );
  await canvas.close();
  return jsQR.default(Uint8ClampedArray.from(Buffer.from(pixels, 'latin1')), width, height)?.data;
}

const chooseWallet = async (page: Page, wallet: 'wallet-a' | 'wallet-b') => {
  await page.getByTestId(`method-${wallet}`).check();
  await page.getByTestId('pay').click();
  await page.getByTestId('qr').waitFor();
};

describe('a card', () => {
  it('that is approved pays once and leads to the very successUrl', async () => {
    const { sandbox, origin, visited, checkout } = shop();
    const successUrl = `${origin}/ok?cart=1&x=%2F;(a)&y=%C3%A9#done`;
    const page = await visit(await checkout({ successUrl }));
    expect(await page.getByTestId('amount').textContent()).toBe('19.90 USD');
    await page.getByTestId('pay').click();
    await page.waitForURL(successUrl);
    expect(visited).toEqual(['/ok?cart=1&x=%2F;(a)&y=%C3%A9']);
    expect(sandbox.events).toHaveLength(1);
    expect(sandbox.balance).toMatchObject({ pending: '19.90', available: '0.00' });
  });

  it('that is declined says why, with the focus on it, and the next one pays one order', async () => {
    const { sandbox, checkout } = shop();
    const page = await visit(await checkout({ successUrl: undefined }));
    await page.getByTestId('card-9995').check();
    await page.getByTestId('pay').click();
    const problem = page.getByTestId('problem');
    await problem.waitFor();
    expect(await problem.textContent()).toContain('The card has insufficient funds. Nothing was charged.');
    expect(await problem.evaluate((element) => element === document.activeElement)).toBe(true);
    const choices = page.getByRole('group', { name: 'How would you like to pay?' });
    expect(await choices.getAttribute('aria-describedby')).toBe('problem-text');
    expect(sandbox.checkouts[0]?.state).toBe('open');
    await page.getByTestId('card-1111').check();
    await page.getByTestId('pay').click();
    await page.getByTestId('paid').waitFor();
    expect(sandbox.orders).toHaveLength(1);
  });

  it('is chosen, never typed', async () => {
    const page = await visit(await shop().checkout());
    const fields = page.locator(
      'input:not([type=hidden], [type=radio]), textarea, select, [contenteditable]',
    );
    expect(await fields.count()).toBe(0);
    expect(await page.locator('input[type=radio]').count()).toBe(6);
  });

  it('makes one order when Pay is clicked twice', async () => {
    const { sandbox, checkout } = shop();
    const page = await visit(await checkout({ successUrl: undefined }));
    await page.getByTestId('pay').dblclick();
    await page.getByTestId('paid').waitFor();
    expect(sandbox.orders).toHaveLength(1);
    expect(sandbox.events).toHaveLength(1);
  });

  it('makes one order when Pay is clicked twice without script', async () => {
    const { sandbox, checkout } = shop();
    const page = await visit(await checkout({ successUrl: undefined }), { javaScriptEnabled: false });
    await page.getByTestId('pay').dblclick();
    await page.getByTestId('paid').waitFor();
    expect(sandbox.orders).toHaveLength(1);
  });

  it('makes one order when it pays in two tabs', async () => {
    const { sandbox, checkout } = shop();
    const url = await checkout({ successUrl: undefined });
    const one = await visit(url);
    const two = await visit(url);
    await Promise.all([one.getByTestId('pay').click(), two.getByTestId('pay').click()]);
    await Promise.all([one.getByTestId('paid').waitFor(), two.getByTestId('paid').waitFor()]);
    expect(sandbox.orders).toHaveLength(1);
    expect(sandbox.events).toHaveLength(1);
  });
});

describe('a wallet', () => {
  it('is paid by scanning the code with another device, and the page moves on by itself', async () => {
    const { sandbox, origin, checkout } = shop();
    const url = await checkout();
    const page = await visit(url);
    await chooseWallet(page, 'wallet-a');
    expect(await page.getByTestId('waiting').textContent()).toBe('Waiting for approval');
    const scanned = (await scan(page.getByTestId('qr'))) ?? '';
    expect(scanned).toBe(`${sandbox.url}/wallet/${sandbox.checkouts[0]?.id}?m=a`);
    const phone = await visit(scanned);
    expect(await phone.getByRole('heading').textContent()).toBe('Pay 19.90 USD?');
    await phone.getByTestId('approve').click();
    await phone.getByTestId('wallet-approved').waitFor();
    await page.waitForURL(`${origin}/ok`);
    expect(sandbox.orders).toMatchObject([{ method: 'walletA' }]);
  });

  it('has a code that is read on a phone and in dark mode too', async () => {
    const page = await visit(await shop().checkout(), {
      viewport: { width: 320, height: 640 },
      colorScheme: 'dark',
    });
    await chooseWallet(page, 'wallet-b');
    expect(await scan(page.getByTestId('qr'))).toMatch(/\/wallet\/chk_\w+\?m=b$/);
  });

  it('that is declined leads back to the choice of methods', async () => {
    const { sandbox, checkout } = shop();
    const url = await checkout();
    const page = await visit(url);
    await chooseWallet(page, 'wallet-a');
    const phone = await visit((await scan(page.getByTestId('qr'))) ?? '');
    await phone.getByTestId('decline').click();
    await phone.getByTestId('wallet-declined').waitFor();
    await page.getByTestId('problem').waitFor();
    expect(await page.getByTestId('problem').textContent()).toContain('declined in the wallet');
    expect(await page.getByTestId('method-card').isVisible()).toBe(true);
    expect(sandbox.orders).toEqual([]);
  });

  it('can be approved, declined and left on this machine', async () => {
    const { sandbox, checkout } = shop();
    const page = await visit(await checkout({ successUrl: undefined }));
    await chooseWallet(page, 'wallet-b');
    await page.getByTestId('other-method').click();
    await chooseWallet(page, 'wallet-a');
    await page.getByTestId('decline').click();
    await page.getByTestId('problem').waitFor();
    await chooseWallet(page, 'wallet-b');
    await page.getByTestId('approve').click();
    await page.getByTestId('paid').waitFor();
    expect(sandbox.orders).toMatchObject([{ method: 'walletB' }]);
  });

  it('copies the address of its code', async () => {
    const { sandbox, checkout } = shop();
    const page = await visit(await checkout(), { permissions: ['clipboard-read', 'clipboard-write'] });
    await chooseWallet(page, 'wallet-a');
    await page.getByTestId('copy-wallet-link').click();
    await page.getByRole('status').filter({ hasText: 'Copied' }).waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(
      `${sandbox.url}/wallet/${sandbox.checkouts[0]?.id}?m=a`,
    );
  });
});

describe('leaving', () => {
  it('leads to cancelUrl, leaves the session open, and Back comes to the form', async () => {
    const { sandbox, origin, checkout } = shop();
    const page = await visit(await checkout({ successUrl: undefined }));
    await page.getByTestId('cancel').click();
    await page.waitForURL(`${origin}/cart`);
    expect(sandbox.checkouts[0]?.state).toBe('open');
    await page.goBack();
    await page.getByTestId('pay').click();
    await page.getByTestId('paid').waitFor();
    expect(sandbox.orders).toHaveLength(1);
  });

  it('without a cancelUrl offers the way back to the payment', async () => {
    const page = await visit(await shop().checkout({ cancelUrl: undefined }));
    await page.getByTestId('cancel').click();
    await page.getByTestId('return-to-payment').click();
    expect(await page.getByTestId('pay').isVisible()).toBe(true);
  });

  it('without a successUrl stays on the page that says paid', async () => {
    const page = await visit(await shop().checkout({ successUrl: undefined }));
    await page.getByTestId('pay').click();
    await page.getByTestId('paid').waitFor();
    expect(await page.getByRole('heading').textContent()).toBe('Paid 19.90 USD');
    expect(await page.getByTestId('order-id').textContent()).toMatch(/^ord_/);
    expect(await page.getByTestId('return-link').count()).toBe(0);
    const response = await page.reload();
    expect(response?.headers().refresh).toBeUndefined();
  });

  it('and coming back by Back after paying shows paid, not the form', async () => {
    const { origin, checkout } = shop();
    const page = await visit(await checkout());
    await page.getByTestId('pay').click();
    await page.waitForURL(`${origin}/ok`);
    // The page moves on after a second, which may be over before this test looks.
    await page.route(`${origin}/ok`, () => {});
    await page.goBack({ waitUntil: 'commit' });
    await page.getByTestId('paid').waitFor();
    expect(await page.getByTestId('pay').count()).toBe(0);
  });
});

describe('time', () => {
  it('that runs out while the page is open shows that the link has expired', async () => {
    const { sandbox, checkout } = shop();
    const page = await visit(await checkout());
    await sandbox.advanceTime('31m');
    await page.getByTestId('expired').waitFor();
    expect(await page.getByTestId('return-link').textContent()).toBe('Back to North & Pine');
  });

  it('that runs out ends a wallet that is waited for', async () => {
    const { sandbox, checkout } = shop();
    const page = await visit(await checkout());
    await chooseWallet(page, 'wallet-a');
    const phone = (await page.getByTestId('wallet-link').getAttribute('href')) ?? '';
    await sandbox.advanceTime('31m');
    await page.getByTestId('expired').waitFor();
    expect(await page.getByTestId('expired').textContent()).toContain('Wallet A can no longer approve it');
    const late = await visit(phone);
    expect(await late.getByTestId('expired').isVisible()).toBe(true);
    expect(await late.getByTestId('approve').count()).toBe(0);
  });

  it('that ran out refuses to pay, with status 410', async () => {
    const { sandbox, checkout } = shop();
    const page = await visit(await checkout(), { javaScriptEnabled: false });
    await sandbox.advanceTime('31m');
    const answer = page.waitForResponse((response) => response.status() === 410);
    await page.getByTestId('pay').click();
    await answer;
    expect(await page.getByTestId('expired').isVisible()).toBe(true);
    expect(sandbox.orders).toEqual([]);
  });

  it('counts down in view, and the countdown is not spoken', async () => {
    const { sandbox, checkout } = shop();
    const page = await visit(await checkout());
    const expires = page.getByTestId('expires');
    expect(await expires.textContent()).toMatch(/Expires in (30:00|29:5\d)/);
    expect(await page.getByRole('status').textContent()).toBe('');
    await sandbox.advanceTime('25m');
    await expires.filter({ hasText: /Expires in [45]:\d\d/ }).waitFor();
    expect(await page.getByRole('status').textContent()).toBe('');
  });

  describe('of a week', () => {
    const week = useShop({ unspecified: { expiresIn: '7d' } });

    it('counts days and hours, then hours', async () => {
      const { sandbox, checkout } = week();
      const page = await visit(await checkout());
      const expires = page.getByTestId('expires');
      expect(await expires.textContent()).toMatch(/Expires in (7 d 0|6 d 23) h/);
      await sandbox.advanceTime('25h');
      await expires.filter({ hasText: /5 d (22|23) h/ }).waitFor();
      await sandbox.advanceTime('5d');
      await expires.filter({ hasText: /2[23]:\d\d:\d\d/ }).waitFor();
    });
  });
});

describe('without script', () => {
  it('a card pays, a wallet pays, and cancelling leads back', async () => {
    const { sandbox, origin, checkout } = shop();
    const options = { javaScriptEnabled: false };
    const card = await visit(await checkout(), options);
    await card.getByTestId('pay').click();
    await card.waitForURL(`${origin}/ok`);

    const wallet = await visit(await checkout(), options);
    await chooseWallet(wallet, 'wallet-a');
    await sandbox.completeCheckout(sandbox.checkouts.at(-1)?.id ?? '', { method: 'walletA' });
    await wallet.waitForURL(`${origin}/ok`, { timeout: 10_000 });

    const cancelled = await visit(await checkout(), options);
    await cancelled.getByTestId('cancel').click();
    await cancelled.waitForURL(`${origin}/cart`);
    expect(sandbox.orders).toHaveLength(2);
  });
});

describe('by keyboard alone', () => {
  it('a second card is chosen and paid, in the order of sight', async () => {
    const { sandbox, checkout } = shop();
    const page = await visit(await checkout({ successUrl: undefined }));
    const focusedElement = () => page.evaluate(() => document.activeElement?.getAttribute('data-testid'));
    const seen: (string | null | undefined)[] = [];
    for (let step = 0; step < 4; step++) {
      await page.keyboard.press('Tab');
      seen.push(await focusedElement());
    }
    expect(seen).toEqual(['cancel', 'method-card', 'card-1111', 'pay']);
    await page.keyboard.press('Shift+Tab');
    await page.keyboard.press('ArrowDown');
    expect(await focusedElement()).toBe('card-0002');
    await page.keyboard.press('Enter');
    await page.locator('[data-testid=problem]:focus').waitFor();
    await page.waitForLoadState();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.locator('[data-testid=method-card]:focus').waitFor();
    await page.keyboard.press('ArrowDown');
    expect(await focusedElement()).toBe('method-wallet-a');
    await page.keyboard.press('Enter');
    await page.getByTestId('approve').focus();
    await page.keyboard.press('Enter');
    await page.getByTestId('paid').waitFor();
    expect(sandbox.orders).toMatchObject([{ method: 'walletA' }]);
  });
});

describe('at every width', () => {
  it.each([320, 390, 768, 1280])(
    'of which %i px, nothing scrolls sideways and targets are 44 px high',
    async (width) => {
      const { client, origin, checkout } = shop();
      const product = await client.products.create({
        name: 'Mug'.repeat(60),
        description: 'Unbreakable'.repeat(30),
        price: '123456789.99',
        image: `${origin}/none.png`,
      });
      const page = await visit(await checkout({ productId: product.id }), {
        viewport: { width, height: 700 },
      });
      const pageWidth = () => page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      expect(await pageWidth()).toBeLessThanOrEqual(0);
      const targets = page.locator('button:visible, label:visible');
      for (const target of await targets.all())
        expect((await target.boundingBox())?.height ?? 0).toBeGreaterThanOrEqual(44);
      await chooseWallet(page, 'wallet-a');
      expect(await pageWidth()).toBeLessThanOrEqual(0);
    },
  );

  it.each([320, 760, 1280])('of which %i px, no word of a test card is broken', async (width) => {
    const page = await visit(await shop().checkout(), { viewport: { width, height: 700 } });
    const linesOfWords = await page.locator('.outcome').evaluateAll((outcomes) =>
      outcomes.flatMap(({ firstChild }) =>
        [...(firstChild?.textContent ?? '').matchAll(/\S+/g)].map(({ 0: word, index }) => {
          const range = document.createRange();
          range.setStart(firstChild ?? document, index);
          range.setEnd(firstChild ?? document, index + word.length);
          return [word, range.getClientRects().length];
        }),
      ),
    );
    expect(linesOfWords).toEqual(['Approved', 'Declined', 'Insufficient', 'funds'].map((word) => [word, 1]));
  });

  it('follows the colour scheme of the visitor', async () => {
    const url = await shop().checkout();
    const ground = async (colorScheme: 'light' | 'dark') => {
      const page = await visit(url, { colorScheme });
      return page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    };
    expect(await ground('light')).toBe('rgb(244, 245, 248)');
    expect(await ground('dark')).toBe('rgb(14, 16, 24)');
  });
});

it('shows the current state when the customer comes back to an earlier page', async () => {
  const { sandbox, checkout } = shop();
  const page = await visit(await checkout());
  const comeBack = () =>
    page.evaluate(() => dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true })));
  const [{ id = '' } = {}] = sandbox.checkouts;
  await page.goto(`${sandbox.url}/pay/${id}/done`);
  await page.getByTestId('cancelled').waitFor();
  await sandbox.expireCheckout(id);
  await comeBack();
  await page.getByTestId('expired').waitFor();
});
