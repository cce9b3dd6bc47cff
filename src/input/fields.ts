import * as z from 'zod/mini';
import { mustBe } from './read.js';

/** A function that refuses a value with a message, which follows the field's name. */
export type Refuse = (message: string, path?: string[]) => never;

/** Returns the schema of a value that a function reads. */
export function convertedField<T>(read: (value: unknown, refuse: Refuse) => T): z.ZodMiniType<T> {
  return z.transform((input, { issues }): T => {
    const refuse: Refuse = (message, path = []) => {
      issues.push({ code: 'custom', message, input, path });
      return z.NEVER;
    };
    return read(input, refuse);
  });
}

/** Returns the schema of a value that is used unchanged unless `problemOf` finds a problem. */
export function checkedField<T>(problemOf: (value: unknown) => string | undefined) {
  return z.custom<T, unknown>((value) => problemOf(value) === undefined, {
    error: ({ input }) => problemOf(input) ?? '',
  });
}

/** The schema of a `Date` of any realm. */
export const validDate = z.custom<Date>(isValidDate, { error: mustBe('a valid Date') });

/** True if a value is a `Date` with a time. */
export function isValidDate(value: unknown): value is Date {
  return (
    Object.prototype.toString.call(value) === '[object Date]' &&
    !Number.isNaN(Date.prototype.getTime.call(value))
  );
}
