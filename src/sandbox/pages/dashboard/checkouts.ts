import { html } from 'hono/html';
import type { SandboxContext } from '../../context.js';
import type { CheckoutState, StoredCheckout } from '../../service/checkout.js';
import type { Html } from '../layout.js';
import { actionForm, badge, type FailedAction, listPage } from './frame.js';
import { fullMoment, span } from './moments.js';

const tones = {
  open: 'calm',
  processing: 'warn',
  paid: 'good',
  cancelled: 'calm',
  expired: 'bad',
} as const satisfies Record<CheckoutState, string>;

/** Every checkout session, newest first, with what a customer could do with it. */
export function checkoutsPage(context: SandboxContext, asked?: string, failed?: FailedAction) {
  return listPage({
    title: 'Checkouts',
    tab: '/checkouts',
    items: [...context.store.checkouts.values()],
    asked,
    none: 'No checkout yet. Create one with your client: it appears here at once.',
    columns: ['Product', 'Amount', 'State', 'Age', ''],
    row: (checkout) => row(context, checkout),
    ...failed,
  });
}

function row(context: SandboxContext, checkout: StoredCheckout): Html {
  const { payments, clock } = context;
  const { id, state, amount, currency, createdAt, declined } = checkout;
  const payable = payments.problem(checkout) === undefined;
  return html`<tr data-testid="checkout-row">
<td class="main"><bdi class="strong">${payments.product(checkout.productId).name}</bdi><br><code class="soft">${id}</code></td>
<td class="number">${amount} ${currency}</td>
<td>${badge(state, tones[state])}${declined !== undefined && html`<br><span class="soft small">${declined}</span>`}</td>
<td class="soft"><time datetime="${createdAt.toISOString()}" title="${fullMoment(createdAt)}">${span(clock.now() - createdAt.getTime())}</time></td>
<td class="main"><div class="row-actions"><a class="button small" href="/pay/${id}">Open page</a>
${
  payable &&
  actionForm(
    context,
    `/checkouts/${id}`,
    html`<button class="button small" name="do" value="pay" data-testid="pay">Pay</button>
<button class="button small" name="do" value="decline">Decline</button>
<button class="button small" name="do" value="expire">Expire</button>`,
  )
}</div></td></tr>`;
}
