import * as z from 'zod/mini';
import { PaymentsError, type SandboxErrorCode } from '../errors.js';
import { didYouMean } from '../schemas/closest.js';
import { convertedField, field } from '../schemas/fields.js';

/** The sandbox cannot do what was asked: an invalid option, an unknown id, a checkout that can no longer be paid. */
export class SandboxError extends PaymentsError {
  /** @internal */
  static override readonly name: string = 'SandboxError';
  /** Why. */
  declare readonly code: SandboxErrorCode;

  /** @internal */
  constructor(code: SandboxErrorCode, message: string) {
    super(message, { code });
  }
}

/** A field of what was passed is invalid. `problem` follows its name, or that of the flag that stands for it. */
export class InvalidField extends SandboxError {
  static override readonly name = 'SandboxError';
  // Not printed: the message says both.
  readonly #named: { field: string; problem: string };

  constructor(what: string, field: string, problem: string, inCode = '') {
    super('invalid_options', `${what}: ${field}${problem}${inCode}`);
    this.#named = { field, problem };
  }

  /** The two of an error of this class, which `instanceof` does not know: it goes by the name, which every SandboxError has. */
  static in(error: unknown): { field: string; problem: string } | undefined {
    return typeof error === 'object' && error !== null && #named in error ? error.#named : undefined;
  }
}

/** Refuses what was passed if something is wrong with it: `problem`. */
export function refuse(what: string, field: string, problem: string | undefined): void {
  if (problem !== undefined) throw new InvalidField(what, field, `: ${problem}`);
}

export const shown = (value: unknown): string =>
  typeof value === 'string' ? JSON.stringify(value.slice(0, 100)) : String(value);

/** An unchecked value as a schema reads it, or the first thing that is wrong with it. `what` begins the message. */
export function checked<T>(schema: z.ZodMiniType<T>, value: unknown, what: string): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const names = [...(issue?.path ?? []), ...(issue?.code === 'unrecognized_keys' ? issue.keys : [])];
  const [field = ''] = names.map(String);
  // The problem begins with the field.
  throw new InvalidField(what, field, problemOf(result.error).slice(field.length));
}

/** The first thing that is wrong, after the name of the field. */
export function problemOf({ issues }: { issues: readonly z.core.$ZodIssue[] }): string {
  const [first] = issues;
  const path = first?.path.map(String).join('.');
  return path ? `${path}: ${first?.message}` : `${first?.message}`;
}

/** An object with these fields and no others. `noun` says in messages what a field is: `a choice`. */
export function closed<const Shape extends z.core.$ZodLooseShape>(shape: Shape, noun: string) {
  return z.strictObject(shape, {
    error: (issue) => {
      const [key] = issue.code === 'unrecognized_keys' ? issue.keys : [];
      return key === undefined ? 'pass an object.' : key + notKnown(key, noun, Object.keys(shape));
    },
  });
}

/** The options of a method, if none has another name than these. What reads them checks the rest. */
export function named<T extends object>(what: string, options: T, names: readonly (keyof T & string)[]): T {
  const known = Object.fromEntries(names.map((name) => [name, z.optional(z.unknown())]));
  checked(closed(known, 'an option'), options, what);
  return options;
}

/** Says that a name is none of the known ones, and which was likely meant: to follow the name. */
export const notKnown = (name: string, noun: string, known: readonly string[]) =>
  ` is not ${noun}. ${known.length === 0 ? 'There are none.' : didYouMean(name, known)}`;

export const oneOf = <const T extends string>(values: readonly T[]) =>
  z.enum(values, `pass one of ${values.join(', ')}.`);

export const nameIn = <Value extends object>(record: Value) =>
  z.custom<keyof Value & string>(
    (value) => typeof value === 'string' && Object.hasOwn(record, value),
    `pass one of ${Object.keys(record).join(', ')}.`,
  );

/** One of these strings; the first is the default. */
export function choiceOf<const T extends string>(first: T, ...others: T[]) {
  const named = [first, ...others].map((one) => `"${one}"`);
  return z._default(z.enum([first, ...others], `pass ${named.join(' or ')}.`), first);
}

/** What is wrong with an integer, to follow its name in a message. */
export const integerProblem = (value: unknown, least: number, most: number): string | undefined =>
  Number.isInteger(value) && Number(value) >= least && Number(value) <= most
    ? undefined
    : `${shown(value)} is not an integer from ${least} to ${most}.`;

export const integer = (least: number, most: number) =>
  field<number>((value) => integerProblem(value, least, most));

/** A length of time: milliseconds, or a string such as `'30s'`, `'2h'`, `'1.5d'`. */
export type Duration = number | `${number}${'ms' | 's' | 'm' | 'h' | 'd'}`;

const unitMs: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const durationText = /^(\d+(?:\.\d{1,6})?)(ms|s|m|h|d)$/;
const longestMs = 100 * 365 * 86_400_000;

/** A duration as milliseconds. */
export const durationMs = convertedField((value, refuse) => {
  const [, amount, unit = ''] = (typeof value === 'string' && durationText.exec(value)) || [];
  const ms = typeof value === 'number' ? value : Number(amount) * (unitMs[unit] ?? Number.NaN);
  if (Math.round(ms) > longestMs) return refuse(`${shown(value)} is too long. Pass at most "36500d".`);
  if (ms >= 0) return Math.round(ms);
  if (typeof value === 'string' && /^[\d.]+$/.test(value))
    return refuse(
      `${shown(value)} has no unit. Pass "${value}s" for seconds; the units are ms, s, m, h and d.`,
    );
  return refuse(`${shown(value)} is not a duration. Pass one such as "30s", "5m", "2h" or "1d".`);
});

/** A duration as it was passed. */
export const duration = field<Duration>((value) => {
  const { error } = durationMs.safeParse(value);
  return error && problemOf(error);
});

/** An unchecked duration in milliseconds. `what` names it in the error. */
export const milliseconds = (value: unknown, what: string): number => checked(durationMs, value, what);
