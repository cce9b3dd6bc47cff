import * as z from 'zod/mini';
import { runningCommand } from './running.js';

export const reset = runningCommand({
  summary: 'deletes the data of a running sandbox and resets its clock',
  usage: 'reset [flags]',
  example: 'reset',
  flags: {},
  words: 0,
  request: () => ['DELETE', '/state'],
  content: z.object({}),
  says: () => 'The sandbox is empty again.',
});
