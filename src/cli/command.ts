import type { FlagTable } from './flags.js';

/** One command of the bin. To add one, write its file and name it in the table of `main.ts`. */
export interface Command {
  /** One line for the overview. */
  readonly summary: string;
  /** What follows `merchant-payments` on the command line. */
  readonly usage: string;
  /** A command line that works as it stands, without `merchant-payments`. */
  readonly example: string;
  readonly flags: FlagTable;
  /** Whether what follows `--` belongs to another program. */
  readonly passesOn?: true;
  /** Runs the command and returns the exit code. */
  run(args: readonly string[]): Promise<number>;
}
