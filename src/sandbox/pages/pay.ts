import { html } from 'hono/html';
import { Hono } from 'hono/tiny';
import type { SandboxContext } from '../context.js';
import type { CheckoutRecord } from '../records.js';
import { SandboxError } from '../sandbox-error.js';
import { page } from './layout.js';

const cards: Record<string, 'card_declined' | 'insufficient_funds' | 'approved'> = {
  '1111': 'approved',
  '0002': 'card_declined',
  '9995': 'insufficient_funds',
};

/** The hosted payment page: what a checkout's `url` opens. */
export function payPages(context: SandboxContext): Hono {
  const { store, payments, guard, settings } = context;
  const pages = new Hono();

  pages.get('/pay/:id', (c) => {
    const checkout = store.checkouts.get(c.req.param('id'));
    if (!checkout) return unknown();
    if (checkout.state === 'paid') return c.redirect(`/pay/${checkout.id}/done`, 303);
    return payments.problem(checkout) === undefined ? form(checkout) : over(checkout);
  });

  pages.get('/pay/:id/status', (c) => {
    const checkout = store.checkouts.get(c.req.param('id'));
    return checkout ? c.json({ state: checkout.state }) : c.json({ state: 'unknown' }, 404);
  });

  pages.get('/pay/:id/done', (c) => {
    const checkout = store.checkouts.get(c.req.param('id'));
    if (!checkout) return unknown();
    const paid = checkout.state === 'paid';
    const next = context.returnUrl(checkout.id, paid ? 'success' : 'cancel');
    const heading = paid ? `Paid ${checkout.amount} ${checkout.currency}` : 'Payment cancelled';
    return page(
      heading,
      html`<h1>${heading}</h1>
        ${paid ? html`<p>Order ${checkout.orderId}</p>` : ''}
        ${next === undefined ? '' : html`<p><a href="${next}">Back to the shop</a></p>`}
        ${paid ? '' : html`<p><a href="/pay/${checkout.id}">Return to payment</a></p>`}`,
      { headers: next === undefined ? {} : { refresh: `1; url=${next}` } },
    );
  });

  pages.post('/pay/:id/:action{pay|fail|cancel}', async (c) => {
    const checkout = store.checkouts.get(c.req.param('id'));
    if (!checkout) return unknown();
    const fields = await c.req.parseBody();
    if (!guard.checkToken(checkout.id, fields.token)) return c.text('The form is not from this page.', 403);
    const action = c.req.param('action');
    const outcome = action === 'fail' ? 'card_declined' : cards[String(fields.card ?? '1111')];
    if (outcome === undefined) return c.text('There is no such test card.', 400);
    try {
      if (action === 'cancel') payments.cancel(checkout.id);
      else if (outcome === 'approved') payments.pay(checkout.id, 'card');
      else payments.decline(checkout.id, outcome);
    } catch (error) {
      if (!(error instanceof SandboxError)) throw error;
      return c.redirect(`/pay/${checkout.id}`, 303);
    }
    const declined = action !== 'cancel' && outcome !== 'approved';
    return c.redirect(`/pay/${checkout.id}${declined ? '' : '/done'}`, 303);
  });

  function form(checkout: CheckoutRecord) {
    const product = payments.product(checkout.productId);
    const token = html`<input type="hidden" name="token" value="${guard.token(checkout.id)}" />`;
    return page(
      product.name,
      html`<form method="post" action="/pay/${checkout.id}/cancel">
          ${token}<button>Back to ${checkout.displayMerchantName ?? settings.merchantName}</button>
        </form>
        <h1>${product.name}</h1>
        <p>${checkout.amount} ${checkout.currency}</p>
        ${checkout.declined === undefined ? '' : html`<p role="alert">The payment failed: ${checkout.declined}.</p>`}
        <form method="post" action="/pay/${checkout.id}/pay">
          ${token}
          <fieldset>
            <legend>Test card</legend>
            <label><input type="radio" name="card" value="1111" checked /> •••• 1111 is approved</label><br />
            <label><input type="radio" name="card" value="0002" /> •••• 0002 is declined</label><br />
            <label><input type="radio" name="card" value="9995" /> •••• 9995 lacks funds</label>
          </fieldset>
          <button>Pay ${checkout.amount} ${checkout.currency}</button>
        </form>`,
    );
  }

  function over(checkout: CheckoutRecord) {
    const archived = checkout.state === 'open' || checkout.state === 'processing';
    const back = context.returnUrl(checkout.id, 'cancel');
    const heading = archived
      ? 'This product is no longer sold'
      : `This payment link ${checkout.state === 'expired' ? 'has expired' : 'is cancelled'}`;
    const link = back === undefined ? '' : html`<p><a href="${back}">Back to the shop</a></p>`;
    return page(heading, html`<h1>${heading}</h1>${link}`, { status: archived ? 409 : 410 });
  }

  return pages;
}

const unknown = () => page('Unknown payment', html`<h1>There is no such payment</h1>`, { status: 404 });
