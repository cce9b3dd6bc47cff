import * as z from 'zod/mini';
import { InvalidParamsError, type Issue } from '../errors.js';
import { describeIssues } from '../schemas/issues.js';
import { isObject } from '../schemas/object.js';
import { idParam } from '../schemas/params.js';
import type { Operation } from '../transport/call.js';

/** Checks parameters against the limits of the spec and copies them; throws every problem at once, and those of `besides`. */
export function checkParams<T>(
  operation: Operation,
  schema: z.ZodMiniObject & z.ZodMiniType<T>,
  params: unknown,
  besides: readonly Issue[] = [],
): T {
  if (!isObject(params)) {
    throw new InvalidParamsError(operation, [...besides, { path: '', message: 'are not an object.' }]);
  }
  // Own fields alone: what a polluted prototype adds was not passed.
  const parsed = z.safeParse(schema, Object.assign(Object.create(null), params));
  if (parsed.success && besides.length === 0) return parsed.data;
  const issues = parsed.success ? [] : describeIssues(parsed.error.issues, Object.keys(schema.shape));
  throw new InvalidParamsError(operation, [...besides, ...issues]);
}

/** What is wrong with an id that becomes one segment of a path. */
export function idProblems(value: unknown): Issue[] {
  const parsed = z.safeParse(idParam, value);
  return parsed.success ? [] : parsed.error.issues.map(({ message }) => ({ path: 'id', message }));
}

/** The id of a call that has no other parameters. */
export function checkId(operation: Operation, value: string): string {
  const issues = idProblems(value);
  if (issues.length > 0) throw new InvalidParamsError(operation, issues);
  return value;
}
