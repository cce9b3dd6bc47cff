import { spawnSync } from 'node:child_process';
import { environment, useCommand } from '../helpers/command.js';

const { bin } = useCommand();

/** Runs `merchant-payments inbox` to its end, as a process of its own. */
export function runInbox(
  args: readonly string[],
  cwd?: string,
  before: readonly string[] = [],
  ofNode: readonly string[] = [],
) {
  const [program = '', ...flags] = [
    ...before,
    ...[process.execPath, '--disable-warning=ExperimentalWarning', ...ofNode, bin, 'inbox', ...args],
  ];
  const options = { encoding: 'utf8', env: environment(), cwd } as const;
  const { status, stdout, stderr } = spawnSync(program, flags, options);
  return { status, stdout, stderr };
}
