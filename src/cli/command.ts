import { type ParseArgsConfig, parseArgs } from 'node:util';
import { didYouMean } from '../input/closest.js';
import { durationMs } from '../input/duration.js';
import { columns, readWord, refuseUnless, variable } from './terminal.js';

/** A flag: the placeholder of its value, such as `<port>`, or an empty string for a switch; its help text; rare options. */
export type Flag = readonly [value: string, text: string, more?: FlagOptions];

type FlagOptions = { env?: string; multiple?: true; mayBeEmpty?: true };

/** The flag `--help` of every command. `main.ts` acts on it. */
const help: Flag = ['', 'shows this help'];

export type FlagTable = Readonly<Record<string, Flag>>;

/** One command of the bin, listed in `main.ts`. `Name` is the union of the flags that the command reads. */
export interface Command<Name extends string = never> {
  readonly summary: string;
  /** Usage line and description, without `merchant-payments`. */
  readonly usage: string;
  /** A command line that works as it stands, without `merchant-payments`. */
  readonly example: string;
  readonly flags: FlagTable & Readonly<Record<Name, Flag>>;
  /** Maximum number of arguments. Default 0. */
  readonly words?: number;
  /** Returns the command for an action that the arguments name. */
  actionOf?(args: readonly string[]): Command | undefined;
  /** True if the words after `--` are another program's command line. */
  readonly passesOn?: true;
  run(given: Flags<Name>, passedOn: readonly string[]): Promise<number>;
}

/** Returns a command. Its type makes sure that the command declares every flag that it reads. */
export const command = <const Name extends string>(own: Command<Name>): Command => own;

/** The flags of one call, from the command line, or else from the environment. */
export class Flags<Name extends string> {
  readonly #given = new Map<string, string[]>();
  readonly #table: FlagTable;
  readonly positionals: readonly string[];

  /** Reads arguments. Throws for an unknown flag, and suggests the likely one. `words` is the number of arguments allowed besides flags. */
  constructor(own: FlagTable, args: readonly string[], words = 0) {
    this.#table = { ...own, help };
    const options: ParseArgsConfig['options'] = {};
    for (const [name, [value]] of Object.entries(this.#table))
      options[name] = { type: value === '' ? 'boolean' : 'string' };
    const { positionals, tokens } = parseArgs({ args: [...args], options, strict: false, tokens: true });
    for (const token of tokens) {
      if (token.kind !== 'option') continue;
      const { name, rawName, value, inlineValue } = token;
      const flag = Object.hasOwn(this.#table, name) ? this.#table[name] : undefined;
      refuseUnless(flag, `${rawName} is not a flag. ${likelyFlag(this.#table, name)}`);
      const [wanted, , { multiple, mayBeEmpty } = {}] = flag;
      const before = this.#given.get(name) ?? [];
      refuseUnless(multiple || before.length === 0, `--${name} is given twice. Pass it once.`);
      if (wanted === '') refuseUnless(value === undefined, `--${name} takes no value.`);
      else {
        const hasValue = value !== undefined && (inlineValue || !/^-./.test(value));
        refuseUnless(hasValue, `--${name}: pass a value: --${name}=${wanted}`);
        refuseUnless(value || mayBeEmpty, `--${name} is empty. Pass ${wanted}, or leave it out.`);
      }
      this.#given.set(name, [...before, value ?? '']);
    }
    refuseWords(positionals.slice(words));
    this.positionals = positionals;
  }

  get passed(): readonly string[] {
    return [...this.#given.keys()];
  }

  /** Returns the first argument. Throws if it is missing, and shows `example`. */
  word(what: string, example: string): string {
    const [word] = this.positionals;
    refuseUnless(word, `The ${what} is missing. Pass one, such as: ${example}`);
    return word;
  }

  has(name: Name): boolean {
    return this.#given.has(name);
  }

  text(name: Name): string | undefined {
    return this.#given.get(name)?.[0] ?? this.#env(name);
  }

  list(name: Name): string[] {
    const fromEnv = (this.#env(name) ?? '').split(',').map((each) => each.trim());
    return this.#given.get(name) ?? fromEnv.filter(Boolean);
  }

  url(name: Name): string | undefined {
    const text = this.text(name);
    const isHttp = text === undefined || (URL.canParse(text) && /^https?:/.test(text));
    refuseUnless(isHttp, `${this.source(name)} ${JSON.stringify(text)} is not an http: URL.`);
    return text;
  }

  integer(name: Name, least: number, most: number): number | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const value = Number(text);
    const fits = /^\d+$/.test(text) && value >= least && value <= most;
    const problem = `${JSON.stringify(text)} is not an integer from ${least} to ${most}.`;
    refuseUnless(fits, `${this.source(name)} ${problem}`);
    return value;
  }

  /** Returns a duration in milliseconds, between two limits. */
  duration(name: Name, ...limits: Parameters<typeof durationMs>): number | undefined {
    const text = this.text(name);
    return text === undefined ? undefined : readWord(this.source(name), durationMs(...limits), text);
  }

  /** Returns the source of a value, for messages: the flag, or the environment variable. */
  source(name: Name): string {
    const isFromEnv = !this.has(name) && this.#env(name) !== undefined;
    return isFromEnv ? `${this.#table[name]?.[2]?.env}` : `--${name}`;
  }

  #env(name: string): string | undefined {
    const { env } = this.#table[name]?.[2] ?? {};
    return env === undefined ? undefined : variable(env);
  }
}

export function refuseWords([first]: readonly string[]): void {
  refuseUnless(first === undefined, `${JSON.stringify(first)} is not expected here.`);
}

/** Returns the text parsed as JSON, or the text itself if it is not JSON. */
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

function likelyFlag(table: FlagTable, name: string): string {
  const known = Object.keys(table);
  const longer = known.find((flag) => flag.startsWith(`${name}-`) || flag.endsWith(`-${name}`));
  if (longer !== undefined) return `Did you mean --${longer}?`;
  if (name.endsWith('secret')) return 'Set PAYMENTS_WEBHOOK_SECRET instead.';
  const flags = known.map((flag) => `--${flag}`);
  return didYouMean(name, flags);
}
