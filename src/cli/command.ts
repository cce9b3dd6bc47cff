import { parseArgs } from 'node:util';
import { didYouMean } from '../schemas/closest.js';
import { columns, refuseUnless, UsageError } from './terminal.js';

/** The placeholder of its value, such as `<port>`, or an empty string for a switch; what it does; what few have. */
export type Flag = readonly [value: string, text: string, more?: FlagOptions];

interface FlagOptions {
  env?: string;
  /** May be given several times. */
  multiple?: true;
  /** An empty value means something. */
  mayBeEmpty?: true;
}

/** The flag of every command; `main.ts` acts on it. */
const help: Flag = ['', 'shows this help'];

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
  constructor(own: FlagTable, args: readonly string[], words = 0) {
    const table: FlagTable = { ...own, help };
    const options = Object.entries(table).map(([name, [value, , { multiple = false } = {}]]) => {
      return [name, { type: value === '' ? 'boolean' : 'string', multiple }] as const;
    });
    const { values, positionals, tokens } = parseArgs({
      args: [...args],
      options: Object.fromEntries(options),
      strict: false,
      tokens: true,
    });
    const seen = new Set<string>();
    for (const token of tokens) {
      if (token.kind !== 'option') continue;
      const { name, rawName, value, inlineValue } = token;
      const flag = Object.hasOwn(table, name) ? table[name] : undefined;
      if (!flag) throw new UsageError(`${rawName} is not a flag. ${likelyFlag(table, name)}`);
      const [wanted, , { multiple, mayBeEmpty } = {}] = flag;
      refuseUnless(multiple || !seen.has(name), `--${name} is given twice. Pass it once.`);
      seen.add(name);
      if (wanted === '') refuseUnless(value === undefined, `--${name} takes no value.`);
      else {
        const hasValue = value !== undefined && (inlineValue || !/^-./.test(value));
        refuseUnless(hasValue, `--${name}: pass a value: --${name}=${wanted}`);
        refuseUnless(value || mayBeEmpty, `--${name} is empty. Pass ${wanted}, or leave it out.`);
      }
    }
    refuseWords(positionals.slice(words));
    this.#table = table;
    this.#given = values;
    this.positionals = positionals;
  }

  /** The first argument. `example` is shown where it is missing. */
  word(what: string, example: string): string {
    const [word] = this.positionals;
    refuseUnless(word, `The ${what} is missing. Pass one, such as: ${example}`);
    return word;
  }

  has(name: Name): boolean {
    return this.#given[name] === true;
  }

  /** Whether it is on the command line. */
  isPassed(name: string): boolean {
    return this.#given[name] !== undefined;
  }

  text(name: Name): string | undefined {
    const given = this.#given[name];
    return typeof given === 'string' ? given : this.#env(name);
  }

  list(name: Name): string[] {
    const given = this.#given[name];
    if (Array.isArray(given)) return given.map(String);
    return (this.#env(name)?.split(',') ?? []).map((one) => one.trim()).filter(Boolean);
  }

  integer(name: Name, least: number, most: number): number | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const value = Number(text);
    const fits = /^\d+$/.test(text) && value >= least && value <= most;
    const problem = `${JSON.stringify(text)} is not an integer from ${least} to ${most}.`;
    refuseUnless(fits, `${this.source(name)}: ${problem}`);
    return value;
  }

  /** Where a value came from: the flag, or the environment variable. */
  source(name: Name): string {
    const isFromEnv = !this.isPassed(name) && this.#env(name) !== undefined;
    return isFromEnv ? `${this.#table[name]?.[2]?.env}` : `--${name}`;
  }

  /** An empty variable counts as not set. */
  #env(name: string): string | undefined {
    return process.env[this.#table[name]?.[2]?.env ?? ''] || undefined;
  }
}

export function refuseWords([first]: readonly string[]): void {
  refuseUnless(first === undefined, `${JSON.stringify(first)} is not expected here.`);
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
  const rows = Object.entries({ ...flags, help }).map(([name, [value, text, { env, multiple } = {}]]) => [
    `  --${name} ${value}`.trimEnd(),
    text + (multiple ? '; may be repeated' : '') + (env === undefined ? '' : ` [${env}]`),
  ]);
  return columns(rows, '  ');
}

/** What was likely meant by a flag that does not exist. */
function likelyFlag(table: FlagTable, name: string): string {
  const known = Object.keys(table);
  const longer = known.find((flag) => flag.startsWith(`${name}-`) || flag.endsWith(`-${name}`));
  if (longer !== undefined) return `Did you mean --${longer}?`;
  if (name.endsWith('secret')) return 'Set PAYMENTS_WEBHOOK_SECRET instead.';
  const flags = known.map((flag) => `--${flag}`);
  return didYouMean(name, flags);
}
