import * as z from 'zod/mini';
import { readMetadata } from './metadata.js';
import { readMoment } from './moment.js';
import { readMoney, readPrice } from './money.js';
import { isObject } from './object.js';

/** Turns every wire form of a value into its one normal form, or returns `undefined` if it is invalid. */
type Reader<T> = (value: unknown) => T | undefined;

/** A schema with the reader that it uses, for `record` and `list` to call directly. */
type Wire<T> = z.ZodMiniType<T> & { readonly read: Reader<T>; readonly isOptional: boolean };

/** What is wrong with a value that a reader refused. */
type Problems = readonly Readonly<{ path: readonly PropertyKey[]; message: string }>[];

/** A schema that reads in one loop, and looks for problems only in what cannot be read (docs/decisions/schema-speed.md). */
function schemaOf<T>(read: Reader<T>, problemsOf: (value: unknown) => Problems): Wire<T> {
  const schema = z.transform((input, { issues }): T => {
    const result = read(input);
    if (result !== undefined) return result;
    for (const { path, message } of problemsOf(input))
      issues.push({ code: 'custom', path: [...path], message, input });
    return z.NEVER;
  });
  return Object.assign(schema, { read, isOptional: false });
}

const expects = (expected: string): Problems => [{ path: [], message: `expected ${expected}` }];

const problemsBy = (schema: z.ZodMiniType, value: unknown): Problems =>
  z.safeParse(schema, value).error?.issues ?? [];

/** A schema around a reader. The message says what was expected and never quotes the value. */
export function wire<T>(read: Reader<T>, expected: string): Wire<T> {
  return schemaOf(read, () => expects(expected));
}

/** A field that may be missing or `null`, which both become absent. */
export function optional<T>(schema: Wire<T>) {
  const { read } = schema;
  const orNull = schemaOf(read, (value) => (value === null ? [] : problemsBy(schema, value)));
  return Object.assign(z.exactOptional(orNull), { read, isOptional: true });
}

/** An array whose items are read. */
export function list<T>(item: Wire<T>): Wire<T[]> {
  const read = (value: unknown): T[] | undefined => {
    if (!Array.isArray(value)) return undefined;
    const items = value.map((each) => item.read(each));
    return items.every((each) => each !== undefined) ? items : undefined;
  };
  return schemaOf(read, (value) => {
    if (!Array.isArray(value)) return expects('an array');
    return value.flatMap((each, index) =>
      problemsBy(item, each).map(({ path, message }) => ({ path: [index, ...path], message })),
    );
  });
}

/** An object whose fields are read; other fields are kept. */
export function record<Shape extends Record<string, Wire<unknown>>>(shape: Shape) {
  type Result = z.output<z.ZodMiniObject<Shape, z.core.$loose>>;
  const fields = Object.entries(shape).map(([name, { read, isOptional }]) => ({ name, read, isOptional }));
  /** Puts each field in its normal form. */
  const isRead = (copy: Record<string, unknown>, given: Record<string, unknown>): copy is Result => {
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
  const read = (value: unknown): Result | undefined => {
    if (!isObject(value)) return undefined;
    const copy = { ...value };
    return isRead(copy, value) ? copy : undefined;
  };
  const object = z.looseObject(shape, 'expected an object');
  return schemaOf(read, (value) => problemsBy(object, value));
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
