import { parseArgs } from 'node:util';
import { didYouMean } from '../schemas/closest.js';
import { columns, UsageError } from './terminal.js';

export interface Flag {
  /** Placeholder of its value, such as `<port>`; none for a switch. */
  value?: string;
  env?: string;
  text: string;
  /** May be given several times. */
  multiple?: true;
  /** An empty value means something. */
  mayBeEmpty?: true;
}

/** The flag of every command; `main.ts` acts on it. */
const help: Flag = { text: 'shows this help' };

export type FlagTable = Readonly<Record<string, Flag>>;

/** One command of the bin, made by `command()` or `runningCommand()` and listed in `main.ts`. */
export interface Command {
  /** One line for the overview. */
  readonly summary: string;
  /** What follows `merchant-payments` on the command line. */
  readonly usage: string;
  /** A command line that works as it stands, without `merchant-payments`. */
  readonly example: string;
  readonly flags: FlagTable;
  /** How many arguments it takes at the most. Default 0. */
  readonly words?: number;
  /** Whether what follows `--` belongs to another program. */
  readonly passesOn?: true;
  /** Runs the command and returns the exit code. */
  run(given: Flags<never>, passedOn: readonly string[]): Promise<number>;
}

/** Ties the flags that a command reads to those that it has. */
export const command = <const Table extends FlagTable>(
  own: Omit<Command, 'flags' | 'run'> & {
    readonly flags: Table;
    run(given: Flags<keyof Table & string>, passedOn: readonly string[]): Promise<number>;
  },
): Command => own;

/** The flags of one call: the command line, else the environment. */
export class Flags<Name extends string> {
  readonly #given: Readonly<Record<string, unknown>>;
  readonly #table: FlagTable;
  readonly positionals: readonly string[];

  /** Reads arguments, or names the flag that does not exist and the likely one; `words` is how many others may come. */
  constructor(table: FlagTable, args: readonly string[], words = 0) {
    const options = Object.entries(table).map(([name, { value, multiple = false }]) => {
      const type = value === undefined ? 'boolean' : 'string';
      return [name, { type, multiple }] as const;
    });
    const { values, positionals, tokens } = parseArgs({
      args: [...args],
      options: Object.fromEntries(options),
      strict: false,
      tokens: true,
    });
    for (const token of tokens) {
      if (token.kind !== 'option') continue;
      const { name, rawName, value, inlineValue } = token;
      if (!Object.hasOwn(table, name))
        throw new UsageError(`${rawName} is not a flag. ${likelyFlag(table, name)}`);
      const wanted = table[name]?.value;
      if (wanted === undefined && value !== undefined) throw new UsageError(`--${name} takes no value.`);
      if (wanted !== undefined && (value === undefined || (!inlineValue && /^-./.test(value))))
        throw new UsageError(`--${name}: pass a value: --${name}=${wanted}`);
    }
    refuseWords(positionals.slice(words));
    this.#table = table;
    this.#given = values;
    this.positionals = positionals;
  }

  has(name: Name): boolean {
    return this.#given[name] === true;
  }

  text(name: Name): string | undefined {
    const given = this.#given[name];
    const { mayBeEmpty, value } = this.#table[name] ?? {};
    if (given === '' && !mayBeEmpty)
      throw new UsageError(`--${name} is empty. Pass ${value}, or leave it out.`);
    return typeof given === 'string' ? given : this.#env(name);
  }

  list(name: Name): string[] {
    const given = this.#given[name];
    if (Array.isArray(given)) return given.map(String);
    return (this.#env(name)?.split(',') ?? []).map((one) => one.trim());
  }

  integer(name: Name, least: number, most: number): number | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= least && value <= most) return value;
    throw new UsageError(
      `${this.source(name)}: ${JSON.stringify(text)} is not an integer from ${least} to ${most}.`,
    );
  }

  /** Where a value came from: the flag, or the environment variable. */
  source(name: Name): string {
    return this.#given[name] === undefined && this.#env(name) !== undefined
      ? `${this.#table[name]?.env}`
      : `--${name}`;
  }

  /** An empty variable counts as not set. */
  #env(name: string): string | undefined {
    const variable = this.#table[name]?.env;
    return variable === undefined ? undefined : process.env[variable] || undefined;
  }
}

export function refuseWords([first]: readonly string[]): void {
  if (first !== undefined) throw new UsageError(`${JSON.stringify(first)} is not expected here.`);
}

/** The value of a flag that is JSON, or its text where it is none. */
export function jsonOrText(text: string | undefined): unknown {
  try {
    return text && JSON.parse(text);
  } catch {
    return text;
  }
}

export function describeFlags(flags: FlagTable): string {
  const rows = Object.entries({ ...flags, help }).map(([name, { value, env, text }]) => [
    `  --${name}${value === undefined ? '' : ` ${value}`}`,
    env === undefined ? text : `${text} [${env}]`,
  ]);
  return columns(rows, '  ');
}

/** What was likely meant by a flag that does not exist. */
function likelyFlag(table: FlagTable, name: string): string {
  const known = Object.keys({ ...table, help });
  const longer = known.find((flag) => flag.startsWith(`${name}-`) || flag.endsWith(`-${name}`));
  if (longer !== undefined) return `Did you mean --${longer}?`;
  if (name.endsWith('secret')) return 'Set PAYMENTS_WEBHOOK_SECRET instead.';
  return didYouMean(
    name,
    known.map((flag) => `--${flag}`),
  );
}
