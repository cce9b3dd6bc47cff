import { html } from 'hono/html';
import type { SandboxContext } from '../../context.js';
import type { SandboxEvent } from '../../service/event.js';
import type { Html } from '../layout.js';
import { actionForm, badge, dashboardPage, empty, live, paged, pager, table } from './frame.js';
import { fullMoment, millisecondsText, shortMoment, span } from './moments.js';

/** Every event, newest first, and what became of it. */
export function eventsPage(
  context: SandboxContext,
  asked: string | undefined,
  problem?: string,
  status?: number,
): Promise<Response> {
  const all = [...context.store.events.values()];
  const part = paged(all, asked);
  const waiting = all.some(({ state }) => state === 'held' || state === 'no_url');
  return dashboardPage({
    title: 'Events',
    tab: '/events',
    problem,
    status,
    content: html`<div class="heading"><h1>Events</h1>
<div class="actions">${
      waiting &&
      context.settings.webhook !== undefined &&
      actionForm(
        context,
        '/events/deliver',
        html`<button class="button" data-testid="deliver">Deliver what waits</button>`,
      )
    }
${actionForm(context, '/developer/test-event', html`<button class="button" data-testid="send-test-event">Send test event</button>`)}</div></div>
${live(
  'events',
  part.items.length === 0
    ? empty('No event yet. Each paid checkout makes one.')
    : table(
        'Events',
        ['Time', 'Order', 'State', 'Attempts', 'Last response', 'Took'],
        part.items.map((event) => row(context, event)),
      ),
)}
${pager('/events', part)}`,
  });
}

function row({ clock }: SandboxContext, event: SandboxEvent): Html {
  const { id, data, createdAt, attempts } = event;
  const last = attempts.at(-1);
  return html`<tr data-testid="event-row">
<td><time datetime="${createdAt.toISOString()}" title="${fullMoment(createdAt)}">${shortMoment(createdAt, clock.now())}</time></td>
<td class="main"><a class="strong" href="/events/${id}">${data.amount} ${data.currency}</a><br><code class="soft">${data.order_id}</code></td>
<td>${stateBadge(event, clock.now())}</td>
<td class="number" data-label="Attempts">${attempts.length}</td>
<td data-label="Response">${last && (last.status ?? html`<span class="soft">none</span>`)}</td>
<td class="number soft">${last && millisecondsText(last.durationMs)}</td></tr>`;
}

export function stateBadge({ state, nextAttemptAt }: SandboxEvent, now: number): Html {
  switch (state) {
    case 'delivered':
      return badge('delivered', 'good');
    case 'failed':
      return badge('failed', 'bad');
    case 'retrying':
      return badge(`retrying in ${span((nextAttemptAt?.getTime() ?? now) - now)}`, 'warn');
    case 'held':
      return badge('held', 'warn');
    case 'no_url':
      return badge('no URL', 'calm');
    case 'pending':
      return badge('sending', 'calm');
  }
}
