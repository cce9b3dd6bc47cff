import { html } from 'hono/html';
import { type Activity, describeActivity } from '../../activity.js';
import type { SandboxContext } from '../../context.js';
import type { Html } from '../layout.js';
import { fullTime } from '../time.js';
import { badge, table, timeCell } from './cells.js';
import { type Asked, actionForm, dashboardPage, empty, live } from './frame.js';

const nextStep = html`<div class="notice calm" data-testid="next-step"><div><h2>Next: set the URL of your webhook handler</h2>
<p>Until then events are kept, and can be delivered later. <a href="/developer#webhook">Open Webhook Settings</a></p></div></div>`;

export function overviewPage(context: SandboxContext, asked: Asked): Promise<Response> {
  const { sandbox, settings, activity } = context;
  const now = sandbox.now().getTime();
  const advance = html`<button class="button" name="by" value="1h" data-testid="clock-1h">+1 hour</button>
<button class="button" name="by" value="1d" data-testid="clock-1d">+1 day</button>`;
  const { available, pending, frozen } = sandbox.balance;
  const figures = Object.entries({ Available: available, Pending: pending, Frozen: frozen }).map(
    ([name, amount]) =>
      html`<div><dt>${name}</dt><dd data-testid="${name.toLowerCase()}">${amount}</dd></div>`,
  );
  const rows = activity.entries.slice(-100).map((entry) => activityRow(entry, now));
  const none =
    'Nothing yet. What your shop asks, what customers do and what is delivered appears here at once.';
  const log = table('Log', ['Time', 'What', 'Outcome'], rows.reverse());
  const content = html`<h1 class="spoken">Overview</h1>
${live('next', settings.webhook === undefined && nextStep)}
<div class="beside">
<section aria-labelledby="log"><div class="heading"><h2 id="log">What happened</h2><a class="small narrow" href="#balance">Balance, clock and reset</a></div>
${live('log', rows.length === 0 ? empty(none) : log)}</section>
<div>
<section class="panel" aria-labelledby="balance"><div class="heading"><h2 id="balance">Balance</h2><span class="soft small">${settings.currency}</span></div>
${live('balance', html`<dl class="figures">${figures}</dl>`)}
${actionForm(context, '/balance', html`<button class="button" data-testid="settle">Settle what is pending</button>`)}</section>
<section class="panel" aria-labelledby="clock"><h2 id="clock">Clock</h2>
${live('clock', html`<p class="time" data-testid="now">${fullTime(sandbox.now())}</p>`)}
<p class="soft small">Expiry, settlement and retries follow it.</p>
${actionForm(context, '/clock', html`<div class="actions">${advance}</div>`)}</section>
<section class="panel" aria-labelledby="data"><h2 id="data">Data</h2>
<details class="asks"><summary class="button" data-testid="reset">Reset…</summary>
<p>Forget all products, checkouts, orders, events and requests, and set the clock back? Key, secret and webhook URL stay.</p>
${actionForm(context, '/reset', html`<button class="button danger" data-testid="reset-confirm">Forget everything</button>`)}
</details></section>
</div></div>`;
  return dashboardPage(asked, '/', content);
}

function activityRow(entry: Activity, now: number): Html {
  const { kind, subject, outcome, tone, more, href } = describeActivity(entry);
  const isClock = entry.type === 'action' && entry.action.type === 'clock';
  const shown = isClock ? html`it is ${fullTime(entry.at)}` : html`<code>${subject}</code>`;
  return html`<tr data-testid="activity">
${timeCell(entry.at, now)}
<td class="main"><a href="${href}"><span class="strong">${kind}</span> ${shown}</a></td>
<td class="main">${outcome !== '' && badge(outcome, tone)} <span class="soft small">${more}</span></td></tr>`;
}
