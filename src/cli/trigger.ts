import * as z from 'zod/mini';
import type { Command } from './command.js';
import { Flags } from './flags.js';
import { ask, runningFlags } from './running.js';
import { CommandError, UsageError } from './terminal.js';

const flags = {
  amount: { value: '<amount>', text: 'a decimal, such as 7.50; default 19.90' },
  currency: { value: '<code>', text: "default: the balance's" },
  ...runningFlags,
};

const paid = z.object({
  order: z.object({ id: z.string(), amount: z.string(), currency: z.string() }),
  event: z.object({ state: z.string() }),
  delivery: z.optional(
    z.object({
      ok: z.boolean(),
      target: z.string(),
      durationMs: z.number(),
      status: z.optional(z.number()),
      error: z.optional(z.string()),
      hint: z.optional(z.string()),
    }),
  ),
});

const unsent = new Map([
  ['no_url', 'No webhook was sent: none is set.\n'],
  ['held', 'Its webhook is held until you deliver it.\n'],
]);

/** `200 in 12 ms.`, or why there was no response. */
const outcomeOf = ({
  status,
  error = '',
  durationMs,
}: {
  status?: number | undefined;
  error?: string | undefined;
  durationMs: number;
}) => (status === undefined ? error : `${status} in ${Math.round(durationMs)} ms.`);

/** Creates a paid order in a running sandbox and shows the response of the receiver. */
export const trigger: Command = {
  summary: 'creates a paid order in a running sandbox, with its webhook: trigger order.paid',
  usage: 'trigger order.paid [flags]\n\nExit code 1 if the webhook was sent and rejected.',
  flags,
  async run(args) {
    const given = new Flags(flags, args);
    const [type, ...rest] = given.positionals;
    if (type !== 'order.paid' || rest.length > 0)
      throw new UsageError('Pass the event type: order.paid, the one that the service documents.');
    const content = await ask(given, 'POST', '/trigger', {
      type,
      amount: given.text('amount'),
      currency: given.text('currency'),
    });
    const result = paid.safeParse(content);
    if (!result.success) throw new CommandError('The sandbox is of another version than this command.');
    const { order, event, delivery } = result.data;
    if (given.has('json')) process.stdout.write(`${JSON.stringify(content)}\n`);
    else {
      process.stdout.write(`Order ${order.id} of ${order.amount} ${order.currency} is paid.\n`);
      process.stdout.write(
        delivery
          ? `Webhook to ${delivery.target}: ${outcomeOf(delivery)}\n`
          : (unsent.get(event.state) ?? 'Its webhook goes out later.\n'),
      );
      if (delivery?.hint !== undefined) process.stdout.write(`${delivery.hint}\n`);
    }
    return delivery?.ok === false ? 1 : 0;
  },
};
