import { html } from 'hono/html';
import { parseAbsoluteUrl, unsafeSchemes } from '../../../input/url.js';
import type { SandboxContext } from '../../context.js';
import { span } from '../../service/clock.js';
import type { StoredCheckout } from '../../service/records.js';
import { type Html, icon, type PageParts, page, postForm } from '../layout.js';
import { fullTime } from '../time.js';
import { payStyle } from './style.js';

/** Wallets that can be chosen, with their names on the page. */
export const walletNames = { walletA: 'Wallet A', walletB: 'Wallet B' } as const;
export const wallets = ['walletA', 'walletB'] as const;
export type Wallet = (typeof wallets)[number];

/** A checkout as the payment page shows it. Its URLs are safe to link to. */
export type CheckoutView = ReturnType<typeof viewForPage>;

export function viewForPage(context: SandboxContext, checkout: StoredCheckout) {
  const { settings, store, payments, clock, guard, listening } = context;
  const { id, state, expiresAt, method, orderId } = checkout;
  const { name, description, image } = payments.product(checkout.productId);
  const merchant = checkout.displayMerchantName || settings.merchantName;
  const amount = `${checkout.amount} ${checkout.currency}`;
  const awaited = state === 'processing' || state === 'expired';
  const wallet = awaited && method !== 'card' ? method : undefined;
  const event = [...store.events.values()].find(({ data }) => data.order_id === orderId);
  return {
    ...checkout,
    payable: payments.problem(checkout) === undefined,
    token: guard.token(id),
    merchant,
    name,
    description,
    image: safeUrl(image ?? undefined, /^https?:$/),
    /** The amount as the API returns it, with the currency: `19.90 USD`. */
    amount,
    /** The wallet whose approval is pending, or was pending when the checkout expired. */
    wallet,
    walletUrl: listening.origin + walletPath(id, wallet),
    leftMs: Math.max(0, expiresAt.getTime() - clock.now()),
    clockRuns: clock.runs,
    /** Absent until the checkout is paid, so that nobody learns the URL of the shop's thank-you page without paying. */
    successUrl: state === 'paid' ? safeUrl(checkout.successUrl) : undefined,
    cancelUrl: safeUrl(checkout.cancelUrl),
    eventId: event?.id,
  };
}

export const walletPath = (id: string, wallet: Wallet | undefined) =>
  `/wallet/${id}?m=${wallet === 'walletB' ? 'b' : 'a'}`;

/** Returns a URL if it is safe in a page, which means that it is absolute and its scheme runs no code. */
function safeUrl(text: string | undefined, scheme = /:$/): string | undefined {
  const url = text === undefined ? undefined : parseAbsoluteUrl(text);
  return url && scheme.test(url.protocol) && !unsafeSchemes.includes(url.protocol) ? text : undefined;
}

export const payPage = (parts: Omit<PageParts, 'style' | 'banner'>) =>
  page({ ...parts, banner: 'Sandbox: no money moves. Never enter a real card.', style: payStyle });

/** Returns the payment page of a checkout that can be paid, with the product on one side and `content` on the other. */
export function payFrame(view: CheckoutView, content: Html): Promise<Response> {
  return payPage({
    title: `Pay ${view.merchant} · ${view.amount}`,
    head: view.state === 'processing' && html`<noscript><meta http-equiv="refresh" content="5"></noscript>`,
    content: html`<main class="split" data-of-checkout data-id="${view.id}" data-state="${view.state}" data-left="${view.leftMs}" data-runs="${String(view.clockRuns)}">
<div class="sold"><div class="column">
${payForm(view, 'cancel', html`<button class="back" data-testid="cancel">${icon('arrow')}<bdi>Back to ${view.merchant}</bdi></button>`)}
${productCard(view)}
${expiry(view)}
</div></div>
<div class="paying"><div class="column">
${content}
${developer(view)}
</div></div>
<div class="spoken" role="status" data-say></div>
</main>`,
  });
}

type Action = 'pay' | 'fail' | 'cancel' | 'expire';

export const payForm = ({ id, token }: CheckoutView, action: Action, content: Html): Html =>
  postForm(`/pay/${id}/${action}`, token, content);

function productCard({ image, name, amount, description }: CheckoutView): Html {
  const [number, currency] = amount.split(' ');
  return html`<section class="product${image === undefined ? '' : ' pictured'}" aria-labelledby="product-name">
<div class="picture">${icon('parcel', 32)}${image !== undefined && html`<img src="${image}" alt="" referrerpolicy="no-referrer">`}</div>
<div>
<h1 id="product-name" data-testid="product-name"><bdi>${name}</bdi></h1>
<p class="amount" data-testid="amount">${number} <span class="currency">${currency}</span></p>
${description && html`<p class="description" data-testid="description"><bdi>${description}</bdi></p>`}
</div>
</section>`;
}

function expiry({ expiresAt, leftMs }: CheckoutView): Html {
  return html`<p class="expiry small" data-testid="expires">${icon('clock', 16)}<span aria-hidden="true">Expires in <span data-countdown>${span(leftMs)}</span></span>
<span class="spoken">This payment link expires at ${fullTime(expiresAt)}.</span></p>`;
}

function developer(view: CheckoutView): Html {
  const { id, state, cancelUrl = '–' } = view;
  const ways = html`<button class="button small" data-testid="expire-now">Expire now</button>
<a class="button small" href="/checkouts">Open the dashboard</a>`;
  return html`<details class="developer" data-testid="developer"><summary>Developer</summary>
<dl class="facts">
<dt>Checkout</dt><dd><code>${id}</code></dd>
<dt>State</dt><dd><code data-testid="state">${state}</code></dd>
<dt>cancelUrl</dt><dd><code>${cancelUrl}</code></dd>
</dl>
${payForm(view, 'expire', ways)}</details>`;
}
