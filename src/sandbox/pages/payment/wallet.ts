import { html } from 'hono/html';
import { checkIcon, crossIcon, phoneIcon } from '../icons.js';
import type { CheckoutView, Wallet } from './checkout-view.js';
import { tokenField } from './frame.js';
import { notePage } from './over.js';

/**
 * The sandbox's pretend wallet, which the QR code opens. It is no real wallet's format. It asks for approval while
 * the payment page waits for this wallet, then shows the result.
 */
export function walletPage(view: CheckoutView, wallet: Wallet, payable: boolean): Promise<Response> {
  const { say, amount, merchant } = view;
  if (payable && view.wallet === wallet)
    return notePage({
      ...view,
      testId: 'wallet',
      icon: phoneIcon,
      tone: 'calm',
      heading: say('walletHeading', { amount }),
      text: say(wallet),
      more: html`<dl class="receipt"><dt>${say('merchant')}</dt><dd><bdi>${merchant}</bdi></dd>
<dt>${say('product')}</dt><dd><bdi>${view.name}</bdi></dd></dl>`,
      ways: [
        html`<form method="post">${tokenField(view)}
<button class="button primary wide" name="answer" value="approve" data-testid="approve">${say('approve')}</button>
<button class="button wide" name="answer" value="decline" data-testid="decline">${say('decline')}</button></form>`,
      ],
    });
  if (view.state === 'paid' && view.method === wallet)
    return notePage({
      ...view,
      testId: 'wallet-approved',
      icon: checkIcon,
      tone: 'good',
      heading: say('walletApproved'),
      text: say('walletApprovedText', { amount, merchant }),
    });
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
