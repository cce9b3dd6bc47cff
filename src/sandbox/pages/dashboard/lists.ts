import { html } from 'hono/html';
import type { SandboxContext } from '../../context.js';
import { describeArmed } from '../../faults.js';
import type { LoggedRequest } from '../../http/log.js';
import type { Attempt } from '../../service/event.js';
import { twoDecimals } from '../../service/money.js';
import type { Html } from '../layout.js';
import { ageCell, badge, block, millisecondsText, stateBadge, timeCell } from './cells.js';
import { type Asked, actionForm, listPage, live, testEventForm } from './frame.js';

export const productsPage = (context: SandboxContext, asked: Asked) =>
  listPage(asked, '/products', {
    items: [...context.store.products.values()],
    none: 'No product yet. Create one with your client: it appears here at once.',
    columns: ['Product', 'Price', 'Status', 'Age', ''],
    row({ id, name, price, currency, status, createdAt }) {
      const sold = status === 'ACTIVE';
      const button = sold ? doButton('archive', 'Archive') : doButton('restore', 'Restore');
      return html`<tr data-testid="product-row">
${nameCell(name, id)}
<td class="number">${twoDecimals(price)} ${currency}</td>
<td>${badge(status, sold ? 'good' : 'calm')}</td>
${ageCell(createdAt, context.clock.now())}
<td class="main">${actionForm(context, `/products/${id}`, button)}</td></tr>`;
    },
  });

const tones = { open: 'calm', processing: 'warn', paid: 'good', cancelled: 'warn', expired: 'warn' } as const;

export const checkoutsPage = (context: SandboxContext, asked: Asked) =>
  listPage(asked, '/checkouts', {
    items: [...context.store.checkouts.values()],
    none: 'No checkout yet. Create one with your client: it appears here at once.',
    columns: ['Product', 'Amount', 'State', 'Age', ''],
    row(checkout) {
      const { payments, clock } = context;
      const { id, productId, state, amount, currency, createdAt, declined } = checkout;
      const buttons = html`${doButton('pay', 'Pay')} ${doButton('decline', 'Decline')} ${doButton('expire', 'Expire')}`;
      const payable = payments.problem(checkout) === undefined;
      return html`<tr data-testid="checkout-row">
${nameCell(payments.product(productId).name, id)}
<td class="number">${amount} ${currency}</td>
<td>${badge(state, tones[state])}${declined !== undefined && html`<br><code class="soft">${declined}</code>`}</td>
${ageCell(createdAt, clock.now())}
<td class="main"><div class="row-actions"><a class="button small" href="/pay/${id}">Open page</a>
${payable && actionForm(context, `/checkouts/${id}`, buttons)}</div></td></tr>`;
    },
  });

const nameCell = (name: string, id: string): Html =>
  html`<td class="main"><bdi class="strong">${name}</bdi><br><code class="soft">${id}</code></td>`;

const doButton = (what: string, label: string): Html =>
  html`<button class="button small" name="do" value="${what}" data-testid="${what}">${label}</button>`;

export function eventsPage(context: SandboxContext, asked: Asked) {
  const items = [...context.store.events.values()];
  const waiting = items.some(({ state }) => state === 'held' || state === 'no_url');
  const deliver = html`<button class="button" data-testid="deliver">Deliver what waits</button>`;
  const now = context.clock.now();
  return listPage(asked, '/events', {
    actions: html`<div class="actions">${waiting && context.settings.webhook !== undefined && actionForm(context, '/events/deliver', deliver)}
${testEventForm(context)}</div>`,
    items,
    none: 'No event yet. Each paid checkout makes one.',
    columns: ['Time', 'Order', 'State', 'Attempts', 'Last response', 'Took'],
    row(event) {
      const { id, data, createdAt, attempts } = event;
      const last = attempts.at(-1);
      return html`<tr data-testid="event-row">
${timeCell(createdAt, now)}
<td class="main"><a class="strong" href="/events/${id}">${data.amount} ${data.currency}</a><br><code class="soft">${data.order_id}</code></td>
<td>${stateBadge(event, now)}</td>
<td class="number" data-label="Attempts">${attempts.length}</td>
<td class="main" data-label="Response">${last && response(last)}</td>
<td class="number soft">${last && millisecondsText(last.durationMs)}</td></tr>`;
    },
  });
}

/** Returns the status and the first words of the response, or the error if there was no response. */
function response({ status, responseBody, error = '' }: Attempt): Html {
  const words = (responseBody ?? error).trim().replaceAll(/\s+/g, ' ');
  const shown = words.length > 80 ? `${words.slice(0, 79)}…` : words;
  return html`${status ?? html`<span class="soft">none</span>`}${shown && html`<br><bdi class="soft small" data-testid="words">${shown}</bdi>`}`;
}

export function requestsPage(context: SandboxContext, asked: Asked) {
  const { waiting } = context.faults;
  const faults =
    waiting.length > 0 &&
    html`<div class="line intro" data-testid="faults"><p class="soft">${waiting.length === 1 ? 'A fault is' : 'Faults are'} waiting: ${waiting.map((one) => html`${badge(describeArmed(one), 'warn')} `)}</p>
${actionForm(context, '/faults/clear', html`<button class="button small" data-testid="clear-faults">Clear</button>`)}</div>`;
  return listPage(asked, '/requests', {
    intro: html`${live('faults', faults)}
<p class="soft intro">A tag names a choice of the sandbox's own, where the specification says nothing. The service may behave differently, so do not depend on it.</p>`,
    items: context.requests.entries,
    none: 'No request to the documented API yet.',
    columns: ['Time', 'Request', 'Status', 'Took', 'Notes'],
    row(request) {
      const { number, at, method, path, status, durationMs, body, responseBody } = request;
      const bodies = Object.entries({ 'Request body': body, 'Response body': responseBody }).map(
        ([name, text]) =>
          text && html`<p class="soft small">${name}</p>${block(text, `${name} of request ${number}`)}`,
      );
      const shown = html`<details id="request-${number}"><summary>Bodies</summary>${bodies}</details>`;
      return html`<tr data-testid="request-row">
${timeCell(at, context.clock.now())}
<td class="main"><code><span class="strong">${method}</span> ${path}</code>
${(body || responseBody) && shown}</td>
<td>${status === undefined ? badge('no response', 'bad') : badge(String(status), status < 400 ? 'good' : 'bad')}</td>
<td class="number soft">${millisecondsText(durationMs)}</td>
<td class="notes">${notes(request)}</td></tr>`;
    },
  });
}

function notes({ key, fault, warnings, unspecified }: LoggedRequest): Html {
  const keys = { ok: undefined, missing: 'no key', wrong: 'wrong key', live: 'live key' } as const;
  return html`${keys[key] !== undefined && badge(keys[key], 'bad')}
${fault !== undefined && badge(`fault: ${fault}`, 'warn')}
${unspecified.map((name) => html`<span class="tag">${name}</span> `)}
${warnings.map((text) => html`<p class="lint" data-testid="lint">${text}</p>`)}`;
}
