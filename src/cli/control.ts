import * as z from 'zod/mini';
import { duration, notKnown, problemOf } from '../sandbox/checks.js';
import { eventTypes } from '../sandbox/service/event.js';
import { costs } from '../sandbox/service/payments.js';
import { visible } from '../schemas/visible.js';
import { runningCommand } from './running.js';
import { refuseUnless, UsageError } from './terminal.js';

/** What is shown of an attempt. */
const attempt = z.object({
  ok: z.boolean(),
  target: z.string(),
  status: z.optional(z.number()),
  error: z.optional(z.string()),
  durationMs: z.number(),
  hint: z.optional(z.string()),
});

/** `Webhook to http://…: 200 in 12 ms.`, or why there was no response, and what to do. */
function outcomeOf({ target, status, error = '', durationMs, hint }: z.output<typeof attempt>): string {
  const outcome = status === undefined ? visible(error) : `${status} in ${Math.round(durationMs)} ms.`;
  return `Webhook to ${visible(target)}: ${outcome}${hint === undefined ? '' : `\n${visible(hint)}`}`;
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
    const problem = notKnown(type, 'an event type', Object.keys(eventTypes));
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

const sentOnce = z.pipe(
  attempt,
  z.transform((one) => ({ attempts: [one] })),
);

export const deliver = runningCommand({
  summary: 'sends the events that a running sandbox holds, or one of them again',
  usage: 'deliver [<event id>] [flags]\n\nExit code 1 if one was rejected.',
  example: 'deliver',
  flags: {},
  words: 1,
  request: ({ positionals: [id] }) => [
    'POST',
    id === undefined ? '/events/deliver' : `/events/${encodeURIComponent(id)}/redeliver`,
  ],
  content: z.union([z.object({ attempts: z.array(attempt) }), sentOnce]),
  says: ({ attempts }) => attempts.map(outcomeOf).join('\n') || 'No event waits.',
  isOk: ({ attempts }) => attempts.every(({ ok }) => ok),
});

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
