import { html } from 'hono/html';
import type { SandboxContext } from '../../context.js';
import { fullMoment } from './cells.js';
import { type Asked, actionForm, dashboardPage, live } from './frame.js';

const nextStep = html`<div class="notice calm" data-testid="next-step"><div><h2>Next: set the URL of your webhook handler</h2>
<p>Until then events are kept, and can be delivered later. <a href="/developer#webhook">Open Webhook Settings</a></p></div></div>`;

export function overviewPage(context: SandboxContext, asked: Asked): Promise<Response> {
  const { sandbox, settings, store, requests } = context;
  const advance = html`<button class="button" name="by" value="1h" data-testid="clock-1h">+1 hour</button>
<button class="button" name="by" value="1d" data-testid="clock-1d">+1 day</button>`;
  const { available, pending, frozen } = sandbox.balance;
  const figures = Object.entries({ Available: available, Pending: pending, Frozen: frozen }).map(
    ([name, amount]) =>
      html`<div><dt>${name}</dt><dd data-testid="${name.toLowerCase()}">${amount}</dd></div>`,
  );
  const counts = html`<dl class="counts">
<div><dt><a href="/products">Products</a></dt><dd>${store.products.size}</dd></div>
<div><dt><a href="/checkouts">Checkouts</a></dt><dd>${store.checkouts.size}</dd></div>
<div><dt>Orders</dt><dd>${store.orders.size}</dd></div>
<div><dt><a href="/events">Events</a></dt><dd>${store.events.size}</dd></div>
<div><dt><a href="/requests">Requests</a></dt><dd>${requests.entries.length}</dd></div>
</dl>`;
  const content = html`<h1 class="spoken">Overview</h1>
${live('next', settings.webhook === undefined && nextStep)}
<section aria-labelledby="balance"><div class="heading"><h2 id="balance">Balance</h2><span class="soft small">${settings.currency}</span></div>
${live('balance', html`<dl class="figures">${figures}</dl>`)}
<div class="actions">
${actionForm(context, '/balance', html`<button class="button" data-testid="settle">Settle what is pending</button>`)}
</div></section>
<div class="two">
<section class="panel" aria-labelledby="clock"><h2 id="clock">Clock</h2>
${live('clock', html`<p class="time" data-testid="now">${fullMoment(sandbox.now())}</p>`)}
<p class="soft small">Expiry, settlement and retries follow it.</p>
<div class="actions">${actionForm(context, '/clock', advance)}</div></section>
<section class="panel" aria-labelledby="data"><h2 id="data">Data</h2>
${live('counts', counts)}
<details class="asks"><summary class="button" data-testid="reset">Reset…</summary>
<p>Forget all products, checkouts, orders, events and requests, and set the clock back? Key, secret and webhook URL stay.</p>
${actionForm(context, '/reset', html`<button class="button danger" data-testid="reset-confirm">Forget everything</button>`)}
</details></section>
</div>`;
  return dashboardPage(asked, '/', content);
}
