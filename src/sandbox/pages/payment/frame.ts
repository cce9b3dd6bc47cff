import { html } from 'hono/html';
import { arrowLeft, clockIcon, parcelIcon } from '../icons.js';
import { type Html, page } from '../layout.js';
import { type CheckoutView, timeLeft } from './checkout-view.js';
import { payScript } from './script.js';
import { payStyle } from './style.js';

/** The payment page of a checkout that can be paid: what is sold on one side, `content` on the other. */
export function payFrame(view: CheckoutView, content: Html): Promise<Response> {
  const { say } = view;
  return page({
    title: `${say('payTo')} · ${view.amount}`,
    lang: view.lang,
    banner: say('banner'),
    style: payStyle,
    script: payScript,
    head:
      view.state === 'processing'
        ? html`<noscript><meta http-equiv="refresh" content="5"></noscript>`
        : undefined,
    content: html`<main class="split" data-id="${view.id}" data-state="${view.state}" data-left="${view.leftMs}" data-runs="${String(view.clockRuns)}">
<div class="sold"><div class="column">
${cancelForm(view)}
${productCard(view)}
${expiry(view)}
</div></div>
<div class="paying"><div class="column">
${content}
${developer(view)}
</div></div>
<div class="spoken" role="status" data-say data-minutes="${say('minutesLeft', { minutes: '5' })}" data-minute="${say('minuteLeft')}" data-up="${say('timeIsUp')}" data-copied="${say('copied')}"></div>
</main>`,
  });
}

export const tokenField = (view: CheckoutView): Html =>
  html`<input type="hidden" name="token" value="${view.token}">`;

function cancelForm(view: CheckoutView): Html {
  return html`<form method="post" action="/pay/${view.id}/cancel">${tokenField(view)}
<button class="back" data-testid="cancel">${arrowLeft}<bdi>${view.say('backTo')}</bdi></button>
</form>`;
}

function productCard(view: CheckoutView): Html {
  return html`<section class="product${view.image === undefined ? '' : ' pictured'}" aria-labelledby="product-name">
<div class="picture">${parcelIcon}${view.image !== undefined && html`<img src="${view.image}" alt="" referrerpolicy="no-referrer">`}</div>
<div class="about">
<h1 id="product-name" data-testid="product-name"><bdi>${view.name}</bdi></h1>
<p class="amount" data-testid="amount">${amount(view.amount)}</p>
${view.description && html`<p class="description" data-testid="description"><bdi>${view.description}</bdi></p>`}
</div>
</section>`;
}

/** An amount with its currency in small type. */
function amount(text: string): Html {
  const [number, currency] = text.split(' ');
  return html`${number} <span class="currency">${currency}</span>`;
}

function expiry(view: CheckoutView): Html {
  const [before = '', after = ''] = view.say('expiresIn', { time: '\0' }).split('\0');
  const moment = `${view.expiresAt.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
  return html`<p class="expiry small" data-testid="expires">${clockIcon}<span aria-hidden="true">${before}<span data-countdown>${timeLeft(view.leftMs)}</span>${after}</span>
<span class="spoken">${view.say('expiresAt', { moment })}</span></p>`;
}

/** What only a developer wants to see and do. */
function developer(view: CheckoutView): Html {
  const { say } = view;
  return html`<details class="developer" data-testid="developer"><summary>${say('developer')}</summary>
<dl>
<dt>${say('checkoutId')}</dt><dd><code>${view.id}</code></dd>
<dt>${say('state')}</dt><dd><code data-testid="state">${view.state}</code></dd>
<dt>cancelUrl</dt><dd><code>${view.cancelUrl ?? '–'}</code></dd>
</dl>
<form method="post" action="/pay/${view.id}/expire">${tokenField(view)}
<button class="button small" data-testid="expire-now">${say('expireNow')}</button>
<a class="button small" href="/checkouts">${say('dashboard')}</a>
</form></details>`;
}
