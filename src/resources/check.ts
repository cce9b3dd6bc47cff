import * as z from 'zod/mini';
import type { Issue } from '../errors.js';
import { describeIssues } from '../schemas/issues.js';
import { isObject } from '../schemas/object.js';
import { idParam } from '../schemas/params.js';

/** Checks parameters against the limits of the spec and copies them; adds what is wrong with them to `issues`. */
export function checkParams<T>(
  issues: Issue[],
  schema: z.ZodMiniObject & z.ZodMiniType<T>,
  params: unknown,
): T | undefined {
  if (!isObject(params)) {
    issues.push({ path: '', message: 'are not an object.' });
    return undefined;
  }
  // Own fields alone: what a polluted prototype adds was not passed.
  const parsed = z.safeParse(schema, Object.assign(Object.create(null), params));
  if (!parsed.success) issues.push(...describeIssues(parsed.error.issues, Object.keys(schema.shape)));
  return parsed.data;
}

/** Checks an id, which becomes one segment of a path. */
export function checkId(issues: Issue[], id: string): string {
  const problems = z.safeParse(idParam, id).error?.issues ?? [];
  issues.push(...problems.map(({ message }) => ({ path: 'id', message })));
  return id;
}
