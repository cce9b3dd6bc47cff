import { html } from 'hono/html';
import type { CheckoutView, Wallet } from './checkout-view.js';
import { payFrame, tokenField } from './frame.js';
import { qrCode } from './qr.js';

/** The code of the wallet that was chosen, until somebody approves. */
export function waitingPage(view: CheckoutView, wallet: Wallet): Promise<Response> {
  const { say } = view;
  const name = say(wallet);
  return payFrame(
    view,
    html`<section class="waiting" aria-labelledby="waiting">
<div role="status"><h2 id="waiting" data-testid="waiting">${say('waiting')}</h2></div>
<p class="soft">${say('scan', { wallet: name })}</p>
${qrCode(view.walletUrl, say('qrLabel', { wallet: name }))}
<div class="address"><a href="${view.walletUrl}" target="_blank" rel="noopener" data-testid="wallet-link"><span class="spoken">${say('walletLink')}: </span>${view.walletUrl}</a>
<button class="button small" type="button" hidden data-copy="${view.walletUrl}" data-testid="copy-wallet-link">${say('copy')}</button></div>
${view.loopback && html`<p class="soft small">${say('loopbackOnly')}</p>`}
<h3 class="or">${say('here')}</h3>
<div class="pair">
<form method="post" action="/pay/${view.id}/pay">${tokenField(view)}<input type="hidden" name="method" value="${wallet}"><input type="hidden" name="approve" value="yes">
<button class="button primary wide" data-testid="approve">${say('approve')}</button></form>
<form method="post" action="/pay/${view.id}/fail">${tokenField(view)}<input type="hidden" name="reason" value="wallet_declined">
<button class="button wide" data-testid="decline">${say('decline')}</button></form>
</div>
<form method="post" action="/pay/${view.id}/pay">${tokenField(view)}<input type="hidden" name="method" value="other">
<button class="plain" data-testid="other-method">${say('otherMethod')}</button></form>
</section>`,
  );
}
