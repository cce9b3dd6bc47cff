import type * as z from 'zod/mini';
import { describeIssues } from '../../schemas/issues.js';
import { Refusal, type RequestNotes } from './notes.js';

/** The schema of an object whose fields are known. */
export type ObjectSchema<Params> = z.ZodMiniType<Params> & { readonly def: { readonly shape: object } };

/**
 * Checks parameters against the schema that the client uses too. Fields that the spec does not list are left out with
 * a warning, or refused, as chosen.
 */
export function readParameters<Params>(
  schema: ObjectSchema<Params>,
  given: Record<string, unknown>,
  notes: RequestNotes,
): Params {
  const known = Object.keys(schema.def.shape);
  const entries = Object.entries(given);
  const listed = Object.fromEntries(entries.filter(([name]) => known.includes(name)));
  const unknown = entries.map(([name]) => name).filter((name) => !known.includes(name));
  const described = (issues: readonly z.core.$ZodIssue[]) =>
    describeIssues(issues, known).map(({ path, message }) => `${path}: ${message}`);
  const strays = described([{ code: 'unrecognized_keys', keys: unknown, path: [], message: '' }]);
  const result = schema.safeParse(listed);
  const problems = result.success ? [] : described(result.error.issues);
  if (strays.length > 0) {
    notes.mark('unknownFields');
    if (notes.choices.unknownFields === 'reject') problems.push(...strays);
    else notes.warnings.push(...strays);
  }
  if (result.success && problems.length === 0) return result.data;
  throw new Refusal('validation', problems.join(' '));
}
