import { createHash } from 'node:crypto';
import { html } from 'hono/html';
import type { SandboxContext } from '../../context.js';
import { signed } from '../../delivery/signing.js';
import type { Attempt, SandboxEvent } from '../../service/event.js';
import type { Html } from '../layout.js';
import {
  type Asked,
  actionForm,
  badge,
  copyButton,
  dashboardPage,
  doctorForm,
  empty,
  live,
  stateBadge,
} from './frame.js';
import { fullMoment, millisecondsText } from './moments.js';

/** One event: the exact bytes that are sent, and what came back. */
export function eventPage(context: SandboxContext, asked: Asked): Promise<Response> {
  const { clock, store, settings } = context;
  const event = store.events.get(asked.id ?? '');
  if (!event) {
    const content = empty('There is no such event. The sandbox forgets its events when it is reset or ends.');
    return dashboardPage({ title: 'Unknown event', tab: '/events', status: 404, content });
  }
  const { amount, currency } = event.data;
  const refused = event.attempts.at(-1)?.ok === false && settings.webhook !== undefined;
  return dashboardPage({
    ...asked,
    title: `Event ${event.id}`,
    tab: '/events',
    content: html`<p class="crumb"><a href="/events">Events</a></p>
<div class="heading"><div><h1>${amount} ${currency} <span class="type">${event.type}</span></h1>
<p class="soft small"><code>${event.id}</code> · ${fullMoment(event.createdAt)}</p></div>
<div class="actions">${live('state', stateBadge(event, clock.now()))}
${live('doctor', html`${refused && doctorForm(context, 'Run the doctor')}`)}
${actionForm(context, `/events/${event.id}/redeliver`, html`<button class="button primary" data-testid="redeliver">Redeliver</button>`)}</div></div>
<nav class="tabs" aria-label="Event"><a href="#attempts">Attempts</a><a href="#sent">What we sent</a></nav>
<section id="attempts" aria-labelledby="attempts-heading"><h2 id="attempts-heading">Attempts</h2>
${live('attempts', attempts(event))}</section>
${sent(context, event)}`,
  });
}

function attempts({ attempts, state }: SandboxEvent): Html {
  if (attempts.length > 0)
    return html`<ol class="attempts">${attempts.toReversed().map((one, index) => attempt(one, index === 0 && !one.ok))}</ol>`;
  if (state === 'no_url')
    return empty(
      html`Not sent: no webhook URL is set. <a href="/developer#webhook">Open Webhook Settings</a>`,
    );
  const held = 'Held back: deliver it with Redeliver, or all that waits on the Events page.';
  return empty(state === 'held' ? held : 'Not sent yet.');
}

function attempt(one: Attempt, open: boolean): Html {
  const outcome = one.status === undefined ? 'no response' : String(one.status);
  return html`<li class="panel" data-testid="attempt">
<p class="line"><span class="strong">Attempt ${one.number}</span> ${badge(outcome, one.ok ? 'good' : 'bad')}
<span class="soft small">${fullMoment(one.at)} · ${millisecondsText(one.durationMs)} · <code>${one.target}</code></span></p>
${one.error !== undefined && html`<p>${one.error}</p>`}
${one.hint !== undefined && html`<p class="hint" data-testid="hint"><span class="strong">Hint:</span> ${one.hint}</p>`}
${
  one.status !== undefined &&
  html`<details id="response-${one.number}"${open && html` open`}><summary>Response</summary>${headerBlock(one.responseHeaders ?? {}, `Headers of response ${one.number}`)}
${one.responseBody === undefined || one.responseBody === '' ? html`<p class="soft small">No body.</p>` : block(one.responseBody, `Body of response ${one.number}`)}</details>`
}
<details id="request-${one.number}"><summary>Request headers</summary>${headerBlock(one.requestHeaders, `Request headers of attempt ${one.number}`)}</details>
</li>`;
}

function sent(context: SandboxContext, event: SandboxEvent): Html {
  const { settings, clock } = context;
  const { body } = event;
  const { signature: scheme } = settings.choices;
  const headers = event.attempts.at(-1)?.requestHeaders ?? signed(body, settings, clock).headers;
  const timestamp = headers[scheme.timestampHeader ?? 'x-service-timestamp'] ?? '';
  const content = (scheme.content ?? '{timestamp}.{body}').replace('{timestamp}', timestamp);
  const signedText = content.replace('{body}', () => body);
  const curl = curlCommand(context, event);
  return html`<section id="sent" aria-labelledby="sent-heading"><h2 id="sent-heading">What we sent</h2>
<div class="panel">
<div class="heading"><h3>Body</h3>${copyButton(body, 'the body')}</div>
<pre tabindex="0" aria-label="Body" data-testid="body">${visible(body)}</pre>
<dl class="facts"><dt>Length</dt><dd data-testid="bytes">${Buffer.byteLength(body)} bytes</dd>
<dt>SHA-256</dt><dd><code data-testid="sha256">${createHash('sha256').update(body).digest('hex')}</code></dd></dl>
<p class="soft small">Each dot is a space. They are uneven on purpose: verify these bytes, not JSON that was parsed and written again.</p>
</div>
<div class="panel"><h3>Headers</h3>${headerBlock(headers, 'Headers')}
${event.attempts.length === 0 && html`<p class="soft small">As they would be now: nothing was sent yet.</p>`}</div>
<div class="panel"><div class="heading"><h3>Signed string</h3>${copyButton(signedText, 'the signed string')}</div>
<pre tabindex="0" aria-label="Signed string" data-testid="signed-string">${visible(signedText)}</pre>
<p class="soft small">${scheme.algorithm ?? 'sha256'} HMAC of this text with the webhook secret, in ${scheme.encoding ?? 'hex'}. ${Object.keys(scheme).length === 0 ? "It is the sandbox's choice: the service does not document its own." : 'As the sandbox was told; its default scheme differs.'}</p></div>
<div class="panel"><div class="heading"><h3>curl</h3>${copyButton(curl, 'the command')}</div>
<pre tabindex="0" aria-label="curl" data-testid="curl">${curl}</pre>
<p class="soft small">Signed when this page was opened.</p></div>
</section>`;
}

/** A command that delivers the event by hand, freshly signed. */
function curlCommand({ settings, clock }: SandboxContext, { body }: SandboxEvent): string {
  const target = typeof settings.webhook === 'string' ? settings.webhook : 'http://127.0.0.1:3000/webhooks';
  const { headers } = signed(body, settings, clock);
  const lines = Object.entries(headers).map(([name, value]) => `  -H ${quoted(`${name}: ${value}`)} \\\n`);
  return `curl -i ${quoted(target)} \\\n${lines.join('')}  --data-binary ${quoted(body)}`;
}

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** White space as signs, so that every byte can be seen. */
function visible(text: string): Html[] {
  const signs = new Map([
    [' ', '·'],
    ['\t', '→'],
    ['\n', '⏎\n'],
    ['\r', '␍'],
  ]);
  return text
    .split(/([ \t\n\r])/)
    .map((part) => (signs.has(part) ? html`<i class="ws">${signs.get(part)}</i>` : html`${part}`));
}

const headerBlock = (headers: Record<string, string>, label: string): Html =>
  block(
    Object.entries(headers)
      .map(([name, value]) => `${name}: ${value}`)
      .join('\n'),
    label,
  );

const block = (text: string, label: string): Html =>
  html`<pre tabindex="0" aria-label="${label}">${text}</pre>`;
