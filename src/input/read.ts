// This folder reads what a caller passed: options, parameters, durations, hooks and URLs.
import * as z from 'zod/mini';
import { InvalidParamsError, type Issue } from '../errors.js';
import { didYouMean } from './closest.js';
import { isObject, isPlainObject } from './object.js';
import { escapeInvisible, kindOf, quote } from './visible.js';

/**
 * Returns the data that a schema reads from an object that a caller passed. If there are problems, it throws the error that
 * `refuse` returns for all of them.
 *
 * This is the only reader of options and parameters. Each folder describes them with zod, and chooses the error to throw:
 *
 * ```ts
 * const listOptions = z.strictObject({ state: z.optional(z.enum(states)), limit: z.optional(integer(1, 1000)) });
 * const { state, limit = 100 } = readParams('inbox.list', listOptions, given);
 * ```
 *
 * `z.optional` takes `undefined` as absent, `z.strictObject` refuses an unknown name, and accessors of a class are read
 * like fields. If a schema has no `error` of its own, this file words its problems, without the text that was passed, which
 * may be a secret.
 */
export function readInput<T>(
  schema: z.ZodMiniType<T>,
  given: unknown,
  refuse: (issues: readonly Issue[]) => Error,
): T {
  const { data, error } = parse(schema, given);
  if (error) throw refuse(describeIssues(error.issues, schema));
  return data;
}

/** Reads the parameters of a function, or throws an `InvalidParamsError` that names the function as `operation`. */
export function readParams<T>(operation: string, schema: z.ZodMiniType<T>, given: unknown): T {
  return readInput(schema, given, (issues) => new InvalidParamsError({ operation }, issues));
}

/** Returns the data that a schema reads, or adds every problem to `issues`, with a path that begins with `at`. */
export function readInto<T>(
  issues: Issue[],
  schema: z.ZodMiniType<T>,
  given: unknown,
  at: readonly string[] = [],
): T | undefined {
  const { data, error } = parse(schema, given);
  if (error) issues.push(...describeIssues(error.issues, schema, at));
  return data;
}

function parse<T>(schema: z.ZodMiniType<T>, given: unknown) {
  return z.safeParse(schema, fieldsOf(given, schema), { error: wordIssue });
}

/** Returns zod's issues as paths and messages. For an unknown name the message has the likely name of `schema`. */
export function describeIssues(
  issues: readonly z.core.$ZodIssue[],
  schema?: z.ZodMiniType,
  at: readonly string[] = [],
): Issue[] {
  return issues.flatMap((issue) => {
    const path = [...at, ...issue.path];
    if (issue.code !== 'unrecognized_keys') return issueAt(path, issue.message);
    return issue.keys.map((key) => unknownName(path, key, namesIn(schema, issue.path)));
  });
}

/** An object that inherits nothing. Fields of `Object.create(null)` take several times as long to read. */
class OwnFields {
  [name: string]: unknown;
}
Object.setPrototypeOf(OwnFields.prototype, null);

/** Returns issues as sentences. `whole` is the name of what was passed, for an issue about all of it. */
export function issuesInWords(issues: readonly Issue[], whole: string): string {
  return issues.map(({ path, message }) => `${path || whole} ${message}`).join(' ');
}

/** Returns the own fields of an object. For an instance of a class, the accessors that the schema knows are added. */
function fieldsOf(given: unknown, schema: z.ZodMiniType): unknown {
  // A body that is passed as the options would have a million names.
  if (ArrayBuffer.isView(given)) return null;
  if (!isObject(given)) return given;
  const fields = new OwnFields();
  if (!isPlainObject(given))
    for (const name of namesIn(schema, [])) if (name in given) fields[name] = Reflect.get(given, name);
  return Object.assign(fields, given);
}

/** Returns the problem of an unknown name, with the likely known name. */
export function unknownName(path: readonly PropertyKey[], name: string, known: readonly string[]): Issue {
  return issueAt([...path, name.slice(0, 60) || '""'], `is unknown. ${didYouMean(name, known)}`);
}

function issueAt(path: readonly PropertyKey[], message: string): Issue {
  return { path: escapeInvisible(path.map(String).join('.')), message };
}

/** Returns the names that an object has in a schema. */
function namesIn(schema: unknown, path: readonly PropertyKey[]): string[] {
  if (schema instanceof z.ZodMiniOptional || schema instanceof z.ZodMiniDefault)
    return namesIn(schema.def.innerType, path);
  if (schema instanceof z.ZodMiniPipe) return namesIn(schema.def.in, path);
  if (schema instanceof z.ZodMiniArray) return namesIn(schema.def.element, path.slice(1));
  if (!(schema instanceof z.ZodMiniObject)) return [];
  const [name, ...rest] = path;
  return name === undefined ? Object.keys(schema.shape) : namesIn(schema.shape[String(name)], rest);
}

const kinds: Record<string, string> = {
  array: 'an array',
  boolean: 'true or false',
  date: 'a valid Date',
  number: 'a finite number',
  object: 'an object',
  string: 'a string',
};

/** Returns the message of an issue, which follows the name of the value. */
function wordIssue(issue: z.core.$ZodRawIssue): string {
  if (issue.code === 'invalid_value') return mustBe(oneOfThese(issue.values))(issue);
  const kind = issue.code === 'invalid_type' ? kinds[issue.expected] : undefined;
  return kind === undefined ? 'is invalid.' : mustBe(kind)(issue);
}

/** Returns values in words, such as `"hex", "base64" or "base64url"`. */
export function oneOfThese(values: readonly unknown[]): string {
  return values
    .map(quote)
    .join(', ')
    .replace(/, ([^,]*)$/, ' or $1');
}

/** Returns the `error` of a schema, which says that a value is missing or must be `wanted`. */
export function mustBe(wanted: string, example = wanted, kind = kindOf) {
  return ({ input }: { input?: unknown }): string =>
    input === undefined ? `is missing. Pass ${example}.` : `must be ${wanted}, got ${kind(input)}.`;
}

/** Returns the schema of an integer within two limits. */
export function integer(least: number, most: number) {
  const error = mustBe(`an integer from ${least} to ${most}`);
  const fits = (value: number) => Number.isInteger(value) && value >= least && value <= most;
  return z.number({ error }).check(z.refine(fits, { error }));
}
