import { html } from 'hono/html';
import type { SandboxContext } from '../../context.js';
import type { Html } from '../layout.js';
import { type Asked, actionForm, copyButton, dashboardPage, doctorForm, testEventForm } from './frame.js';
import { span } from './moments.js';

/** Whether key and secret are shown in full. */
type Shown = Readonly<Record<'key' | 'secret', boolean>>;

/** The API key, Webhook Settings and what to put into `.env`. */
export function developerPage(context: SandboxContext, { show = [], url, ...asked }: Asked) {
  const { settings } = context;
  const { webhook } = settings;
  const shown: Shown = { key: show.includes('key'), secret: show.includes('secret') };
  return dashboardPage({
    ...asked,
    title: 'Developer',
    tab: '/developer',
    content: html`<div class="heading"><h1>Developer</h1></div>
<section class="panel" aria-labelledby="key"><h2 id="key">API key</h2>
${secretLine(settings.apiKey, 'the API key', shown.key, address({ ...shown, key: !shown.key }), 'api-key')}
<details class="asks"><summary class="button" data-testid="regenerate">Regenerate…</summary>
<p>The old key stops working at once.</p>
${actionForm(context, '/developer/key', html`<button class="button danger" data-testid="regenerate-confirm">Regenerate the key</button>`)}
</details></section>
<section class="panel" id="webhook" aria-labelledby="webhook-heading"><h2 id="webhook-heading">Webhook Settings</h2>
${actionForm(
  context,
  '/developer/webhook',
  html`<label for="url">URL</label>
<div class="line"><input class="field" id="url" name="url" type="text" inputmode="url" autocomplete="off" spellcheck="false" placeholder="http://127.0.0.1:3000/webhooks" value="${url ?? (typeof webhook === 'string' ? webhook : '')}" aria-describedby="url-help" data-testid="webhook-url">
<button class="button primary" data-testid="save-webhook">Save</button></div>`,
)}
<p class="soft small" id="url-help">${typeof webhook === 'function' ? 'Events go to a function in this process. A URL takes its place.' : `Events are sent here ${when(settings)}. Empty: they are kept and not sent.`}</p>
<h3>Secret</h3>
${secretLine(settings.webhookSecret, 'the webhook secret', shown.secret, `${address({ ...shown, secret: !shown.secret })}#webhook`, 'webhook-secret')}
${scheme(settings.choices.signature)}
<div class="actions">${testEventForm(context)}
${webhook !== undefined && doctorForm(context, 'Run doctor')}</div>
<p class="soft small">A test event creates a real product, checkout and order, so that your handler can read back what the event names.
${webhook !== undefined && 'The doctor sends valid and invalid deliveries about a throw-away order, and shows what is wrong with the handler.'}</p>
</section>
${envBlock(context, shown)}`,
  });
}

function when({ webhooks }: SandboxContext['settings']): string {
  if (webhooks === 'manual') return 'when you deliver them';
  return webhooks === 'auto'
    ? 'as soon as a checkout is paid'
    : `${span(webhooks.delayMs)} after a checkout is paid`;
}

/** How deliveries are signed, if not by the default scheme. */
function scheme(signature: object): Html | undefined {
  if (Object.keys(signature).length === 0) return undefined;
  return html`<h3>Scheme</h3><pre tabindex="0" aria-label="Signature scheme" data-testid="scheme">${JSON.stringify(signature, null, 2)}</pre>`;
}

function secretLine(value: string, what: string, shown: boolean, toggle: string, testId: string): Html {
  return html`<div class="line secret"><code data-testid="${testId}">${shown ? value : masked(value)}</code>
<a class="button small" href="${toggle}" data-testid="show-${testId}">${shown ? 'Hide' : 'Show'}<span class="spoken"> ${what}</span></a>
${shown && copyButton(value, what)}</div>`;
}

function envBlock({ settings, reach }: SandboxContext, shown: Shown): Html {
  const lines = [
    `PAYMENTS_BASE_URL=${reach.origin}`,
    `PAYMENTS_API_KEY=${shown.key ? settings.apiKey : masked(settings.apiKey)}`,
    `PAYMENTS_WEBHOOK_SECRET=${shown.secret ? settings.webhookSecret : masked(settings.webhookSecret)}`,
  ].join('\n');
  const all = shown.key && shown.secret;
  return html`<section class="panel" id="env" aria-labelledby="env-heading"><div class="heading"><h2 id="env-heading">.env</h2>
<div class="actions"><a class="button small" href="${address({ key: !all, secret: !all })}#env" data-testid="show-env">${all ? 'Hide' : 'Show'}<span class="spoken"> key and secret</span></a>${all && copyButton(lines, 'the .env block')}</div></div>
<pre tabindex="0" aria-label=".env block" data-testid="env">${lines}</pre></section>`;
}

/** The page with as much of key and secret as is asked for. */
const address = ({ key, secret }: Shown): string => {
  const asked = [key && 'show=key', secret && 'show=secret'].filter(Boolean);
  return asked.length > 0 ? `/developer?${asked.join('&')}` : '/developer';
};

/** The prefix that tells what it is, and the last four characters. */
const masked = (value: string): string => {
  const prefix = /^(?:service_(?:test|live)_|whsec_)/.exec(value)?.[0] ?? '';
  return value.length - prefix.length >= 12 ? `${prefix}…${value.slice(-4)}` : `${prefix}…`;
};
