import { once } from 'node:events';
import { visible } from '../input/visible.js';
import type { Deed, SandboxContext } from '../sandbox/context.js';
import type { LoggedRequest } from '../sandbox/http/log.js';
import { span } from '../sandbox/service/clock.js';
import type { Attempt, SandboxEvent } from '../sandbox/service/event.js';
import { version } from '../version.js';
import { command } from './command.js';
import { servingFlags, startServing, usualPort } from './serving.js';
import { paint, print } from './terminal.js';

export const sandbox = command({
  summary: 'serves the sandbox on this machine',
  usage: 'sandbox [flags]',
  example: 'sandbox --webhook-url http://localhost:3000/webhooks',
  flags: {
    ...servingFlags,
    quiet: ['', 'no line per request and delivery'],
    json: ['', 'one JSON object per line, for programs'],
  },
  async run(given) {
    const { context, end } = await startServing(given, usualPort);
    const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'].map((name) => once(process, name));
    // Also when nobody reads the output. A second signal ends the process at once.
    const ended = Promise.race([...signals, once(process.stdout, 'error')]);
    const json = given.has('json');
    if (json) {
      const { url, apiKey, webhookSecret, dashboardUrl } = context.sandbox;
      print(JSON.stringify({ type: 'ready', url, apiKey, webhookSecret, dashboardUrl }));
    } else {
      print(banner(context, given.text('host')));
      // Apart from the rest, so that a reader such as `head` that has left by now ends the sandbox.
      setTimeout(() => print(`  ${paint('dim', 'Ctrl+C ends it.')}\n`), 100).unref();
    }
    if (!given.has('quiet')) watch(context, json);
    await ended;
    await end();
    return 0;
  },
});

function banner({ sandbox, settings, guard }: SandboxContext, host?: string): string {
  const { url, apiKey, webhookSecret, dashboardUrl } = sandbox;
  const { webhook, webhooks } = settings;
  const when =
    typeof webhooks === 'object'
      ? `, ${span(webhooks.delayMs)} after each payment`
      : { auto: '', manual: ', held back until you deliver them' }[webhooks];
  const kept = 'kept; pass --webhook-url to send them';
  const warning = `  Other machines can reach this sandbox on ${host}. The dashboard link above holds its access token.`;
  return `
  ${paint('bold', 'merchant-payments sandbox')} ${version}: no money moves

  Base URL   ${paint('cyan', url)}
  Dashboard  ${paint('cyan', dashboardUrl)}
  Webhooks   ${webhook === undefined ? kept : `to ${String(webhook)}${when}`}
${guard.accessToken === undefined ? '' : `\n${paint('yellow', warning)}\n`}
  ${paint('dim', '# .env')}
  PAYMENTS_BASE_URL=${url}
  PAYMENTS_API_KEY=${apiKey}
  PAYMENTS_WEBHOOK_SECRET=${webhookSecret}
${guard.accessToken === undefined ? '' : `  SANDBOX_TOKEN=${guard.accessToken}\n`}`;
}

/** Tells one line per delivery attempt and per event that waits. */
export function watchDeliveries(context: SandboxContext, json: boolean, tell: (line: string) => void): void {
  const told = new WeakMap<SandboxEvent, number>();
  const hints = new Set<string>();
  context.deliveries.changed.subscribe((event) => {
    const { id, data, attempts, state, nextAttemptAt } = event;
    const attempt = attempts.length > (told.get(event) ?? 0) ? attempts.at(-1) : undefined;
    told.set(event, attempts.length);
    if (!attempt && state === 'pending' && nextAttemptAt === undefined) return;
    if (!json)
      return tell(deliveryLine(event, attempt, context.clock.now()) + hintOnce(attempt?.hint, hints));
    const { number, cause, status, error, hint } = attempt ?? {};
    const facts = { event: id, order: data.order_id, state, nextAttemptAt, attempt: number, cause };
    tell(JSON.stringify({ type: 'delivery', ...facts, status, error, hint }));
  });
}

function watch(context: SandboxContext, json: boolean): void {
  context.requests.added.subscribe((request) => {
    const { body: _body, responseBody: _responseBody, ...facts } = request;
    print(json ? JSON.stringify({ type: 'request', ...facts }) : requestLine(request));
  });
  watchDeliveries(context, json, print);
  context.deeds.subscribe((deed) => print(json ? JSON.stringify(deed) : deedLine(deed, context.clock.now())));
}

function deedLine(deed: Deed, now: number): string {
  const line = (what: string, text: string) => `${time(now)}  ${paint('magenta', what)}  ${text}`;
  if (deed.type === 'reset') return line('reset', 'all data is gone, and the clock is set back');
  if (deed.type === 'clock') return line('clock', `it is ${deed.now.toISOString()}`);
  return line('fault', deed.type === 'fault' ? visible(deed.says) : 'all are cleared');
}

function requestLine(request: LoggedRequest): string {
  const { at, method, path, status = 'lost', durationMs, unspecified, warnings, fault, key } = request;
  const colour = status === 'lost' ? 'red' : status < 400 ? 'green' : 'yellow';
  const notes = [
    fault !== undefined && `fault: ${fault}`,
    status === 401 && key !== 'ok' && `key: ${key}`,
    unspecified.length > 0 && `not in the spec: ${unspecified.join(', ')}`,
  ].filter((one) => one !== false);
  const tail = notes.length > 0 ? paint('dim', `  (${notes.join('; ')})`) : '';
  const first = `${time(at)}  ${method.padEnd(5)} ${visible(path)}  ${paint(colour, `${status}`)}  ${Math.round(durationMs)} ms${tail}`;
  return [first, ...warnings.map(note)].join('\n');
}

function deliveryLine(event: SandboxEvent, attempt: Attempt | undefined, now: number): string {
  const { type, data, state, nextAttemptAt } = event;
  const wait = nextAttemptAt && span(nextAttemptAt.getTime() - now);
  const waits = {
    held: 'held until you deliver it',
    no_url: 'kept: no webhook is set',
    // Without a time it is on its way.
    pending: wait && `goes out in ${wait}`,
    retrying: wait && `next attempt in ${wait}`,
    delivered: undefined,
    failed: 'no more attempts',
  }[state];
  const parts = [attempt && outcomeOf(attempt), attempt?.ok ? undefined : waits];
  return `${time(now)}  ${paint('magenta', type)} ${data.order_id}  ${parts.filter(Boolean).join('; ')}`;
}

/** A hint in full the first time; then only what finds out why. Figures in it differ from event to event. */
function hintOnce(hint: string | undefined, told: Set<string>): string {
  if (hint === undefined) return '';
  const kind = hint.replaceAll(/\b[\da-f]*\d[\da-f]*\b/g, '#');
  const text = told.has(kind) ? /To find out why: .*$/.exec(hint)?.[0] : hint;
  told.add(kind);
  return text === undefined ? '' : `\n${note(text)}`;
}

function outcomeOf({ ok, status, error = '', durationMs, number, cause }: Attempt): string {
  const which = cause === 'due' ? `attempt ${number}` : `attempt ${number}, ${cause}`;
  const failure = paint('red', `failed: ${visible(error.replace(/\.$/, ''))}`);
  const response = ok ? paint('green', `delivered ${status}`) : paint('red', `refused ${status}`);
  const outcome = status === undefined ? failure : `${response}  ${Math.round(durationMs)} ms`;
  return `${outcome}  (${which})`;
}

const note = (text: string) => `          ${paint('yellow', '!')} ${visible(text)}`;
const time = (at: Date | number) => paint('dim', new Date(at).toTimeString().slice(0, 8));
