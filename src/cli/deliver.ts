import * as z from 'zod/mini';
import { visible } from '../schemas/visible.js';
import { runningCommand } from './running.js';

export const attempt = z.object({
  ok: z.boolean(),
  target: z.string(),
  durationMs: z.number(),
  status: z.optional(z.number()),
  error: z.optional(z.string()),
  hint: z.optional(z.string()),
});

/** `Webhook to http://…: 200 in 12 ms.`, or why there was no response, and what to do. */
export function outcomeOf({ target, status, error = '', durationMs, hint }: Attempt): string {
  const outcome = status === undefined ? visible(error) : `${status} in ${Math.round(durationMs)} ms.`;
  return `Webhook to ${visible(target)}: ${outcome}${hint === undefined ? '' : `\n${visible(hint)}`}`;
}

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
  content: z.union([z.object({ attempts: z.array(attempt) }), attempt]),
  says: (content) => attemptsIn(content).map(outcomeOf).join('\n') || 'No event waits.',
  isOk: (content) => attemptsIn(content).every(({ ok }) => ok),
});

type Attempt = z.output<typeof attempt>;
const attemptsIn = (content: Attempt | { attempts: Attempt[] }) =>
  'attempts' in content ? content.attempts : [content];
