import { html } from 'hono/html';
import { cardIcon, phoneIcon } from '../icons.js';
import type { CheckoutView } from './checkout-view.js';
import { declinedNotice } from './declined.js';
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
<button class="button primary wide" data-testid="pay"><span class="for-card">${say('pay', { amount: view.amount })}</span>${wallets.map(
      (wallet) => html`<span class="for-${wallet}">${say('continueWith', { wallet: say(wallet) })}</span>`,
    )}</button>
</form>`,
  );
}
