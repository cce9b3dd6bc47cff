import { html } from 'hono/html';
import { Hono } from 'hono/tiny';
import type { SandboxContext } from '../../context.js';
import { readForm } from '../../http/body.js';
import { SandboxError } from '../../sandbox-error.js';
import { checkIcon, crossIcon, phoneIcon } from '../icons.js';
import { type CheckoutView, viewForPage, type Wallet } from './checkout-view.js';
import { tokenField } from './frame.js';
import { speaker } from './messages.js';
import { expiredPage, notePage, wrongPage } from './over.js';

/** The sandbox's pretend wallet, which the QR code opens. Not the format of any real one. */
export function walletPages(context: SandboxContext): Hono {
  const { store, payments, guard, settings } = context;
  const pages = new Hono();
  const texts = { say: speaker(settings.messages), lang: settings.messages.lang };

  pages.get('/wallet/:id', (c) => {
    const checkout = store.checkouts.get(c.req.param('id'));
    if (!checkout) return wrongPage(texts, 'unknown', 404);
    const wallet = walletOf(c.req.query('m'));
    const view = viewForPage(context, checkout);
    if (view.state === 'expired') return expiredPage(view);
    if (view.wallet === wallet && payments.problem(checkout) === undefined) return askPage(view, wallet);
    if (view.state === 'paid' && checkout.method === wallet) return approvedPage(view);
    return nothingPage(view, wallet);
  });

  pages.post('/wallet/:id', async (c) => {
    const checkout = store.checkouts.get(c.req.param('id'));
    if (!checkout) return wrongPage(texts, 'unknown', 404);
    const fields = await readForm(c.req.raw);
    const wallet = walletOf(c.req.query('m'));
    const here = `/wallet/${checkout.id}?m=${wallet === 'walletB' ? 'b' : 'a'}`;
    if (!guard.checkToken(checkout.id, fields.token)) return wrongPage(texts, 'staleForm', 403, here);
    if (fields.answer !== 'approve' && fields.answer !== 'decline')
      return wrongPage(texts, 'badChoice', 400, here);
    try {
      if (checkout.state === 'processing' && checkout.method === wallet) {
        if (fields.answer === 'approve') payments.pay(checkout.id, wallet);
        else payments.decline(checkout.id, 'wallet_declined');
      }
    } catch (error) {
      if (!(error instanceof SandboxError)) throw error;
    }
    return c.redirect(here, 303);
  });

  return pages;
}

const walletOf = (letter: string | undefined): Wallet => (letter === 'b' ? 'walletB' : 'walletA');

function askPage(view: CheckoutView, wallet: Wallet): Promise<Response> {
  const { say } = view;
  return notePage({
    ...view,
    testId: 'wallet',
    icon: phoneIcon,
    tone: 'calm',
    heading: say('walletHeading', { amount: view.amount }),
    text: say(wallet),
    more: html`<dl class="receipt"><dt>${say('merchant')}</dt><dd><bdi>${view.merchant}</bdi></dd>
<dt>${say('product')}</dt><dd><bdi>${view.name}</bdi></dd></dl>`,
    ways: [
      html`<form method="post">${tokenField(view)}
<button class="button primary wide" name="answer" value="approve" data-testid="approve">${say('approve')}</button>
<button class="button wide" name="answer" value="decline" data-testid="decline">${say('decline')}</button></form>`,
    ],
  });
}

function approvedPage(view: CheckoutView): Promise<Response> {
  const { say, amount, merchant } = view;
  return notePage({
    ...view,
    testId: 'wallet-approved',
    icon: checkIcon,
    tone: 'good',
    heading: say('walletApproved'),
    text: say('walletApprovedText', { amount, merchant }),
  });
}

function nothingPage(view: CheckoutView, wallet: Wallet): Promise<Response> {
  const { say } = view;
  const declined = view.declined === 'wallet_declined';
  return notePage({
    ...view,
    testId: declined ? 'wallet-declined' : 'wallet-nothing',
    icon: crossIcon,
    tone: 'calm',
    heading: say(declined ? 'walletDeclined' : 'walletNothing'),
    text: say(declined ? 'walletDeclinedText' : 'walletNothingText', { wallet: say(wallet) }),
    status: declined ? 200 : 409,
  });
}
