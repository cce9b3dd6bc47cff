import { html, raw } from 'hono/html';
import { encode } from 'uqr';
import { isLoopback } from '../../../input/url.js';
import { type Html, icon } from '../layout.js';
import { type CheckoutView, payForm, payFrame, type Wallet, wallets } from './frame.js';

/** The test cards that can be chosen, by their last four digits. There is no field for a number. */
export const cards = [
  { digits: '1111', outcome: 'approved', label: 'cardApproved' },
  { digits: '0002', outcome: 'card_declined', label: 'cardDeclined' },
  { digits: '9995', outcome: 'insufficient_funds', label: 'cardLacksFunds' },
] as const;

export function openPage(view: CheckoutView): Promise<Response> {
  const { say } = view;
  const testCards = cards.map(({ digits, outcome, label }) => {
    const approved = outcome === 'approved';
    return html`<label><input type="radio" name="card" value="${digits}"${approved && html` checked`} data-testid="card-${digits}"><span class="digits">•••• ${digits}</span><span class="outcome ${approved ? 'good' : 'bad'}">${say(label)}</span></label>`;
  });
  const form = html`<fieldset class="methods"${view.declined !== undefined && html` aria-describedby="problem-text"`}>
<legend><h2>${say('chooseMethod')}</h2></legend>
<div class="group">
<div class="method">
<label><input type="radio" name="method" value="card" id="method-card" checked data-testid="method-card">${icon('card')}<span>${say('card')}</span></label>
<fieldset class="cards">
<legend class="spoken">${say('chooseCard')}</legend>
${testCards}
<p class="soft small">${say('cardHint')}</p>
</fieldset>
</div>
${wallets.map(
  (wallet) => html`<div class="method">
<label><input type="radio" name="method" value="${wallet}" data-testid="method-${wallet === 'walletA' ? 'wallet-a' : 'wallet-b'}">${icon('phone')}<span>${say(wallet)}</span></label>
<p class="soft small">${say('walletHint')}</p>
</div>`,
)}
</div>
</fieldset>
<button class="button primary wide" data-testid="pay"><span class="for-card">${say('pay')}</span>${wallets.map(
    (wallet) => html`<span class="for-${wallet}">${say('continueWith', { wallet: say(wallet) })}</span>`,
  )}</button>`;
  return payFrame(view, html`${declinedNotice(view)}${payForm(view, 'pay', form)}`);
}

/** After a declined card or wallet, above the form. It takes the focus and leads to the choice that fixes it. */
function declinedNotice({ declined, say }: CheckoutView): Html | undefined {
  if (declined === undefined) return undefined;
  return html`<div class="notice bad" role="alert" tabindex="-1" autofocus data-testid="problem">${icon('alert')}<div>
<h2>${say('problemHeading')}</h2>
<p id="problem-text">${say(declined)}</p>
<p><a href="#method-card">${say('problemFix')}</a></p>
</div></div>`;
}

export function waitingPage(view: CheckoutView, wallet: Wallet): Promise<Response> {
  const { say, walletUrl } = view;
  const content = html`<section class="waiting" aria-labelledby="waiting">
<div role="status"><h2 id="waiting" data-testid="waiting">${say('waiting')}</h2></div>
<p class="soft">${say('scan')}</p>
${qrCode(walletUrl, say('qrLabel'))}
<div class="address"><a href="${walletUrl}" target="_blank" rel="noopener" data-testid="wallet-link"><span class="spoken">${say('walletLink')}: </span>${walletUrl}</a>
<button class="button small" type="button" data-copy="${walletUrl}" data-testid="copy-wallet-link">${say('copy')}</button></div>
${isLoopback(new URL(walletUrl)) && html`<p class="soft small">${say('loopbackOnly')}</p>`}
<h3 class="or">${say('here')}</h3>
<div class="pair">
${payForm(view, 'pay', html`<input type="hidden" name="method" value="${wallet}"><button class="button primary wide" name="approve" value="yes" data-testid="approve">${say('approve')}</button>`)}
${payForm(view, 'fail', html`<button class="button wide" name="reason" value="wallet_declined" data-testid="decline">${say('decline')}</button>`)}
</div>
${payForm(view, 'pay', html`<button class="plain" name="method" value="other" data-testid="other-method">${say('otherMethod')}</button>`)}
</section>`;
  return payFrame(view, content);
}

/** A QR code, always black on white, for scanners. uqr's own SVG draws each module by itself: over 30 KB. */
function qrCode(text: string, label: string): Html {
  const { size, data } = encode(text, { ecc: 'M', border: 4 });
  const lines = data.flatMap((row, y) => {
    const stretches = row.map(Number).join('').matchAll(/1+/g);
    return Array.from(stretches, ({ 0: dark, index }) => `M${index} ${y}.5h${dark.length}`);
  });
  return html`<svg class="qr" role="img" aria-label="${label}" viewBox="0 0 ${size} ${size}" shape-rendering="crispEdges" data-testid="qr"><path fill="#fff" d="M0 0h${size}v${size}H0z" /><path stroke="#000" d="${raw(lines.join(''))}" /></svg>`;
}
