import { html, raw } from 'hono/html';
import { encode } from 'uqr';
import { isLoopback } from '../../../input/url.js';
import type { DeclineReason } from '../../service/records.js';
import { type Html, icon } from '../layout.js';
import { type CheckoutView, payForm, payFrame, type Wallet, walletNames, wallets } from './frame.js';

/** Test cards that can be chosen, by their last four digits. The page has no field for a card number. */
export const cards = [
  { digits: '1111', outcome: 'approved', label: 'Approved' },
  { digits: '0002', outcome: 'card_declined', label: 'Declined' },
  { digits: '9995', outcome: 'insufficient_funds', label: 'Insufficient funds' },
] as const;

export function openPage(view: CheckoutView): Promise<Response> {
  const testCards = cards.map(({ digits, outcome, label }) => {
    const approved = outcome === 'approved';
    return html`<label><input type="radio" name="card" value="${digits}"${approved && html` checked`} data-testid="card-${digits}"><span class="digits">•••• ${digits}</span><span class="outcome ${approved ? 'good' : 'bad'}">${label}</span></label>`;
  });
  const form = html`<fieldset class="methods"${view.declined !== undefined && html` aria-describedby="problem-text"`}>
<legend><h2>How would you like to pay?</h2></legend>
<div class="group">
<div class="method">
<label><input type="radio" name="method" value="card" id="method-card" checked data-testid="method-card">${icon('card')}<span>Card</span></label>
<fieldset class="cards">
<legend class="spoken">Test card</legend>
${testCards}
<p class="soft small">There is no field for a card number: each test card has its outcome.</p>
</fieldset>
</div>
${wallets.map(
  (wallet) => html`<div class="method">
<label><input type="radio" name="method" value="${wallet}" data-testid="method-${wallet === 'walletA' ? 'wallet-a' : 'wallet-b'}">${icon('phone')}<span>${walletNames[wallet]}</span></label>
<p class="soft small">You get a code to scan with your phone, or to approve on this machine.</p>
</div>`,
)}
</div>
</fieldset>
<button class="button primary wide" data-testid="pay"><span class="for-card">Pay ${view.amount}</span>${wallets.map(
    (wallet) => html`<span class="for-${wallet}">Continue with ${walletNames[wallet]}</span>`,
  )}</button>`;
  return payFrame(view, html`${declinedNotice(view)}${payForm(view, 'pay', form)}`);
}

/** Messages of the page, by the reason why a payment was declined. */
const declines: Record<DeclineReason, string> = {
  card_declined: 'The card was declined. Nothing was charged.',
  insufficient_funds: 'The card has insufficient funds. Nothing was charged.',
  wallet_declined: 'The payment was declined in the wallet. Nothing was charged.',
};

/** Returns the notice above the form after a declined payment. The notice takes the focus and links to the choice of method. */
function declinedNotice({ declined }: CheckoutView): Html | undefined {
  if (declined === undefined) return undefined;
  return html`<div class="notice bad" role="alert" tabindex="-1" autofocus data-testid="problem">${icon('alert')}<div>
<h2>The payment did not go through</h2>
<p id="problem-text">${declines[declined]}</p>
<p><a href="#method-card">Choose how to pay and try again.</a></p>
</div></div>`;
}

export function waitingPage(view: CheckoutView, wallet: Wallet): Promise<Response> {
  const { walletUrl } = view;
  const name = walletNames[wallet];
  const content = html`<section class="waiting" aria-labelledby="waiting">
<div role="status"><h2 id="waiting" data-testid="waiting">Waiting for approval</h2></div>
<p class="soft">Scan the code with your phone’s camera and approve the payment in ${name}.</p>
${qrCode(walletUrl, `QR code that opens this payment in ${name}`)}
<div class="address"><a href="${walletUrl}" target="_blank" rel="noopener" data-testid="wallet-link"><span class="spoken">The code’s address: </span>${walletUrl}</a>
<button class="button small" type="button" data-copy="${walletUrl}" data-testid="copy-wallet-link">Copy</button></div>
${isLoopback(new URL(walletUrl)) && html`<p class="soft small">A phone cannot reach this address: start the sandbox with --host and --public-url.</p>`}
<h3 class="or">On this machine</h3>
<div class="pair">
${payForm(view, 'pay', html`<input type="hidden" name="method" value="${wallet}"><button class="button primary wide" name="approve" value="yes" data-testid="approve">Approve</button>`)}
${payForm(view, 'fail', html`<button class="button wide" name="reason" value="wallet_declined" data-testid="decline">Decline</button>`)}
</div>
${payForm(view, 'pay', html`<button class="plain" name="method" value="other" data-testid="other-method">Choose another way to pay</button>`)}
</section>`;
  return payFrame(view, content);
}

/** Returns a QR code, always black on white for scanners. uqr's own SVG draws each module separately and is over 30 KB, so rows are merged. */
function qrCode(text: string, label: string): Html {
  const { size, data } = encode(text, { ecc: 'M', border: 4 });
  const lines = data.flatMap((row, y) => {
    const stretches = row.map(Number).join('').matchAll(/1+/g);
    return Array.from(stretches, ({ 0: dark, index }) => `M${index} ${y}.5h${dark.length}`);
  });
  return html`<svg class="qr" role="img" aria-label="${label}" viewBox="0 0 ${size} ${size}" shape-rendering="crispEdges" data-testid="qr"><path fill="#fff" d="M0 0h${size}v${size}H0z" /><path stroke="#000" d="${raw(lines.join(''))}" /></svg>`;
}
