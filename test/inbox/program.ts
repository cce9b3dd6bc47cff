import { environment, useProgram } from '../helpers/command.js';
import { runProcessSync } from '../helpers/processes.js';

const { bin } = useProgram();

/** Runs `merchant-payments inbox` to its end, as a process of its own. */
export function runInbox(
  args: readonly string[],
  cwd?: string,
  before: readonly string[] = [],
  ofNode: readonly string[] = [],
) {
  const node = [process.execPath, '--disable-warning=ExperimentalWarning', ...ofNode];
  const [program = '', ...flags] = [...before, ...node, bin, 'inbox', ...args];
  const { DATABASE_URL, PAYMENTS_WEBHOOK_SECRET } = process.env;
  const env = environment({ DATABASE_URL, PAYMENTS_WEBHOOK_SECRET });
  return runProcessSync(program, flags, { env, cwd });
}
