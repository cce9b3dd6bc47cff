import * as z from 'zod/mini';
import { PaymentsError, type SandboxErrorCode } from '../errors.js';
import { didYouMean } from '../input/closest.js';

/** An error of the sandbox, such as an invalid option, an unknown id or a checkout that can no longer be paid. */
export class SandboxError extends PaymentsError {
  /** @internal */
  static override readonly name: string = 'SandboxError';
  /** Reason for the error. */
  declare readonly code: SandboxErrorCode;

  /** @internal */
  constructor(code: SandboxErrorCode, message: string) {
    super(message, { code });
  }
}

/** An error about one invalid field. `problem` is the text that follows the name of the field, or of the command's flag for it. */
export class InvalidField extends SandboxError {
  static override readonly name = 'SandboxError';
  // The field is private, so that printing the error does not repeat its message.
  readonly #named: { field: string; problem: string; isUnknown: boolean };

  constructor(what: string, field: string, problem: string, isUnknown = false) {
    super('invalid_options', `${what}: ${field}${problem}`);
    this.#named = { field, problem, isUnknown };
  }

  /** Returns field and problem of an InvalidField. `instanceof` compares names, which all SandboxErrors share, so it cannot tell. */
  static in(error: unknown): { field: string; problem: string; isUnknown: boolean } | undefined {
    return typeof error === 'object' && error !== null && #named in error ? error.#named : undefined;
  }
}

export function refuse(what: string, field: string, problem: string | undefined): void {
  if (problem !== undefined) throw new InvalidField(what, field, `: ${problem}`);
}

/** Returns a value as text for a message, a string in quotes and cut to 100 characters. */
export const quoteValue = (value: unknown): string =>
  typeof value === 'string' ? JSON.stringify(value.slice(0, 100)) : String(value);

/** Returns a value as a schema reads it. Throws `InvalidField` for its first problem; `what` begins the message. */
export function parseWith<T>(schema: z.ZodMiniType<T>, value: unknown, what: string): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const names = [...(issue?.path ?? []), ...(issue?.code === 'unrecognized_keys' ? issue.keys : [])];
  const [field = ''] = names.map(String);
  // problemOf() begins with the field, which InvalidField adds itself.
  const isUnknown = issue?.code === 'unrecognized_keys';
  throw new InvalidField(what, field, problemOf(result.error).slice(field.length), isUnknown);
}

/** Returns the first problem, after the path of its field. */
export function problemOf({ issues }: { issues: readonly z.core.$ZodIssue[] }): string {
  const [first] = issues;
  const path = first?.path.map(String).join('.');
  return path ? `${path}: ${first?.message}` : `${first?.message}`;
}

/** Returns the first problem of a value, worded as in `problemOf()`; `undefined` if there is none. */
export function problemIn(schema: z.ZodMiniType, value: unknown): string | undefined {
  const { error } = schema.safeParse(value);
  return error && problemOf(error);
}

/** Returns a schema of an object with these fields and no others. */
export function strictObject<const Shape extends z.core.$ZodLooseShape>(shape: Shape) {
  return z.strictObject(shape, {
    error: (issue) => {
      const [key] = issue.code === 'unrecognized_keys' ? issue.keys : [];
      return key === undefined ? 'pass an object.' : key + notKnown(key, Object.keys(shape));
    },
  });
}

/** Returns a schema of an object with no other fields than these, all optional and of one schema. */
export const optionalFields = <T>(names: readonly string[], field: z.ZodMiniType<T>) =>
  strictObject(Object.fromEntries(names.map((name) => [name, z.optional(field)])));

/** Returns the options of a method. Throws `InvalidField` if one has an unknown name. The values are checked where they are read. */
export function checkNames<T extends object>(
  what: string,
  options: T,
  names: readonly (keyof T & string)[],
): T {
  parseWith(optionalFields(names, z.unknown()), options, what);
  return options;
}

/** Returns text to follow an unknown name, with the known name that was likely meant. */
export const notKnown = (name: string, known: readonly string[]) =>
  ` is unknown. ${known.length === 0 ? 'There are none.' : didYouMean(name, known)}`;

export const oneOf = <const T extends string>(values: readonly T[]) =>
  z.enum(values, `pass one of ${values.join(', ')}.`);

export const nameIn = <Value extends object>(record: Value) =>
  z.custom<keyof Value & string>(
    (value) => typeof value === 'string' && Object.hasOwn(record, value),
    `pass one of ${Object.keys(record).join(', ')}.`,
  );

/** Returns a schema of one of these strings. The first is the default. */
export function choiceOf<const T extends string>(first: T, ...others: T[]) {
  const named = [first, ...others].map((one) => `"${one}"`);
  return z._default(z.enum([first, ...others], `pass ${named.join(' or ')}.`), first);
}
