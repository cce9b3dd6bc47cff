import * as z from 'zod/mini';
import { duration } from '../sandbox/service/duration.js';
import { runningCommand } from './running.js';
import { UsageError } from './terminal.js';

export const advance = runningCommand({
  summary: 'moves the clock of a running sandbox forward, and runs what falls due: advance 2h',
  usage: 'advance <duration> [flags]',
  example: 'advance 2h',
  flags: {},
  words: 1,
  request({ positionals: [by] }) {
    if (by === undefined) throw new UsageError('Pass one duration, such as 30s, 5m, 2h or 1d.');
    const { error } = duration.safeParse(by);
    if (error) throw new UsageError(`${error.issues[0]?.message}`);
    return ['POST', '/clock', { advance: by }];
  },
  content: z.object({ now: z.string() }),
  says: ({ now }) => `It is ${now} in the sandbox.`,
});
