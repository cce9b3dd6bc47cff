import * as z from 'zod/mini';
import { closest } from '../schemas/closest.js';

/** An object with these fields and no others. `noun` says in messages what a field is: `a choice`. */
export function closed<const Shape extends z.core.$ZodLooseShape>(shape: Shape, noun: string) {
  const known = Object.keys(shape);
  return z.strictObject(shape, {
    error: (issue) => {
      const [key] = issue.code === 'unrecognized_keys' ? issue.keys : [];
      if (key === undefined) return 'pass an object.';
      const meant = closest(key, known);
      if (meant !== undefined) return `${key} is not ${noun}. Did you mean ${meant}?`;
      return `${key} is not ${noun}. ${known.length === 0 ? 'There are none.' : `Known are ${known.join(', ')}.`}`;
    },
  });
}

/** One of these strings. */
export const oneOf = <const T extends string>(...values: readonly T[]) =>
  z.enum(values, `pass one of ${values.join(', ')}.`);

/** One of these strings; the first is the default. */
export function choiceOf<const T extends string>(first: T, ...others: T[]) {
  const named = [first, ...others].map((one) => `"${one}"`);
  return z._default(z.enum([first, ...others], `pass ${named.join(' or ')}.`), first);
}

/** The first thing that is wrong, after the name of the field. */
export function problemOf({ issues }: { issues: readonly z.core.$ZodIssue[] }): string {
  const [first] = issues;
  const path = first?.path.map(String).join('.');
  return path ? `${path}: ${first?.message}` : `${first?.message}`;
}
