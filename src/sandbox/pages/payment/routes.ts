// The payment page lets a customer pay, decline or cancel a checkout of the sandbox.
import type { Context } from 'hono';
import { Hono } from 'hono/tiny';
import { SandboxError } from '../../checks.js';
import type { SandboxContext } from '../../context.js';
import { outOfDate, readForm } from '../../http/input.js';
import { declineReason, type StoredCheckout } from '../../service/records.js';
import { type CheckoutView, viewForPage, type Wallet, walletPath, wallets } from './frame.js';
import { cards, openPage, waitingPage } from './open.js';
import { archivedPage, cancelledPage, expiredPage, paidPage, unknownPage, walletPage } from './over.js';

type Fields = Record<string, string>;
/** Does what a form asks for and returns the result; `undefined` if the page does not offer it. */
type Choose = (checkout: StoredCheckout, fields: Fields, c: Context) => object | undefined;

/** Serves the payment page, which a checkout's `url` opens, and the wallet page, which its QR code opens. Both work without script. */
export function payPages(context: SandboxContext): Hono {
  const { store, payments, guard } = context;
  const pages = new Hono();

  const withCheckout =
    (show: (checkout: StoredCheckout, c: Context) => Response | Promise<Response>) => async (c: Context) => {
      const checkout = store.checkouts.get(c.req.param('id') ?? '');
      return checkout ? show(checkout, c) : unknownPage();
    };
  const withView = (show: (view: CheckoutView, c: Context) => Promise<Response>) =>
    withCheckout((checkout, c) => show(viewForPage(context, checkout), c));

  /** Does what a form asks for and redirects to the page with the result, so that reloading does not repeat it. */
  const form = (choose: Choose, address: (checkout: StoredCheckout, c: Context) => string) =>
    withCheckout(async (checkout, c) => {
      const page = address(checkout, c);
      const fields = await readForm(c.req.raw);
      const refuse = (status: 400 | 403, why: string) =>
        c.text(`${why} Open the payment page again.\n`, status);
      if (!guard.checkToken(checkout.id, fields.token)) return refuse(403, outOfDate);
      try {
        const done = choose(checkout, fields, c);
        if (done === undefined) return refuse(400, 'The page offers no such choice. Nothing was done.');
      } catch (error) {
        if (!(error instanceof SandboxError)) throw error;
      }
      return c.redirect(c.req.param('action') === 'cancel' ? `${page}/done` : page, 303);
    });

  const show = (view: CheckoutView): Promise<Response> => {
    if (view.state === 'paid') return paidPage(view);
    if (view.state === 'cancelled') return cancelledPage(view);
    if (view.state === 'expired') return expiredPage(view);
    if (!view.payable) return archivedPage(view);
    return view.wallet === undefined ? openPage(view) : waitingPage(view, view.wallet);
  };

  const choosePayment: Choose = (checkout, fields, c) => {
    const { id } = checkout;
    const action = c.req.param('action');
    if (action === 'cancel') return payments.cancel(id);
    if (action === 'expire') return payments.expire(id);
    if (action === 'fail') {
      const { data: reason } = declineReason.safeParse(fields.reason ?? 'card_declined');
      return reason && payments.decline(id, reason);
    }
    if (fields.method === 'other') return payments.reopen(id);
    const wallet = wallets.find((one) => one === fields.method);
    if (wallet !== undefined) {
      const approved = fields.approve === 'yes' && checkout.method === wallet;
      return approved ? payments.pay(id, wallet) : payments.await(id, wallet);
    }
    const card = cards.find(({ digits }) => digits === fields.card);
    if (card === undefined || (fields.method ?? 'card') !== 'card') return undefined;
    return card.outcome === 'approved' ? payments.pay(id, 'card') : payments.decline(id, card.outcome);
  };

  const answerInWallet: Choose = (checkout, { answer }, c) => {
    const { id, state, method } = checkout;
    const wallet = walletOf(c);
    if (answer !== 'approve' && answer !== 'decline') return undefined;
    if (state !== 'processing' || method !== wallet) return checkout;
    return answer === 'approve' ? payments.pay(id, wallet) : payments.decline(id, 'wallet_declined');
  };

  const showCancelled = (view: CheckoutView) => (view.payable ? cancelledPage(view) : show(view));
  const showWallet = (view: CheckoutView, c: Context) =>
    view.state === 'expired' ? expiredPage(view) : walletPage(view, walletOf(c));

  pages.get('/pay/:id', withView(show));
  pages.get('/pay/:id/done', withView(showCancelled));
  pages.get('/pay/:id/status', (c) => {
    c.header('cache-control', 'no-store');
    const checkout = store.checkouts.get(c.req.param('id'));
    if (!checkout) return c.json({ state: 'unknown' }, 404);
    const { state, leftMs } = viewForPage(context, checkout);
    return c.json({ state, leftMs });
  });
  const toPay = form(choosePayment, ({ id }) => `/pay/${id}`);
  pages.post('/pay/:id/:action{pay|fail|cancel|expire}', toPay);
  pages.get('/wallet/:id', withView(showWallet));
  const toWallet = form(answerInWallet, ({ id }, c) => walletPath(id, walletOf(c)));
  pages.post('/wallet/:id', toWallet);
  return pages;
}

const walletOf = (c: Context): Wallet => (c.req.query('m') === 'b' ? 'walletB' : 'walletA');
