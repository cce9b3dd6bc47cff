import { parseObject } from '../doctor/json.js';
import { durationMs } from '../input/duration.js';
import { escapeInvisible } from '../input/visible.js';
import { usualPort } from '../sandbox/http/listening.js';
import type { Paid } from '../sandbox/sandbox.js';
import { span } from '../sandbox/service/clock.js';
import type { Attempt, SandboxEvent } from '../sandbox/service/event.js';
import { eventTypes } from '../sandbox/service/event.js';
import { costs } from '../sandbox/service/trigger.js';
import { version } from '../version.js';
import { type Command, command, type Flags, type FlagTable } from './command.js';
import { CommandError, readWord, refuseUnknown, refuseUnless, show, UsageError } from './terminal.js';

const defaultUrl = `http://127.0.0.1:${usualPort}`;

export const runningFlags = {
  sandbox: ['<url>', `the running sandbox; default ${defaultUrl}`, { env: 'SANDBOX_URL' }],
  token: [
    '<token>',
    'its access token, which it prints if it was started with --host',
    { env: 'SANDBOX_TOKEN' },
  ],
  json: ['', "prints the sandbox's response"],
} satisfies FlagTable;

type Request = readonly [method: 'GET' | 'POST' | 'DELETE', path: string, body?: object];

/** A response of a sandbox of this version. JSON turns its dates into strings. */
export type Json<Content> = Content extends Date
  ? string
  : Content extends object
    ? { [Name in keyof Content]: Json<Content[Name]> }
    : Content;

/** A command that is one request to a running sandbox. `Content` is the type that the route returns. */
interface RunningCommand<Name extends string, Content extends object> extends Omit<Command<Name>, 'run'> {
  request(given: Flags<Name>): Request;
  describe(content: Json<Content>): string;
  /** True if the exit code is 0. Default: always. */
  isOk?(content: Json<Content>): boolean;
}

export const runningCommand =
  <Content extends object>() =>
  <const Name extends string>(own: RunningCommand<Name, Content>) => {
    const { request, describe, isOk = () => true, ...about } = own;
    return command({
      ...about,
      flags: { ...about.flags, ...runningFlags },
      async run(given: Flags<Name | keyof typeof runningFlags>) {
        const content = await ask<Content>(given, request(given));
        return show(given.has('json'), content, () => describe(content), isOk(content));
      },
    });
  };

/** Sends a request to the running sandbox. The sandbox must have this command's version, so that its response has the declared type. */
export async function ask<Content extends object>(
  flags: Flags<'sandbox' | 'token'>,
  [method, path, body]: Request,
): Promise<Json<Content>> {
  const url = flags.url('sandbox') ?? defaultUrl;
  const token = flags.text('token');
  const isToken = token === undefined || /^[!-~\xa1-\xff]+$/.test(token);
  refuseUnless(isToken, `${flags.source('token')}: pass the access token as the sandbox printed it.`);
  const send = async (to: string, init: RequestInit) => {
    const response = await fetch(new URL(`/_sandbox${to}`, url), { redirect: 'manual', ...init }).catch(
      () => {
        throw new CommandError(`No sandbox responds at ${url}. Start one with: merchant-payments sandbox`);
      },
    );
    return { response, text: await response.text() };
  };
  const health = parseObject((await send('/health', {})).text);
  const isSandbox = health?.status === 'ok' && typeof health.now === 'string';
  if (!isSandbox) throw new CommandError(`${url} is not a sandbox. Check ${flags.source('sandbox')}.`);
  if (health.version !== version) {
    const versions = `${health.version ?? 'an older one'}, not ${version}`;
    throw new CommandError(`The running sandbox has another version (${versions}). Start it anew.`);
  }
  const headers = {
    ...(body && { 'content-type': 'application/json' }),
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
  };
  const { response, text } = await send(path, {
    method,
    headers,
    body: body ? JSON.stringify(body) : null,
  });
  if (response.ok) return JSON.parse(text);
  const error = parseObject(text)?.error;
  if (typeof error === 'object' && error !== null && 'message' in error)
    throw new (response.status === 400 ? UsageError : CommandError)(String(error.message));
  if (response.status !== 401) throw new CommandError(`${url} responded ${response.status}.`);
  const problem = token === undefined ? 'requires its access token' : 'does not accept this access token';
  const remedy = 'Pass --token with the one that it printed, or set SANDBOX_TOKEN.';
  throw new CommandError(`The sandbox at ${url} ${problem}. ${remedy}`);
}

function outcomeOf({ target, status, error = '', durationMs, hint = '' }: Json<Attempt>): string {
  const outcome = status === undefined ? error : `${status} in ${Math.round(durationMs)} ms.`;
  return [`Webhook to ${target}: ${outcome}`, hint].filter(Boolean).map(escapeInvisible).join('\n');
}

const unsent = new Map([
  ['no_url', 'No webhook was sent: none is set.'],
  ['held', 'Its webhook is held. Send it with: merchant-payments deliver'],
]);

export const trigger = runningCommand<Paid>()({
  summary: 'creates a paid order in a running sandbox, which then sends the webhook',
  usage:
    'trigger [<event type>] [flags]\n\nThe only type is order.paid, so you may leave it out. Exit code 1 if the webhook was sent and rejected.',
  example: 'trigger order.paid --amount 7.50',
  flags: {
    amount: ['<amount>', 'of the order, a decimal such as 7.50; default 19.90'],
    currency: ['<code>', 'of the amount; default: the currency of the balance'],
  },
  words: 1,
  request(given) {
    const [type = 'order.paid'] = given.positionals;
    if (!Object.hasOwn(eventTypes, type)) refuseUnknown(type, 'a type of event', Object.keys(eventTypes));
    const amount = readWord('--amount', costs.amount, given.text('amount'));
    const currency = readWord('--currency', costs.currency, given.text('currency'));
    return ['POST', '/trigger', { type, amount, currency }];
  },
  describe: ({ order: { id, amount, currency }, event, delivery }) =>
    `Order ${id} of ${amount} ${currency} is paid.\n` +
    (delivery ? outcomeOf(delivery) : (unsent.get(event.state) ?? 'Its webhook goes out later.')),
  isOk: ({ delivery }) => delivery?.ok !== false,
});

type Delivered = Attempt | { now: Date; attempts: Attempt[]; retrying: SandboxEvent[] };

export const deliver = runningCommand<Delivered>()({
  summary: 'sends the events that a running sandbox holds, or any one event again',
  usage:
    'deliver [<id of an event or its order>] [flags]\n\nWith an id, sends that event, even if it was delivered. Exit code 1 if one was rejected.',
  example: 'deliver',
  flags: {},
  words: 1,
  request({ positionals: [id] }) {
    refuseUnless(id !== '', 'The event id is empty. Pass one, or leave it out.');
    return ['POST', id === undefined ? '/events/deliver' : `/events/${encodeURIComponent(id)}/redeliver`];
  },
  describe(sent) {
    if (!('attempts' in sent)) return outcomeOf(sent);
    const { now, attempts, retrying } = sent;
    if (attempts.length > 0) return attempts.map(outcomeOf).join('\n');
    const waits = retrying.flatMap(({ nextAttemptAt: at = now }) => Date.parse(at) - Date.parse(now));
    const [one] = retrying;
    if (!one) return 'No event is held or due.';
    const [are, it] = retrying.length === 1 ? ['event is', 'it'] : ['events are', 'one'];
    return `No event is held. ${retrying.length} ${are} retried in ${span(Math.min(...waits))}: \`deliver ${one.data.order_id}\` sends ${it} now.`;
  },
  isOk: (sent) => ('attempts' in sent ? sent.attempts : [sent]).every(({ ok }) => ok),
});

export const advance = runningCommand<{ now: Date }>()({
  summary: 'moves the clock of a running sandbox forward, and does what falls due by then',
  usage: 'advance <duration> [flags]',
  example: 'advance 2h',
  flags: {},
  words: 1,
  request(given) {
    const by = given.word('duration', 'advance 2h');
    readWord('The duration', durationMs(), by);
    return ['POST', '/clock', { advance: by }];
  },
  describe: ({ now }) =>
    `It is ${new Date(now).toLocaleDateString('sv')} ${new Date(now).toTimeString().slice(0, 8)} in the sandbox.`,
});

export const reset = runningCommand<object>()({
  summary: 'deletes the data of a running sandbox and resets its clock',
  usage: 'reset [flags]',
  example: 'reset',
  flags: {},
  request: () => ['DELETE', '/state'],
  describe: () => 'The sandbox is empty again.',
});
