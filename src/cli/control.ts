import * as z from 'zod/mini';
import { parseObject } from '../doctor/json.js';
import { visible } from '../input/visible.js';
import { notKnown, problemOf } from '../sandbox/checks.js';
import { duration } from '../sandbox/duration.js';
import { eventTypes } from '../sandbox/service/event.js';
import { costs } from '../sandbox/service/payments.js';
import { type Command, command, type Flags, type FlagTable } from './command.js';
import { usualPort } from './serving.js';
import { CommandError, refuseUnless, show, UsageError } from './terminal.js';

const defaultUrl = `http://127.0.0.1:${usualPort}`;

export const runningFlags = {
  url: ['<url>', `the running sandbox; default ${defaultUrl}`, { env: 'SANDBOX_URL' }],
  token: ['<token>', 'its access token, if other computers can reach it', { env: 'SANDBOX_TOKEN' }],
  json: ['', "prints the sandbox's response"],
} satisfies FlagTable;

type Request = readonly [method: 'GET' | 'POST' | 'DELETE', path: string, body?: object];

/** A command that is one request to a running sandbox. */
interface RunningCommand<Name extends string, Content> extends Omit<Command<Name>, 'run'> {
  request(given: Flags<Name>): Request;
  /** What is shown of the response. */
  content: z.ZodMiniType<Content>;
  says(content: Content): string;
  /** Whether the exit code is 0. */
  isOk?(content: Content): boolean;
}

export function runningCommand<const Name extends string, Content>(own: RunningCommand<Name, Content>) {
  const { request, content, says, isOk = () => true, ...about } = own;
  return command({
    ...about,
    flags: { ...about.flags, ...runningFlags },
    async run(given: Flags<Name | keyof typeof runningFlags>) {
      const response = await ask(given, request(given));
      const shown = readAs(content, response);
      return show(given.has('json'), response, () => says(shown), isOk(shown));
    },
  });
}

/** The response of a sandbox of this version. */
export function readAs<Content>(content: z.ZodMiniType<Content>, response: object): Content {
  const result = content.safeParse(response);
  if (result.success) return result.data;
  throw new CommandError('The running sandbox has another version than this command. Start it anew.');
}

export async function ask(flags: Flags<'url' | 'token'>, [method, path, body]: Request) {
  const url = flags.url('url') ?? defaultUrl;
  const token = flags.text('token');
  const isToken = token === undefined || /^[!-~\xa1-\xff]+$/.test(token);
  refuseUnless(isToken, `${flags.source('token')}: pass the access token as the sandbox printed it.`);
  const headers = {
    ...(body && { 'content-type': 'application/json' }),
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
  };
  const init = { method, headers, body: body ? JSON.stringify(body) : null, redirect: 'manual' } as const;
  const response = await fetch(new URL(`/_sandbox${path}`, url), init).catch(() => {
    throw new CommandError(`No sandbox responds at ${url}. Start one with: merchant-payments sandbox`);
  });
  const content = parseObject(await response.text());
  if (response.ok && content) return content;
  const error = content?.error;
  if (typeof error === 'object' && error !== null && 'message' in error)
    throw new (response.status === 400 ? UsageError : CommandError)(String(error.message));
  if (response.status !== 401)
    throw new CommandError(`${url} responded ${response.status}, so it is not a sandbox. Check --url.`);
  const problem = token === undefined ? 'requires its access token' : 'does not accept this access token';
  const remedy = 'Pass --token with the one that it printed, or set SANDBOX_TOKEN.';
  throw new CommandError(`The sandbox at ${url} ${problem}. ${remedy}`);
}

const attempt = z.object({
  ok: z.boolean(),
  target: z.string(),
  status: z.optional(z.number()),
  error: z.optional(z.string()),
  durationMs: z.number(),
  hint: z.optional(z.string()),
});

type Attempt = z.output<typeof attempt>;

function outcomeOf({ target, status, error = '', durationMs, hint = '' }: Attempt): string {
  const outcome = status === undefined ? error : `${status} in ${Math.round(durationMs)} ms.`;
  return [`Webhook to ${target}: ${outcome}`, hint].filter(Boolean).map(visible).join('\n');
}

const unsent = new Map([
  ['no_url', 'No webhook was sent: none is set.'],
  ['held', 'Its webhook is held. Send it with: merchant-payments deliver'],
]);

export const trigger = runningCommand({
  summary: 'creates a paid order in a running sandbox, with its webhook: trigger order.paid',
  usage: 'trigger <event type> [flags]\n\nExit code 1 if the webhook was sent and rejected.',
  example: 'trigger order.paid --amount 7.50',
  flags: {
    amount: ['<amount>', 'a decimal, such as 7.50; default 19.90'],
    currency: ['<code>', "default: the balance's"],
  },
  words: 1,
  request(given) {
    const type = given.word('event type', 'trigger order.paid');
    const problem = notKnown(type, Object.keys(eventTypes));
    refuseUnless(Object.hasOwn(eventTypes, type), JSON.stringify(type) + problem);
    const price = { amount: given.text('amount'), currency: given.text('currency') };
    const { error } = z.object(costs).safeParse(price);
    if (error) throw new UsageError(`--${problemOf(error)}`);
    return ['POST', '/trigger', { type, ...price }];
  },
  content: z.object({
    order: z.object({ id: z.string(), amount: z.string(), currency: z.string() }),
    event: z.object({ state: z.string() }),
    delivery: z.optional(attempt),
  }),
  says: ({ order: { id, amount, currency }, event, delivery }) =>
    `Order ${id} of ${amount} ${currency} is paid.\n` +
    (delivery ? outcomeOf(delivery) : (unsent.get(event.state) ?? 'Its webhook goes out later.')),
  isOk: ({ delivery }) => delivery?.ok !== false,
});

export const deliver = runningCommand({
  summary: 'sends the events that a running sandbox holds, or one of them again',
  usage: 'deliver [<event id>] [flags]\n\nExit code 1 if one was rejected.',
  example: 'deliver',
  flags: {},
  words: 1,
  request({ positionals: [id] }) {
    refuseUnless(id !== '', 'The event id is empty. Pass one, or leave it out.');
    return ['POST', id === undefined ? '/events/deliver' : `/events/${encodeURIComponent(id)}/redeliver`];
  },
  content: z.union([z.object({ attempts: z.array(attempt) }), attempt]),
  says: (sent) => attemptsOf(sent).map(outcomeOf).join('\n') || 'No event is held or due.',
  isOk: (sent) => attemptsOf(sent).every(({ ok }) => ok),
});

const attemptsOf = (sent: Attempt | { attempts: Attempt[] }) => ('attempts' in sent ? sent.attempts : [sent]);

export const advance = runningCommand({
  summary: 'moves the clock of a running sandbox forward, and runs what falls due: advance 2h',
  usage: 'advance <duration> [flags]',
  example: 'advance 2h',
  flags: {},
  words: 1,
  request(given) {
    const by = given.word('duration', 'advance 2h');
    const { error } = duration.safeParse(by);
    if (error) throw new UsageError(problemOf(error));
    return ['POST', '/clock', { advance: by }];
  },
  content: z.object({ now: z.string() }),
  says: ({ now }) => `It is ${now} in the sandbox.`,
});

export const reset = runningCommand({
  summary: 'deletes the data of a running sandbox and resets its clock',
  usage: 'reset [flags]',
  example: 'reset',
  flags: {},
  request: () => ['DELETE', '/state'],
  content: z.object({}),
  says: () => 'The sandbox is empty again.',
});
