import { html, raw } from 'hono/html';
import { encode } from 'uqr';
import type { Html } from '../layout.js';
import type { CheckoutView, Wallet } from './checkout-view.js';
import { payFrame, tokenField } from './frame.js';

/** Shows the wallet's QR code until somebody approves. */
export function waitingPage(view: CheckoutView, wallet: Wallet): Promise<Response> {
  const { say } = view;
  return payFrame(
    view,
    html`<section class="waiting" aria-labelledby="waiting">
<div role="status"><h2 id="waiting" data-testid="waiting">${say('waiting')}</h2></div>
<p class="soft">${say('scan')}</p>
${qrCode(view.walletUrl, say('qrLabel'))}
<div class="address"><a href="${view.walletUrl}" target="_blank" rel="noopener" data-testid="wallet-link"><span class="spoken">${say('walletLink')}: </span>${view.walletUrl}</a>
<button class="button small" type="button" data-copy="${view.walletUrl}" data-testid="copy-wallet-link">${say('copy')}</button></div>
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

/** A QR code, black on white in every colour scheme: scanners need that. Each dark stretch of a row is one line. */
function qrCode(text: string, label: string): Html {
  const { size, data } = encode(text, { ecc: 'M', border: 4 });
  const lines = data.flatMap((row, y) =>
    [...row.map(Number).join('').matchAll(/1+/g)].map(
      ({ 0: dark, index }) => `M${index} ${y}.5h${dark.length}`,
    ),
  );
  return html`<svg class="qr" role="img" aria-label="${label}" viewBox="0 0 ${size} ${size}" shape-rendering="crispEdges" data-testid="qr"><path fill="#fff" d="M0 0h${size}v${size}H0z" /><path stroke="#000" d="${raw(lines.join(''))}" /></svg>`;
}
