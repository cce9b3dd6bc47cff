import { runningCommand } from './running.js';
import { noPositionals } from './serving.js';

/** Resets a running sandbox. */
export const reset = runningCommand({
  summary: 'deletes the data of a running sandbox and resets its clock',
  usage: 'reset [flags]',
  example: 'reset',
  request(words) {
    noPositionals({ positionals: words });
    return ['DELETE', '/state'];
  },
  says: () => 'The sandbox is empty again.',
});
