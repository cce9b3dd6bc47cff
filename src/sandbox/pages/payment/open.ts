import { html } from 'hono/html';
import { alertIcon, cardIcon, phoneIcon } from '../icons.js';
import type { Html } from '../layout.js';
import type { CheckoutView } from './checkout-view.js';
import { payFrame, tokenField } from './frame.js';

/** The test cards that can be chosen, by their last four digits. There is no field for a number. */
export const cards = [
  { digits: '1111', outcome: 'approved', label: 'cardApproved' },
  { digits: '0002', outcome: 'card_declined', label: 'cardDeclined' },
  { digits: '9995', outcome: 'insufficient_funds', label: 'cardLacksFunds' },
] as const;

export const wallets = ['walletA', 'walletB'] as const;

/** The form of a checkout that can be paid, also after a declined card. */
export function openPage(view: CheckoutView): Promise<Response> {
  const { say } = view;
  return payFrame(
    view,
    html`${declinedNotice(view)}
<form class="pay" method="post" action="/pay/${view.id}/pay">${tokenField(view)}
<fieldset class="methods"${view.declined !== undefined && html` aria-describedby="problem-text"`}>
<legend><h2>${say('chooseMethod')}</h2></legend>
<div class="group">
<div class="method">
<label><input type="radio" name="method" value="card" id="method-card" checked data-testid="method-card">${cardIcon}<span>${say('card')}</span></label>
<fieldset class="cards">
<legend class="spoken">${say('chooseCard')}</legend>
${cards.map(
  ({ digits, outcome, label }) =>
    html`<label><input type="radio" name="card" value="${digits}"${outcome === 'approved' && html` checked`} data-testid="card-${digits}"><span class="digits">•••• ${digits}</span><span class="outcome ${outcome === 'approved' ? 'good' : 'bad'}">${say(label)}</span></label>`,
)}
<p class="soft small">${say('cardHint')}</p>
</fieldset>
</div>
${wallets.map(
  (wallet) => html`<div class="method">
<label><input type="radio" name="method" value="${wallet}" data-testid="method-${wallet === 'walletA' ? 'wallet-a' : 'wallet-b'}">${phoneIcon}<span>${say(wallet)}</span></label>
<p class="soft small">${say('walletHint')}</p>
</div>`,
)}
</div>
</fieldset>
<button class="button primary wide" data-testid="pay"><span class="for-card">${say('pay')}</span>${wallets.map(
      (wallet) => html`<span class="for-${wallet}">${say('continueWith', { wallet: say(wallet) })}</span>`,
    )}</button>
</form>`,
  );
}

/** After a declined card or wallet, above the form. It takes the focus and leads to the choice that fixes it. */
function declinedNotice({ declined, say }: CheckoutView): Html | undefined {
  if (declined === undefined) return undefined;
  return html`<div class="problem" role="alert" tabindex="-1" autofocus data-testid="problem">${alertIcon}<div>
<h2>${say('problemHeading')}</h2>
<p id="problem-text">${say(declined)}</p>
<p><a href="#method-card">${say('problemFix')}</a></p>
</div></div>`;
}
