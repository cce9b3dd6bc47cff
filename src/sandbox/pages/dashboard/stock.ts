import { html } from 'hono/html';
import type { SandboxContext } from '../../context.js';
import type { StoredCheckout } from '../../service/checkout.js';
import { twoDecimals } from '../../service/money.js';
import type { Product } from '../../service/product.js';
import type { Html } from '../layout.js';
import { type Asked, actionForm, ageCell, badge, listPage } from './frame.js';

/** Every product, newest first, and whether it can be sold. */
export const productsPage = (context: SandboxContext, asked: Asked) =>
  listPage(asked, {
    title: 'Products',
    tab: '/products',
    items: [...context.store.products.values()],
    none: 'No product yet. Create one with your client: it appears here at once.',
    columns: ['Product', 'Price', 'Status', 'Age', ''],
    row: (product) => productRow(context, product),
  });

/** Every checkout session, newest first, with what a customer could do with it. */
export const checkoutsPage = (context: SandboxContext, asked: Asked) =>
  listPage(asked, {
    title: 'Checkouts',
    tab: '/checkouts',
    items: [...context.store.checkouts.values()],
    none: 'No checkout yet. Create one with your client: it appears here at once.',
    columns: ['Product', 'Amount', 'State', 'Age', ''],
    row: (checkout) => checkoutRow(context, checkout),
  });

function productRow(context: SandboxContext, product: Product): Html {
  const { id, name, price, currency, status, createdAt } = product;
  const sold = status === 'ACTIVE';
  const button = sold ? doButton('archive', 'Archive') : doButton('restore', 'Restore');
  return html`<tr data-testid="product-row">
${nameCell(name, id)}
<td class="number">${twoDecimals(price)} ${currency}</td>
<td>${badge(status, sold ? 'good' : 'calm')}</td>
${ageCell(createdAt, context.clock.now())}
<td class="main">${actionForm(context, `/products/${id}`, button)}</td></tr>`;
}

const tones = { open: 'calm', processing: 'warn', paid: 'good', cancelled: 'calm', expired: 'bad' } as const;

function checkoutRow(context: SandboxContext, checkout: StoredCheckout): Html {
  const { payments, clock } = context;
  const { id, productId, state, amount, currency, createdAt, declined } = checkout;
  const buttons = html`${doButton('pay', 'Pay')} ${doButton('decline', 'Decline')} ${doButton('expire', 'Expire')}`;
  const payable = payments.problem(checkout) === undefined;
  return html`<tr data-testid="checkout-row">
${nameCell(payments.product(productId).name, id)}
<td class="number">${amount} ${currency}</td>
<td>${badge(state, tones[state])}${declined !== undefined && html`<br><span class="soft small">${declined}</span>`}</td>
${ageCell(createdAt, clock.now())}
<td class="main"><div class="row-actions"><a class="button small" href="/pay/${id}">Open page</a>
${payable && actionForm(context, `/checkouts/${id}`, buttons)}</div></td></tr>`;
}

const nameCell = (name: string, id: string): Html =>
  html`<td class="main"><bdi class="strong">${name}</bdi><br><code class="soft">${id}</code></td>`;

const doButton = (what: string, label: string): Html =>
  html`<button class="button small" name="do" value="${what}" data-testid="${what}">${label}</button>`;
