import { isDuration } from '../sandbox/service/duration.js';
import type { Command } from './command.js';
import { Flags } from './flags.js';
import { ask, runningFlags } from './running.js';
import { UsageError } from './terminal.js';

/** Moves the clock of a running sandbox. */
export const advance: Command = {
  summary: 'moves the clock of a running sandbox forward, and runs what falls due: advance 2h',
  usage: 'advance <duration> [flags]',
  flags: runningFlags,
  async run(args) {
    const flags = new Flags(runningFlags, args);
    const [by, ...rest] = flags.positionals;
    if (by === undefined || rest.length > 0)
      throw new UsageError('Pass one duration, such as 30s, 5m, 2h or 1d.');
    if (!isDuration(by))
      throw new UsageError(`${JSON.stringify(by)} is not a duration. Pass one such as 30s, 5m, 2h or 1d.`);
    const content = await ask(flags, 'POST', '/clock', { advance: by });
    process.stdout.write(
      flags.has('json') ? `${JSON.stringify(content)}\n` : `It is ${String(content.now)} in the sandbox.\n`,
    );
    return 0;
  },
};
