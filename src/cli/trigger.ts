import * as z from 'zod/mini';
import { eventType, eventTypes } from '../sandbox/service/event-types.js';
import type { Command } from './command.js';
import { attempt, outcomeOf } from './deliver.js';
import { Flags } from './flags.js';
import { ask, otherVersion, runningFlags } from './running.js';
import { print, printJson, UsageError } from './terminal.js';

const flags = {
  amount: { value: '<amount>', text: 'a decimal, such as 7.50; default 19.90' },
  currency: { value: '<code>', text: "default: the balance's" },
  ...runningFlags,
};

const paid = z.object({
  order: z.object({ id: z.string(), amount: z.string(), currency: z.string() }),
  event: z.object({ state: z.string() }),
  delivery: z.optional(attempt),
});

const unsent = new Map([
  ['no_url', 'No webhook was sent: none is set.'],
  ['held', 'Its webhook is held. Send it with: merchant-payments deliver'],
]);

/** Makes an event happen in a running sandbox and shows the response of the receiver. */
export const trigger: Command = {
  summary: 'creates a paid order in a running sandbox, with its webhook: trigger order.paid',
  usage: 'trigger <event type> [flags]\n\nExit code 1 if the webhook was sent and rejected.',
  example: 'trigger order.paid --amount 7.50',
  flags,
  async run(args) {
    const given = new Flags(flags, args);
    const [type, ...rest] = given.positionals;
    if (!eventType.safeParse(type).success || rest.length > 0)
      throw new UsageError(
        `Pass the event type: ${Object.keys(eventTypes).join(' or ')}, as the service documents.`,
      );
    const content = await ask(given, 'POST', '/trigger', {
      type,
      amount: given.text('amount'),
      currency: given.text('currency'),
    });
    const result = paid.safeParse(content);
    if (!result.success) throw otherVersion();
    const { order, event, delivery } = result.data;
    if (given.has('json')) printJson(content);
    else {
      print(`Order ${order.id} of ${order.amount} ${order.currency} is paid.`);
      print(delivery ? outcomeOf(delivery) : (unsent.get(event.state) ?? 'Its webhook goes out later.'));
    }
    return delivery?.ok === false ? 1 : 0;
  },
};
