import * as z from 'zod/mini';
import { PaymentsError, type SandboxErrorCode } from '../errors.js';
import { didYouMean } from '../input/closest.js';

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
  readonly #named: { field: string; problem: string; isUnknown: boolean };

  constructor(what: string, field: string, problem: string, isUnknown = false) {
    super('invalid_options', `${what}: ${field}${problem}`);
    this.#named = { field, problem, isUnknown };
  }

  /** The two of an error of this class, which `instanceof` does not know: it goes by the name, which every SandboxError has. */
  static in(error: unknown): { field: string; problem: string; isUnknown: boolean } | undefined {
    return typeof error === 'object' && error !== null && #named in error ? error.#named : undefined;
  }
}

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
  const isUnknown = issue?.code === 'unrecognized_keys';
  throw new InvalidField(what, field, problemOf(result.error).slice(field.length), isUnknown);
}

/** The first thing that is wrong, after the name of the field. */
export function problemOf({ issues }: { issues: readonly z.core.$ZodIssue[] }): string {
  const [first] = issues;
  const path = first?.path.map(String).join('.');
  return path ? `${path}: ${first?.message}` : `${first?.message}`;
}

/** What is wrong with a value, in the same words; `undefined` if nothing is. */
export function problemIn(schema: z.ZodMiniType, value: unknown): string | undefined {
  const { error } = schema.safeParse(value);
  return error && problemOf(error);
}

/** An object with these fields and no others. */
export function closed<const Shape extends z.core.$ZodLooseShape>(shape: Shape) {
  return z.strictObject(shape, {
    error: (issue) => {
      const [key] = issue.code === 'unrecognized_keys' ? issue.keys : [];
      return key === undefined ? 'pass an object.' : key + notKnown(key, Object.keys(shape));
    },
  });
}

/** The same with fields that are all alike, each of which may be missing. */
export const alike = <T>(names: readonly string[], field: z.ZodMiniType<T>) =>
  closed(Object.fromEntries(names.map((name) => [name, z.optional(field)])));

/** The options of a method, if none has another name than these. What reads them checks the rest. */
export function named<T extends object>(what: string, options: T, names: readonly (keyof T & string)[]): T {
  checked(alike(names, z.unknown()), options, what);
  return options;
}

/** Says that a name is none of the known ones, and which was likely meant: to follow the name. */
export const notKnown = (name: string, known: readonly string[]) =>
  ` is unknown. ${known.length === 0 ? 'There are none.' : didYouMean(name, known)}`;

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
