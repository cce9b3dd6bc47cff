import { html } from 'hono/html';
import type { SandboxContext } from '../../context.js';
import type { Attempt, SandboxEvent } from '../../service/event.js';
import type { Html } from '../layout.js';
import { type Asked, actionForm, listPage, stateBadge, testEventForm, timeCell } from './frame.js';
import { millisecondsText } from './moments.js';

/** Every event and its state, newest first. */
export function eventsPage(context: SandboxContext, asked: Asked) {
  const items = [...context.store.events.values()];
  const waiting = items.some(({ state }) => state === 'held' || state === 'no_url');
  return listPage(asked, {
    title: 'Events',
    tab: '/events',
    actions: html`<div class="actions">${
      waiting &&
      context.settings.webhook !== undefined &&
      actionForm(
        context,
        '/events/deliver',
        html`<button class="button" data-testid="deliver">Deliver what waits</button>`,
      )
    }
${testEventForm(context)}</div>`,
    items,
    none: 'No event yet. Each paid checkout makes one.',
    columns: ['Time', 'Order', 'State', 'Attempts', 'Last response', 'Took'],
    row: (event) => row(context, event),
  });
}

function row({ clock }: SandboxContext, event: SandboxEvent): Html {
  const { id, data, createdAt, attempts } = event;
  const last = attempts.at(-1);
  return html`<tr data-testid="event-row">
${timeCell(createdAt, clock.now())}
<td class="main"><a class="strong" href="/events/${id}">${data.amount} ${data.currency}</a><br><code class="soft">${data.order_id}</code></td>
<td>${stateBadge(event, clock.now())}</td>
<td class="number" data-label="Attempts">${attempts.length}</td>
<td class="main" data-label="Response">${last && response(last)}</td>
<td class="number soft">${last && millisecondsText(last.durationMs)}</td></tr>`;
}

/** The status and how the receiver's own words begin, or why there are none. */
function response({ status, responseBody, error = '' }: Attempt): Html {
  const words = (responseBody ?? error).trim().replaceAll(/\s+/g, ' ');
  const shown = words.length > 80 ? `${words.slice(0, 79)}…` : words;
  return html`${status ?? html`<span class="soft">none</span>`}${shown && html`<br><bdi class="soft small" data-testid="words">${shown}</bdi>`}`;
}
