import * as z from 'zod/mini';
import { eventType, eventTypes } from '../sandbox/service/event-types.js';
import { attempt, outcomeOf } from './deliver.js';
import { runningCommand } from './running.js';
import { UsageError } from './terminal.js';

const unsent = new Map([
  ['no_url', 'No webhook was sent: none is set.'],
  ['held', 'Its webhook is held. Send it with: merchant-payments deliver'],
]);

export const trigger = runningCommand({
  summary: 'creates a paid order in a running sandbox, with its webhook: trigger order.paid',
  usage: 'trigger <event type> [flags]\n\nExit code 1 if the webhook was sent and rejected.',
  example: 'trigger order.paid --amount 7.50',
  flags: {
    amount: { value: '<amount>', text: 'a decimal, such as 7.50; default 19.90' },
    currency: { value: '<code>', text: "default: the balance's" },
  },
  words: 1,
  request(given) {
    const [type] = given.positionals;
    if (!eventType.safeParse(type).success)
      throw new UsageError(
        `Pass the event type: ${Object.keys(eventTypes).join(' or ')}, as the service documents.`,
      );
    return ['POST', '/trigger', { type, amount: given.text('amount'), currency: given.text('currency') }];
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
