import { createHash } from 'node:crypto';
import { html } from 'hono/html';
import { readScheme } from '../../../webhooks/scheme.js';
import type { SandboxContext } from '../../context.js';
import { signBody } from '../../delivery/signing.js';
import type { Attempt, SandboxEvent } from '../../service/event.js';
import type { Html } from '../layout.js';
import { fullTime } from '../time.js';
import { badge, block, millisecondsText, stateBadge } from './cells.js';
import { type Asked, actionForm, copyBlock, dashboardPage, doctorForm, empty, live } from './frame.js';

export function eventPage(context: SandboxContext, asked: Asked): Promise<Response> {
  const { clock, store, settings } = context;
  const event = store.events.get(asked.id ?? '');
  if (!event) {
    const content = empty('There is no such event. The sandbox forgets its events when it is reset or ends.');
    return dashboardPage({ status: 404 }, '/events', content, 'Unknown event');
  }
  const { id, type, data, createdAt } = event;
  const refused = event.attempts.at(-1)?.ok === false && settings.webhook !== undefined;
  const content = html`<p class="small"><a href="/events">Events</a></p>
<div class="heading"><div><h1>${data.amount} ${data.currency} <span class="soft">${type}</span></h1>
<p class="soft small"><code>${id}</code> · ${fullTime(createdAt)}</p></div>
<div class="actions">${live('state', stateBadge(event, clock.now()))}
${live('doctor', refused && doctorForm(context, 'Run the doctor'))}
${actionForm(context, `/events/${id}/redeliver`, html`<button class="button primary" data-testid="redeliver">Redeliver</button>`)}</div></div>
<nav class="tabs" aria-label="Event"><a href="#attempts">Attempts</a><a href="#sent">What we sent</a></nav>
<section id="attempts" aria-labelledby="attempts-heading"><h2 id="attempts-heading">Attempts</h2>
${live('attempts', attemptList(event))}</section>
${sentRequest(context, event)}`;
  return dashboardPage(asked, '/events', content, `Event ${id}`);
}

function attemptList({ attempts, state }: SandboxEvent): Html {
  if (attempts.length > 0) return html`<ol class="attempts">${attempts.map(attempt).reverse()}</ol>`;
  const held = 'Held back: deliver it with Redeliver, or all that waits on the Events page.';
  const settings = html`<a href="/developer#webhook">Open Webhook Settings</a>`;
  if (state === 'no_url') return empty(html`Not sent: no webhook URL is set. ${settings}`);
  return empty(state === 'held' ? held : 'Not sent yet.');
}

/** Returns an attempt in HTML. The response of the newest attempt is open if that attempt failed. */
function attempt(one: Attempt, index: number, all: readonly Attempt[]): Html {
  const open = index === all.length - 1 && !one.ok;
  const body = one.responseBody
    ? block(one.responseBody, `Body of response ${one.number}`)
    : html`<p class="soft small">No body.</p>`;
  const response = html`<details id="response-${one.number}"${open && html` open`}><summary>Response</summary>${block(headerLines(one.responseHeaders), `Headers of response ${one.number}`)}
${body}</details>`;
  return html`<li class="panel" data-testid="attempt">
<p class="line"><span class="strong">Attempt ${one.number}</span> ${badge(String(one.status ?? 'no response'), one.ok ? 'good' : 'bad')}
<span class="soft small">${fullTime(one.at)} · ${millisecondsText(one.durationMs)} · <code>${one.target}</code></span></p>
${one.error !== undefined && html`<p>${one.error}</p>`}
${one.hint !== undefined && html`<p class="hint" data-testid="hint"><span class="strong">Hint:</span> ${one.hint}</p>`}
${one.status !== undefined && response}
<details id="request-${one.number}"><summary>Request headers</summary>${block(headerLines(one.requestHeaders), `Request headers of attempt ${one.number}`)}</details>
</li>`;
}

function sentRequest({ settings, clock }: SandboxContext, { body, attempts }: SandboxEvent): Html {
  const { signature } = settings.choices;
  const scheme = readScheme(signature);
  const fresh = signBody(body, settings, clock).headers;
  const headers = attempts.at(-1)?.requestHeaders ?? fresh;
  const timestamp = headers[scheme.timestampHeader] ?? '';
  const signedText = scheme.content.replace('{timestamp}', timestamp).replace('{body}', () => body);
  const target = typeof settings.webhook === 'string' ? settings.webhook : 'http://127.0.0.1:3000/webhooks';
  const options = Object.entries(fresh).map(
    ([name, value]) => `  -H ${quoteForShell(`${name}: ${value}`)} \\\n`,
  );
  const curl = `curl -i ${quoteForShell(target)} \\\n${options.join('')}  --data-binary ${quoteForShell(body)}`;
  return html`<section id="sent" aria-labelledby="sent-heading"><h2 id="sent-heading">What we sent</h2>
<div class="panel">
${copyBlock('Body', body, 'the body', 'body', body.replaceAll(' ', '·'))}
<dl class="facts"><dt>Length</dt><dd data-testid="bytes">${Buffer.byteLength(body)} bytes</dd>
<dt>SHA-256</dt><dd><code data-testid="sha256">${createHash('sha256').update(body).digest('hex')}</code></dd></dl>
<p class="soft small">Each dot is a space. They are uneven on purpose: verify these bytes, not JSON that was parsed and written again.</p>
</div>
<div class="panel"><h3>Headers</h3>${block(headerLines(headers), 'Headers')}
${attempts.length === 0 && html`<p class="soft small">As they would be now: nothing was sent yet.</p>`}</div>
<div class="panel">${copyBlock('Signed string', signedText, 'the signed string', 'signed-string', signedText.replaceAll(' ', '·'))}
<p class="soft small">${scheme.algorithm} HMAC of this text with the webhook secret, in ${scheme.encoding}. ${Object.keys(signature).length === 0 ? "It is the sandbox's choice: the service does not document its own." : 'As the sandbox was told; its default scheme differs.'}</p></div>
<div class="panel">${copyBlock('curl', curl, 'the command', 'curl')}
<p class="soft small">Signed when this page was opened.</p></div>
</section>`;
}

const quoteForShell = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

const headerLines = (headers: Record<string, string> = {}): string =>
  Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n');
