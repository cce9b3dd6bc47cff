import { parseArgs } from 'node:util';
import { didYouMean } from '../schemas/closest.js';
import { UsageError } from './terminal.js';

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

/** The flags of one call: the command line, else the environment. */
export class Flags<Table extends FlagTable> {
  readonly #given: Readonly<Record<string, unknown>>;
  readonly #table: Table;
  readonly positionals: readonly string[];

  /** Reads arguments, or names the flag that does not exist and the likely one; `words` is how many others may come. */
  constructor(table: Table, args: readonly string[], words = 0) {
    this.#table = table;
    const options = Object.fromEntries(
      Object.entries(table).map(([name, { value, multiple }]) => [
        name,
        {
          type: value === undefined ? ('boolean' as const) : ('string' as const),
          multiple: multiple ?? false,
        },
      ]),
    );
    try {
      const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
      this.#given = values;
      this.positionals = positionals;
    } catch (error) {
      throw new UsageError(problemOf(error, { ...table, help }));
    }
    refuseWords(this.positionals.slice(words));
  }

  has(name: keyof Table & string): boolean {
    const env = this.#env(name);
    return this.#given[name] === true || (env !== undefined && env !== '0' && env !== 'false');
  }

  text(name: keyof Table & string): string | undefined {
    const given = this.#given[name];
    const { mayBeEmpty, value } = this.#table[name] ?? {};
    if (given === '' && !mayBeEmpty)
      throw new UsageError(`--${name} is empty. Pass ${value}, or leave it out.`);
    return typeof given === 'string' ? given : this.#env(name);
  }

  list(name: keyof Table & string): string[] {
    const given = this.#given[name];
    if (Array.isArray(given)) return given.map(String);
    return (
      this.#env(name)
        ?.split(',')
        .map((one) => one.trim()) ?? []
    );
  }

  integer(name: keyof Table & string, least: number, most: number): number | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= least && value <= most) return value;
    throw new UsageError(
      `${this.source(name)}: ${JSON.stringify(text)} is not an integer from ${least} to ${most}.`,
    );
  }

  /** Where a value came from: the flag, or the environment variable. */
  source(name: keyof Table & string): string {
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

export function describeFlags(table: FlagTable): string {
  const rows = Object.entries({ ...table, help }).map(([name, { value, env, text }]) => [
    `  --${name}${value === undefined ? '' : ` ${value}`}`,
    env === undefined ? text : `${text} [${env}]`,
  ]);
  const width = Math.max(...rows.map(([left = '']) => left.length)) + 2;
  return rows.map(([left = '', right = '']) => left.padEnd(width) + right).join('\n');
}

function problemOf(error: unknown, table: FlagTable): string {
  const message = error instanceof Error ? error.message : String(error);
  const misused = /^Option '(?:-\w, )?--([\w-]+)/.exec(message)?.[1];
  if (misused !== undefined) {
    const value = table[misused]?.value;
    return value === undefined
      ? `--${misused} takes no value.`
      : `--${misused}: pass a value: --${misused}=${value}`;
  }
  const unknown = /^Unknown option '--?([^']+)'/.exec(message)?.[1];
  if (unknown === undefined) return message;
  return `--${unknown} is not a flag. ${didYouMean(
    unknown,
    Object.keys(table).map((name) => `--${name}`),
  )}`;
}
