import type { Command } from './command.js';
import { Flags } from './flags.js';
import { ask, runningFlags } from './running.js';
import { noPositionals } from './serving.js';

/** Resets a running sandbox. */
export const reset: Command = {
  summary: 'deletes the data of a running sandbox and resets its clock',
  usage: 'reset [flags]',
  flags: runningFlags,
  async run(args) {
    const flags = new Flags(runningFlags, args);
    noPositionals(flags);
    const content = await ask(flags, 'DELETE', '/state');
    process.stdout.write(
      flags.has('json') ? `${JSON.stringify(content)}\n` : 'The sandbox is empty again.\n',
    );
    return 0;
  },
};
