import * as z from 'zod/mini';
import { closest } from '../schemas/closest.js';

/** An object with these fields and no others. `noun` says in messages what a field is: `a choice`. */
export function closed<const Shape extends z.core.$ZodLooseShape>(shape: Shape, noun: string) {
  return z.strictObject(shape, {
    error: (issue) => {
      const [key] = issue.code === 'unrecognized_keys' ? issue.keys : [];
      return key === undefined ? 'pass an object.' : notKnown(key, noun, Object.keys(shape));
    },
  });
}

/** Says that a name is none of the known ones, and which was likely meant. */
export function notKnown(name: string, noun: string, known: readonly string[]): string {
  const meant = closest(name, known);
  if (meant !== undefined) return `${name} is not ${noun}. Did you mean ${meant}?`;
  return `${name} is not ${noun}. ${known.length === 0 ? 'There are none.' : `Known are ${known.join(', ')}.`}`;
}

/** One of these strings. */
export const oneOf = <const T extends string>(values: readonly T[]) =>
  z.enum(values, `pass one of ${values.join(', ')}.`);

/** The name of one of a record's fields. */
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
