import { html } from 'hono/html';
import type { Diagnosis } from '../../../doctor/doctor.js';
import { tallyOf } from '../../../doctor/examination.js';
import type { SandboxContext } from '../../context.js';
import { span } from '../../service/clock.js';
import type { Html } from '../layout.js';
import { badge, block, millisecondsText, table } from './cells.js';
import {
  type Asked,
  actionForm,
  copyButton,
  dashboardPage,
  doctorForm,
  empty,
  testEventForm,
} from './frame.js';

export function developerPage(context: SandboxContext, { url, ...asked }: Asked) {
  const { settings, listening } = context;
  const { webhook, webhooks, apiKey, webhookSecret: secret } = settings;
  const { signature } = settings.choices;
  const when =
    webhooks === 'manual'
      ? 'when you deliver them'
      : `${webhooks === 'auto' ? 'as soon as' : `${span(webhooks.delayMs)} after`} a checkout is paid`;
  const env = [
    `PAYMENTS_BASE_URL=${listening.origin}`,
    `PAYMENTS_API_KEY=${apiKey}`,
    `PAYMENTS_WEBHOOK_SECRET=${secret}`,
  ].join('\n');
  const target = html`<label for="url">URL</label>
<div class="line"><input class="field" id="url" name="url" type="text" inputmode="url" autocomplete="off" spellcheck="false" placeholder="http://127.0.0.1:3000/webhooks" value="${url ?? (typeof webhook === 'string' ? webhook : '')}" aria-describedby="url-help" data-testid="webhook-url">
<button class="button primary" data-testid="save-webhook">Save</button></div>`;
  const content = html`<div class="heading"><h1>Developer</h1></div>
<section class="panel" aria-labelledby="key"><h2 id="key">API key</h2>
${valueLine(apiKey, 'the API key', 'api-key')}
<details class="asks"><summary class="button" data-testid="regenerate">Regenerate…</summary>
<p>The old key stops working at once.</p>
${actionForm(context, '/developer/key', html`<button class="button danger" data-testid="regenerate-confirm">Regenerate the key</button>`)}
</details></section>
<section class="panel" id="webhook" aria-labelledby="webhook-heading"><h2 id="webhook-heading">Webhook Settings</h2>
${actionForm(context, '/developer/webhook', target)}
<p class="soft small" id="url-help">${typeof webhook === 'function' ? 'Events go to a function in this process. A URL takes its place.' : `Events are sent here ${when}. Empty: they are kept and not sent.`}</p>
<h3>Secret</h3>
${valueLine(secret, 'the webhook secret', 'webhook-secret')}
${Object.keys(signature).length > 0 && html`<h3>Scheme</h3>${block(JSON.stringify(signature, null, 2), 'Signature scheme', 'scheme')}`}
<div class="actions">${testEventForm(context)}
${webhook !== undefined && doctorForm(context, 'Run doctor')}</div>
<p class="soft small">A test event creates a real product, checkout and order, so that your handler can read back what the event names.
${webhook !== undefined && 'The doctor sends valid and invalid deliveries about throw-away orders, and shows what is wrong with the handler.'}</p>
</section>
<section class="panel" id="env" aria-labelledby="env-heading"><div class="heading"><h2 id="env-heading">.env</h2>
${copyButton(env, 'the .env block')}</div>
${block(env, '.env block', 'env')}</section>`;
  return dashboardPage(asked, '/developer', content);
}

/** Returns a line with a key or secret in clear text, because it gives access only to this sandbox. */
const valueLine = (value: string, what: string, testId: string): Html =>
  html`<div class="line secret"><code data-testid="${testId}">${value}</code>
${copyButton(value, what)}</div>`;

/** Returns the page of the doctor's last report: the findings with evidence and fix, then the other results, then the verdict. */
export function doctorPage(context: SandboxContext, asked: Asked): Promise<Response> {
  const { diagnosis } = context;
  const { value } = diagnosis;
  const again =
    context.settings.webhook !== undefined && doctorForm(context, value ? 'Run again' : 'Run doctor');
  const content = html`<p class="small"><a href="/developer#webhook">Webhook Settings</a></p>
<div class="heading"><div><h1>Doctor</h1>${value && html`<p class="soft small"><code>${value.target}</code></p>`}</div>
${again}</div>
${value ? reportOf(value) : empty('The doctor has not run since the sandbox started.')}`;
  return dashboardPage(asked, '/developer', content, 'Doctor');
}

function reportOf(diagnosis: Diagnosis): Html {
  const { ok, summary, findings, warnings, notes, probes, tried, expects } = diagnosis;
  const rows = probes.map(
    ({ says, expected, outcome, status = '', error, durationMs }) => html`<tr data-testid="probe">
<td class="main">${says}${error !== undefined && html`<br><span class="soft small">${error}</span>`}</td><td data-label="Expected:">${expected}</td>
<td>${badge(`${outcome} ${status}`.trim(), outcome === expected ? 'good' : 'bad')}</td>
<td class="number soft">${millisecondsText(durationMs)}</td></tr>`,
  );
  const [first, ...others] = findings;
  const also = others.length > 0 && html`<p>And ${others.length} more, above.</p>`;
  return html`${[...findings, ...warnings].map(
    (
      one,
    ) => html`<div class="hint" data-testid="finding"><p><span class="strong">${one.problem}</span> ${one.fix}</p>
${one.evidence !== undefined && html`<p class="small">${one.evidence}</p>`}<p class="small"><code>${one.code}</code></p></div>`,
  )}
${expects !== undefined && Object.keys(expects).length > 0 && html`<section class="panel"><h2>It would accept</h2>${block(JSON.stringify(expects, null, 2), 'Scheme')}</section>`}
${notes.length > 0 && html`<section aria-labelledby="notes"><h2 id="notes">What only you can see</h2>${notes.map((note) => html`<p>${note}</p>`)}</section>`}
<details id="probes"><summary>${tallyOf(probes)}</summary>
${table('What was sent, and the responses', ['Delivery', 'Expected', 'Response', 'Took'], rows)}
${tried > 0 && html`<p class="soft small">Then ${tried} other ways to sign, to find out what it would accept.</p>`}</details>
<div class="notice ${ok ? 'good' : 'bad'}" role="status" data-testid="doctor-summary"><div><h2>${first?.problem ?? summary}</h2>${also}</div></div>`;
}
