import { html } from 'hono/html';
import { span } from '../../service/clock.js';
import type { SandboxEvent } from '../../service/event.js';
import type { Html } from '../layout.js';
import { fullMoment, time } from '../time.js';

export const millisecondsText = (ms: number): string => `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms`;

/** Returns a cell with the time of day, after the date if that is not today on the sandbox's clock. */
export function timeCell(at: Date, now: number): Html {
  const [day = '', clock = ''] = fullMoment(at).split(' ');
  const isToday = new Date(now).toISOString().startsWith(day);
  return html`<td>${time(at, isToday ? clock : `${day} ${clock}`, isToday ? 'day' : 'date')}</td>`;
}

export const ageCell = (at: Date, now: number) =>
  html`<td class="soft">${time(at, span(now - at.getTime()), 'age')}</td>`;

export const badge = (text: string, tone: 'good' | 'bad' | 'warn' | 'calm'): Html =>
  html`<span class="badge ${tone}">${text}</span>`;

export function stateBadge({ state, nextAttemptAt }: SandboxEvent, now: number): Html {
  const next = nextAttemptAt && span(nextAttemptAt.getTime() - now);
  return {
    delivered: badge('delivered', 'good'),
    failed: badge('failed', 'bad'),
    retrying: badge(next === undefined ? 'sending' : `retrying in ${next}`, 'warn'),
    held: badge('held', 'warn'),
    no_url: badge('no URL', 'calm'),
    pending: badge(next === undefined ? 'sending' : `goes out in ${next}`, 'calm'),
  }[state];
}

/** Returns preformatted text, which keeps every character. */
export const block = (text: string, label: string, testId?: string): Html =>
  html`<pre tabindex="0" aria-label="${label}"${testId !== undefined && html` data-testid="${testId}"`}>${text}</pre>`;

/** Returns a table that scrolls sideways on a narrow screen. */
export const table = (label: string, head: readonly string[], rows: readonly Html[]): Html =>
  html`<div class="scroll" role="region" aria-label="${label}" tabindex="0"><table>
<thead><tr>${head.map((name) => html`<th scope="col">${name === '' ? html`<span class="spoken">Actions</span>` : name}</th>`)}</tr></thead>
<tbody>${rows}</tbody></table></div>`;
