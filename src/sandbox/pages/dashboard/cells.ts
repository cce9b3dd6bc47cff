import { html } from 'hono/html';
import { span } from '../../service/clock.js';
import type { SandboxEvent } from '../../service/event.js';
import type { Html } from '../layout.js';

/** `2026-11-20 14:03:22 UTC`, without a script. */
const fullMoment = (at: Date): string => `${at.toISOString().slice(0, 19).replace('T', ' ')} UTC`;

export const millisecondsText = (ms: number): string => `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms`;

/** A time that the page's script rewrites as the browser's: all of it, or as much as the day leaves to say. */
const time = (at: Date, text: string, form: 'date' | 'day' | 'age') =>
  html`<time datetime="${at.toISOString()}" title="${at.toISOString()}" data-form="${form}">${text}</time>`;

export const fullTime = (at: Date): Html => time(at, fullMoment(at), 'date');

/** When it was: the time of day on the sandbox's day, else the date before it. */
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

/** Text of which every character counts. */
export const block = (text: string, label: string, testId?: string): Html =>
  html`<pre tabindex="0" aria-label="${label}"${testId !== undefined && html` data-testid="${testId}"`}>${text}</pre>`;

/** A table that scrolls sideways on a narrow screen. */
export const table = (label: string, head: readonly string[], rows: readonly Html[]): Html =>
  html`<div class="scroll" role="region" aria-label="${label}" tabindex="0"><table>
<thead><tr>${head.map((name) => html`<th scope="col">${name === '' ? html`<span class="spoken">Actions</span>` : name}</th>`)}</tr></thead>
<tbody>${rows}</tbody></table></div>`;
