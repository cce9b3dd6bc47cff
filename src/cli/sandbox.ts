import { once } from 'node:events';
import { escapeInvisible } from '../input/visible.js';
import { type Activity, describeActivity } from '../sandbox/activity.js';
import type { SandboxContext } from '../sandbox/context.js';
import { usualPort } from '../sandbox/http/listening.js';
import { span } from '../sandbox/service/clock.js';
import { version } from '../version.js';
import { command } from './command.js';
import { servingFlags, startServing } from './serving.js';
import { paint, print } from './terminal.js';

export const sandbox = command({
  summary: 'serves the sandbox on this machine',
  usage: 'sandbox [flags]',
  example: 'sandbox --webhook-url http://localhost:3000/webhooks',
  flags: {
    ...servingFlags,
    quiet: ['', 'prints no log of what happens'],
    json: ['', 'prints the log as JSON, one object a line'],
  },
  async run(given) {
    const { context, end, loaded } = await startServing(given, usualPort);
    const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'].map((name) => once(process, name));
    // The sandbox also ends if nobody reads its output. A second signal ends the process at once.
    const ended = Promise.race([...signals, once(process.stdout, 'error')]);
    const json = given.has('json');
    if (json) {
      const { url, apiKey, webhookSecret, dashboardUrl } = context.sandbox;
      print(JSON.stringify({ type: 'ready', url, apiKey, webhookSecret, dashboardUrl }));
    } else {
      print(banner(context, given.text('host'), loaded));
      // This line is printed later: if a reader such as `head` has left by then, the write fails and ends the sandbox.
      setTimeout(
        () => print(`  ${paint('dim', `Ctrl+C ends it. Times are local (UTC${utcOffset()}).`)}\n`),
        100,
      ).unref();
    }
    if (!given.has('quiet')) watch(context, json, print);
    await ended;
    await end();
    return 0;
  },
});

/** Returns the offset of local time, such as `+02:00`. */
function utcOffset(): string {
  const minutes = -new Date().getTimezoneOffset();
  const twoDigits = (count: number) => String(Math.floor(count)).padStart(2, '0');
  return `${minutes < 0 ? '-' : '+'}${twoDigits(Math.abs(minutes) / 60)}:${twoDigits(Math.abs(minutes) % 60)}`;
}

function banner({ sandbox, settings, guard }: SandboxContext, host?: string, loaded?: string): string {
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
${loaded === undefined ? '' : `  ${loaded}\n`}${guard.accessToken === undefined ? '' : `\n${paint('yellow', warning)}\n`}
  ${paint('dim', '# .env')}
  PAYMENTS_BASE_URL=${url}
  PAYMENTS_API_KEY=${apiKey}
  PAYMENTS_WEBHOOK_SECRET=${webhookSecret}
${guard.accessToken === undefined ? '' : `  SANDBOX_TOKEN=${guard.accessToken}\n`}`;
}

/** Prints the activity log: a line for each entry, or its facts as JSON. `which` selects the entries. */
export function watch(
  { activity }: SandboxContext,
  json: boolean,
  write: (line: string) => void,
  which: (entry: Activity) => boolean = () => true,
): void {
  const text = activityPrinter();
  activity.added.subscribe((entry) => {
    if (which(entry)) write(json ? JSON.stringify(factsOf(entry)) : text(entry));
  });
}

function factsOf(entry: Activity): object {
  const { type, at } = entry;
  if (type === 'action') return { at, ...entry.action };
  if (type === 'request') {
    const { body: _body, responseBody: _responseBody, ...facts } = entry.request;
    return { type, ...facts };
  }
  const { id, data, state, nextAttemptAt } = entry.event;
  const { number, cause, status, error, hint } = entry.attempt ?? {};
  const facts = { event: id, order: data.order_id, state, nextAttemptAt, attempt: number, cause };
  return { type, at, ...facts, status, error, hint };
}

const colours = { good: 'green', bad: 'red', warn: 'yellow', calm: 'dim' } as const;

/** Returns a function that words entries, and says each tag and each hint in full only once. */
function activityPrinter() {
  const seenTags = new Set<string>();
  const seenHints = new Set<string>();
  return (entry: Activity): string => {
    const { kind, subject: said, outcome, tone, more } = describeActivity(entry);
    const isClock = entry.type === 'action' && entry.action.type === 'clock';
    const subject = isClock ? `it is ${localTime(entry.at)}` : said;
    const isRequest = entry.type === 'request';
    const unspecified = isRequest ? entry.request.unspecified.filter((name) => !seenTags.has(name)) : [];
    for (const name of unspecified) seenTags.add(name);
    const tail = [more, unspecified.length > 0 && `not in the spec: ${unspecified.join(', ')}`].filter(
      Boolean,
    );
    const head = isRequest
      ? `${kind.padEnd(5)} ${escapeInvisible(subject)}`
      : `${paint('magenta', kind)} ${escapeInvisible(subject)}`;
    const parts = [
      head,
      outcome && paint(colours[tone], escapeInvisible(outcome)),
      tail.length > 0 && paint('dim', tail.join('; ')),
    ];
    const notes = [
      ...(isRequest ? entry.request.warnings : []),
      entry.type === 'delivery' ? shortHint(entry.attempt?.hint, seenHints) : undefined,
    ].filter((text) => text !== undefined);
    return [`${time(entry.at)}  ${parts.filter(Boolean).join('  ')}`, ...notes.map(note)].join('\n');
  };
}

/** Returns a hint in full the first time, then only its command. Hints that differ only in figures count as the same. */
function shortHint(hint: string | undefined, seen: Set<string>): string | undefined {
  if (hint === undefined) return undefined;
  const kind = hint.replaceAll(/\b[\da-f]*\d[\da-f]*\b/g, '#');
  if (seen.has(kind)) return /To find out why: .*$/.exec(hint)?.[0];
  seen.add(kind);
  return hint;
}

const note = (text: string) => `          ${paint('yellow', '!')} ${escapeInvisible(text)}`;

/** Returns the local date and time of day. */
const localTime = (at: Date): string => `${at.toLocaleDateString('sv')} ${at.toTimeString().slice(0, 8)}`;

/** Returns the local time of day, whose offset the banner names. */
const time = (at: Date) => paint('dim', at.toTimeString().slice(0, 8));
