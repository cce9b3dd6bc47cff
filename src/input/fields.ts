import * as z from 'zod/mini';
import { didYouMean } from './closest.js';
import { ownFields } from './object.js';
import { mustBe } from './read.js';
import { visible } from './visible.js';

/** One problem: where, and what. */
type Problem = Record<'path' | 'message', string>;

/** Refuses a value with what is wrong with it, to follow the field's name in a message. */
export type Refuse = (message: string, path?: string[]) => never;

/** What to say of an object that throws as its fields are read. */
export const getterThrew = 'cannot be read: a getter or toJSON threw. Pass plain data.';

/** A field whose value is read by a function: what it returns is used. */
export function convertedField<T>(read: (value: unknown, refuse: Refuse) => T): z.ZodMiniType<T> {
  return z.transform((input, { issues }): T => {
    const refuse: Refuse = (message, path = []) => {
      issues.push({ code: 'custom', message, input, path });
      return z.NEVER;
    };
    return read(input, refuse);
  });
}

/** A field whose value is used as it is, if nothing is wrong with it. */
export function field<T>(problemOf: (value: unknown) => string | undefined) {
  const isRight = (value: unknown): value is T => problemOf(value) === undefined;
  return convertedField((value, refuse) => (isRight(value) ? value : refuse(problemOf(value) ?? '')));
}

/** A field that may be left out. */
export function optionalField<T>(isRight: (value: unknown) => boolean, message: string) {
  return z.optional(field<T>((value) => (isRight(value) ? undefined : message)));
}

/**
 * Reads and copies what a caller passed, and adds what is wrong with it to `problems`. Own fields and those of a
 * class: what a polluted prototype adds was not passed.
 */
export function readFields<T>(
  problems: Problem[],
  schema: z.ZodMiniObject & z.ZodMiniType<T>,
  given: unknown,
  what?: string,
): T | undefined {
  const names = Object.keys(schema.shape);
  const parsed = z.safeParse(schema, ownFields(given, names) ?? given);
  if (!parsed.success) problems.push(...describeIssues(parsed.error.issues, names, what));
  return ownFields(parsed.data);
}

/** zod's issues as `path` and `message`, with a likely name for each unknown key. Values are left out. */
export function describeIssues(
  issues: readonly z.core.$ZodIssue[],
  knownKeys: readonly string[] = [],
  what = 'a parameter',
): Problem[] {
  return issues.flatMap((issue) => {
    if (issue.code !== 'unrecognized_keys') return problemAt(issue.path, issue.message);
    return issue.keys.map((key) =>
      problemAt([...issue.path, key], `is not ${what}. ${didYouMean(key, knownKeys)}`),
    );
  });
}

function problemAt(path: readonly PropertyKey[], message: string): Problem {
  return { path: visible(path.map(String).join('.')), message };
}

/** A `Date`, whichever realm it is from. */
export const validDate = z.custom<Date>(isValidDate, { error: mustBe('a valid Date') });

/** True if a value is a `Date` with a time. */
export function isValidDate(value: unknown): value is Date {
  return (
    Object.prototype.toString.call(value) === '[object Date]' &&
    !Number.isNaN(Date.prototype.getTime.call(value))
  );
}
