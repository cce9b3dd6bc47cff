import { html } from 'hono/html';
import type { SandboxContext } from '../../context.js';
import { twoDecimals } from '../../service/money.js';
import type { Product } from '../../service/product.js';
import type { Html } from '../layout.js';
import { actionForm, badge, type FailedAction, listPage } from './frame.js';
import { fullMoment, span } from './moments.js';

/** Every product, newest first, and whether it can be sold. */
export function productsPage(context: SandboxContext, asked?: string, failed?: FailedAction) {
  return listPage({
    title: 'Products',
    tab: '/products',
    items: [...context.store.products.values()],
    asked,
    none: 'No product yet. Create one with your client: it appears here at once.',
    columns: ['Product', 'Price', 'Status', 'Age', ''],
    row: (product) => row(context, product),
    ...failed,
  });
}

function row(context: SandboxContext, { id, name, price, currency, status, createdAt }: Product): Html {
  const [tone, action, label] =
    status === 'ACTIVE'
      ? (['good', 'archive', 'Archive'] as const)
      : (['calm', 'restore', 'Restore'] as const);
  return html`<tr data-testid="product-row">
<td class="main"><bdi class="strong">${name}</bdi><br><code class="soft">${id}</code></td>
<td class="number">${twoDecimals(price)} ${currency}</td>
<td>${badge(status, tone)}</td>
<td class="soft"><time datetime="${createdAt.toISOString()}" title="${fullMoment(createdAt)}">${span(context.clock.now() - createdAt.getTime())}</time></td>
<td class="main">${actionForm(context, `/products/${id}`, html`<button class="button small" name="do" value="${action}" data-testid="${action}">${label}</button>`)}</td></tr>`;
}
