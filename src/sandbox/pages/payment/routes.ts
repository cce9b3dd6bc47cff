import type { Context } from 'hono';
import { Hono } from 'hono/tiny';
import type { SandboxContext } from '../../context.js';
import { readForm } from '../../http/body.js';
import { SandboxError } from '../../sandbox-error.js';
import type { StoredCheckout } from '../../service/checkout.js';
import { viewForPage } from './checkout-view.js';
import { speaker } from './messages.js';
import { cards, openPage, wallets } from './open.js';
import { archivedPage, cancelledPage, expiredPage, paidPage, wrongPage } from './over.js';
import { waitingPage } from './waiting.js';

/** The hosted payment page: what a checkout's `url` opens. It works without script. */
export function payPages(context: SandboxContext): Hono {
  const { store, payments, guard, settings } = context;
  const pages = new Hono();
  const texts = { say: speaker(settings.messages), lang: settings.messages.lang };

  pages.get('/pay/:id', (c) => {
    const checkout = store.checkouts.get(c.req.param('id'));
    return checkout ? show(checkout) : wrongPage(texts, 'unknown', 404);
  });

  pages.get('/pay/:id/done', (c) => {
    const checkout = store.checkouts.get(c.req.param('id'));
    if (!checkout) return wrongPage(texts, 'unknown', 404);
    const payable = payments.problem(checkout) === undefined;
    return payable ? cancelledPage(viewForPage(context, checkout), true) : show(checkout);
  });

  pages.get('/pay/:id/status', (c) => {
    c.header('cache-control', 'no-store');
    const checkout = store.checkouts.get(c.req.param('id'));
    if (!checkout) return c.json({ state: 'unknown' }, 404);
    const { state, leftMs } = viewForPage(context, checkout);
    return c.json({ state, leftMs });
  });

  pages.post('/pay/:id/:action{pay|fail|cancel|expire}', async (c) => {
    const checkout = store.checkouts.get(c.req.param('id'));
    if (!checkout) return wrongPage(texts, 'unknown', 404);
    const fields = await readForm(c.req.raw);
    if (!guard.checkToken(checkout.id, fields.token))
      return wrongPage(texts, 'staleForm', 403, `/pay/${checkout.id}`);
    const act = choice(c.req.param('action'), fields, checkout);
    if (act === undefined) return wrongPage(texts, 'badChoice', 400, `/pay/${checkout.id}`);
    return after(c, checkout, act);
  });

  /** What a form asks for; `undefined` where the page offers no such thing. */
  function choice(action: string, fields: Record<string, unknown>, checkout: StoredCheckout) {
    const { id } = checkout;
    if (action === 'cancel') return () => payments.cancel(id);
    if (action === 'expire') return () => payments.expire(id);
    if (action === 'fail') {
      const { reason = 'card_declined' } = fields;
      const known = (['card_declined', 'insufficient_funds', 'wallet_declined'] as const).find(
        (one) => one === reason,
      );
      return known && (() => payments.decline(id, known));
    }
    if (fields.method === 'other') return () => payments.reopen(id);
    const wallet = wallets.find((one) => one === fields.method);
    if (wallet !== undefined) {
      const approved = fields.approve === 'yes' && checkout.method === wallet;
      return () => (approved ? payments.pay(id, wallet) : payments.await(id, wallet));
    }
    const card = cards.find(({ digits }) => digits === fields.card);
    if (card === undefined || (fields.method ?? 'card') !== 'card') return undefined;
    const { outcome } = card;
    return () => (outcome === 'approved' ? payments.pay(id, 'card') : payments.decline(id, outcome));
  }

  /** Acts, and leads to the page that shows what came of it, so that reloading it does nothing again. */
  function after(c: Context, checkout: StoredCheckout, act: () => unknown) {
    const cancels = c.req.param('action') === 'cancel';
    try {
      act();
    } catch (error) {
      if (!(error instanceof SandboxError)) throw error;
      return c.redirect(`/pay/${checkout.id}`, 303);
    }
    return c.redirect(`/pay/${checkout.id}${cancels || checkout.state === 'paid' ? '/done' : ''}`, 303);
  }

  function show(checkout: StoredCheckout): Promise<Response> {
    const view = viewForPage(context, checkout);
    if (view.state === 'paid') return paidPage(view);
    if (view.state === 'cancelled') return cancelledPage(view, false);
    if (view.state === 'expired') return expiredPage(view);
    if (payments.problem(checkout) !== undefined) return archivedPage(view);
    return view.wallet === undefined ? openPage(view) : waitingPage(view, view.wallet);
  }

  return pages;
}
