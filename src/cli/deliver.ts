import * as z from 'zod/mini';
import { visible } from '../schemas/visible.js';
import type { Command } from './command.js';
import { Flags } from './flags.js';
import { ask, otherVersion, runningFlags } from './running.js';
import { print, printJson, UsageError } from './terminal.js';

/** An attempt to deliver, as a running sandbox tells of it. */
export const attempt = z.object({
  ok: z.boolean(),
  target: z.string(),
  durationMs: z.number(),
  status: z.optional(z.number()),
  error: z.optional(z.string()),
  hint: z.optional(z.string()),
});

/** `Webhook to http://…: 200 in 12 ms.`, or why there was no response, and what to do. */
export function outcomeOf({
  target,
  status,
  error = '',
  durationMs,
  hint,
}: z.output<typeof attempt>): string {
  const outcome = status === undefined ? visible(error) : `${status} in ${Math.round(durationMs)} ms.`;
  return `Webhook to ${visible(target)}: ${outcome}${hint === undefined ? '' : `\n${visible(hint)}`}`;
}

/** Sends events of a running sandbox: those that are due or held, or any one. */
export const deliver: Command = {
  summary: 'sends the events that a running sandbox holds, or one of them again',
  usage: 'deliver [<event id>] [flags]\n\nExit code 1 if one was rejected.',
  example: 'deliver',
  flags: runningFlags,
  async run(args) {
    const given = new Flags(runningFlags, args);
    const [id, ...rest] = given.positionals;
    if (rest.length > 0) throw new UsageError('Pass one event id, or none for all that wait.');
    const path = id === undefined ? '/events/deliver' : `/events/${encodeURIComponent(id)}/redeliver`;
    const content = await ask(given, 'POST', path);
    const result = z.array(attempt).safeParse(id === undefined ? content.attempts : [content]);
    if (!result.success) throw otherVersion();
    if (given.has('json')) printJson(content);
    else print(result.data.map(outcomeOf).join('\n') || 'No event waits.');
    return result.data.every(({ ok }) => ok) ? 0 : 1;
  },
};
