import * as z from 'zod/mini';
import { readMetadata } from './metadata.js';
import { readMoment } from './moment.js';
import { readMoney, readPrice } from './money.js';
import { isObject } from './object.js';

/** What is wrong with a value, and where in it. */
type Problem = Readonly<{ path: PropertyKey[]; message: string }>;
type Problems = readonly Problem[];

/** A part of a response (docs/decisions/schema-speed.md). */
export interface Wire<T> {
  /** Turns every wire form of a value into its one normal form, or returns `undefined` if it is invalid. */
  read(value: unknown): T | undefined;
  /** None if `read` reads the value. */
  problemsOf(value: unknown): Problems;
  readonly isOptional?: true;
}

/** Of millions, the description would take a minute. */
const mostProblems = 100;

const expects = (expected: string): Problems => [{ path: [], message: `expected ${expected}` }];

const within = (name: PropertyKey, problems: Problems): Problems =>
  problems.map(({ path, message }) => ({ path: [name, ...path], message }));

/** What `read` reads. The message says what was expected and never quotes the value. */
export function wire<T>(read: Wire<T>['read'], expected: string): Wire<T> {
  return {
    read,
    problemsOf: (value) => (read(value) === undefined ? expects(expected) : []),
  };
}

/** A field that may be missing or `null`, which both become absent. */
export function optional<T>({ read, problemsOf }: Wire<T>) {
  return {
    read,
    problemsOf: (value: unknown) => (value === null || value === undefined ? [] : problemsOf(value)),
    isOptional: true as const,
  };
}

/** An array whose items are read. */
export function list<T>({ read, problemsOf }: Wire<T>): Wire<T[]> {
  return {
    read(value) {
      if (!Array.isArray(value)) return undefined;
      const items = value.map((each) => read(each));
      return items.every((each) => each !== undefined) ? items : undefined;
    },
    problemsOf(value) {
      if (!Array.isArray(value)) return expects('an array');
      const problems: Problem[] = [];
      value.some((each, index) => problems.push(...within(index, problemsOf(each))) >= mostProblems);
      return problems;
    },
  };
}

type Shape = Record<string, Wire<unknown>>;
type OptionalName<S extends Shape> = {
  [N in keyof S]: S[N] extends { isOptional: true } ? N : never;
}[keyof S];
type Value<Field> = Field extends Wire<infer T> ? T : never;
type Result<S extends Shape> = { [N in Exclude<keyof S, OptionalName<S>>]: Value<S[N]> } & {
  [N in OptionalName<S>]?: Value<S[N]>;
} & Record<string, unknown>;

/** An object whose fields are read; other fields are kept. */
export function record<S extends Shape>(shape: S): Wire<Result<S>> & z.ZodMiniType<Result<S>> {
  const fields = Object.entries(shape).map(([name, { read, problemsOf, isOptional }]) => ({
    name,
    read,
    problemsOf,
    isOptional,
  }));
  /** Puts each field in its normal form. */
  const isRead = (copy: Record<string, unknown>, given: Record<string, unknown>): copy is Result<S> => {
    for (const { name, read, isOptional } of fields) {
      const wire = given[name];
      if (isOptional && (wire === null || wire === undefined)) {
        if (wire === null) delete copy[name];
        continue;
      }
      const value = read(wire);
      if (value === undefined) return false;
      if (value !== wire) copy[name] = value;
    }
    return true;
  };
  const read = (value: unknown): Result<S> | undefined => {
    if (!isObject(value)) return undefined;
    const copy = { ...value };
    return isRead(copy, value) ? copy : undefined;
  };
  const problemsOf = (value: unknown): Problems =>
    isObject(value)
      ? fields.flatMap(({ name, problemsOf }) => within(name, problemsOf(value[name])))
      : expects('an object');
  const schema = z.transform((input, { issues }): Result<S> => {
    const result = read(input);
    if (result !== undefined) return result;
    for (const problem of problemsOf(input)) issues.push({ code: 'custom', ...problem, input });
    return z.NEVER;
  });
  return Object.assign(schema, { read, problemsOf });
}

const readText = (value: unknown) => (typeof value === 'string' ? value : undefined);
const readNullableText = (value: unknown) => (value === undefined || value === null ? null : readText(value));
const readCount = (value: unknown) =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;

export const text = wire(readText, 'a string');
export const nullableText = wire(readNullableText, 'a string or null');
export const count = wire(readCount, 'an integer of at least 0');
export const money = wire(readMoney, 'a decimal amount');
export const price = wire(readPrice, 'a decimal amount, not negative');
export const moment = wire(readMoment, 'Unix time or ISO 8601 with a zone');
export const metadata = wire(readMetadata, 'an object');
