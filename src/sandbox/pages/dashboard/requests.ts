import { html } from 'hono/html';
import type { SandboxContext } from '../../context.js';
import { describeArmed } from '../../faults.js';
import type { LoggedRequest } from '../../http/log.js';
import type { Html } from '../layout.js';
import { type Asked, actionForm, badge, listPage, live, timeCell } from './frame.js';
import { millisecondsText } from './moments.js';

/** The newest requests to the documented API, and which of them depend on what the service does not document. */
export const requestsPage = (context: SandboxContext, asked: Asked) =>
  listPage(asked, {
    title: 'Requests',
    tab: '/requests',
    intro: html`${live('faults', html`${waitingFaults(context)}`)}
<p class="soft intro">A tag names a choice of the sandbox's own, where the specification says nothing. The service may behave differently, so do not depend on it.</p>`,
    items: context.requests.entries,
    none: 'No request to the documented API yet.',
    columns: ['Time', 'Request', 'Status', 'Took', 'Notes'],
    row: (request) => row(request, context.clock.now()),
  });

/** Faults that were ordered and have not happened yet. */
function waitingFaults(context: SandboxContext): Html | undefined {
  const { waiting } = context.faults;
  if (waiting.length === 0) return undefined;
  return html`<div class="line intro" data-testid="faults"><p class="soft">${waiting.length === 1 ? 'A fault is' : 'Faults are'} waiting: ${waiting.map((one) => html`${badge(describeArmed(one), 'warn')} `)}</p>
${actionForm(context, '/faults/clear', html`<button class="button small" data-testid="clear-faults">Clear</button>`)}</div>`;
}

function row(request: LoggedRequest, now: number): Html {
  const { number, at, method, path, status, durationMs, body, responseBody } = request;
  const bodies = [
    ['Request body', body],
    ['Response body', responseBody],
  ].filter((pair): pair is [string, string] => pair[1] !== undefined && pair[1] !== '');
  return html`<tr data-testid="request-row">
${timeCell(at, now)}
<td class="main"><code><span class="strong">${method}</span> ${path}</code>
${
  bodies.length > 0 &&
  html`<details id="request-${number}"><summary>Bodies</summary>${bodies.map(
    ([name, text]) =>
      html`<p class="soft small">${name}</p><pre tabindex="0" aria-label="${name} of request ${number}">${text}</pre>`,
  )}</details>`
}</td>
<td>${status === undefined ? badge('no response', 'bad') : badge(String(status), status < 400 ? 'good' : 'bad')}</td>
<td class="number soft">${millisecondsText(durationMs)}</td>
<td class="notes">${notes(request)}</td></tr>`;
}

function notes({ key, fault, warnings, unspecified }: LoggedRequest): Html {
  const keys = { ok: undefined, missing: 'no key', wrong: 'wrong key', live: 'live key' } as const;
  return html`${keys[key] !== undefined && badge(keys[key], 'bad')}
${fault !== undefined && badge(`fault: ${fault}`, 'warn')}
${unspecified.map((name) => html`<span class="tag">${name}</span> `)}
${warnings.map((text) => html`<p class="lint" data-testid="lint">${text}</p>`)}`;
}
