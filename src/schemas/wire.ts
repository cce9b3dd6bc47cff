import * as z from 'zod/mini';
import { readMetadata } from './metadata.js';
import { readMoment } from './moment.js';
import { readMoney, readPrice } from './money.js';
import { isObject } from './object.js';

/** Turns every wire form of a value into its one normal form, or returns `undefined` if it is invalid. */
type Reader<T> = (value: unknown) => T | undefined;

/** The reader of each schema made here. `record` calls them directly, without zod's steps in between. */
const readers = new WeakMap<object, Reader<unknown>>();
const optionals = new WeakSet<object>();

/** A schema around a reader. The message says what was expected and never quotes the value. */
export function reads<T>(read: Reader<T>, expected: string): z.ZodMiniType<T> {
  const schema = z.transform((value, context): T => {
    const result = read(value);
    if (result !== undefined) return result;
    context.issues.push({ code: 'custom', message: `expected ${expected}`, input: value });
    return z.NEVER;
  });
  readers.set(schema, read);
  return schema;
}

/** A field that may be missing or `null`, which both become absent. */
export function optional<T>(schema: z.ZodMiniType<T>): z.ZodMiniExactOptional<z.ZodMiniType<T>> {
  const orNull = z.transform((value, context): T => {
    const parsed = value === null ? undefined : z.safeParse(schema, value);
    if (parsed?.success) return parsed.data;
    for (const { message } of parsed?.error.issues ?? [])
      context.issues.push({ code: 'custom', message, input: value });
    return z.NEVER;
  });
  const field = z.exactOptional(orNull);
  readers.set(field, readerOf(schema));
  optionals.add(field);
  return field;
}

/** An array whose items are read. */
export function list<Item extends z.ZodMiniType>(item: Item): z.ZodMiniArray<Item> {
  const schema = z.array(item, { error: 'expected an array' });
  const readItem = readerOf(item);
  readers.set(schema, (value) => {
    if (!Array.isArray(value)) return undefined;
    const items: unknown[] = [];
    for (const each of value) {
      const read = readItem(each);
      if (read === undefined) return undefined;
      items.push(read);
    }
    return items;
  });
  return schema;
}

/**
 * An object whose fields are read; other fields are kept. A well-formed object is read in one loop, which is faster
 * than zod's transforms (docs/decisions/schema-speed.md). For any other, zod reports what is wrong.
 */
export function record<Shape extends Record<string, z.ZodMiniType>>(shape: Shape) {
  type Result = z.output<z.ZodMiniObject<Shape, z.core.$loose>>;
  const fields = Object.entries(shape).map(([name, schema]) => ({
    name,
    read: readerOf(schema),
    isOptional: optionals.has(schema),
  }));
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
  const schema = z.withParser(
    z.looseObject(shape, { error: 'expected an object' }),
    (value) => read(value) ?? z.INVALID,
  );
  readers.set(schema, read);
  return schema;
}

function readerOf(schema: object): Reader<unknown> {
  const read = readers.get(schema);
  if (!read) throw new TypeError('This schema was not made by reads, optional, list or record.');
  return read;
}

const readText = (value: unknown) => (typeof value === 'string' ? value : undefined);
const readNullableText = (value: unknown) => (value === undefined || value === null ? null : readText(value));
const readCount = (value: unknown) =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;

export const text = reads(readText, 'a string');
export const nullableText = reads(readNullableText, 'a string or null');
export const count = reads(readCount, 'an integer of at least 0');
export const money = reads(readMoney, 'a decimal amount');
export const price = reads(readPrice, 'a decimal amount, not negative');
export const moment = reads(readMoment, 'Unix time or ISO 8601 with a zone');
export const metadata = reads(readMetadata, 'an object');
