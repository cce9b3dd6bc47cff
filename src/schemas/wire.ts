import * as z from 'zod/mini';
import { readMetadata } from './metadata.js';
import { readMoment } from './moment.js';
import { readMoney, readPrice } from './money.js';
import { isObject } from './object.js';

/** What is wrong with a value, and where in it. */
interface Problem {
  path: PropertyKey[];
  message: string;
}

/**
 * A part of a response (docs/decisions/schema-speed.md). Turns every wire form of a value into its one normal form; returns
 * `undefined` for what is absent, and for what is invalid, which it adds to `problems`.
 */
export type Wire<T> = (value: unknown, problems: Problem[]) => T | undefined;

/** Of millions, the description would take a minute. */
const mostProblems = 100;

/** Never quotes the value. */
function refuse(problems: Problem[], expected: string): undefined {
  problems.push({ path: [], message: `expected ${expected}` });
}

/** What `read` reads. */
export function wire<T>(read: (value: unknown) => T | undefined, expected: string): Wire<T> {
  return (value, problems) => {
    const result = read(value);
    return result === undefined ? refuse(problems, expected) : result;
  };
}

/** A field that may be missing or `null`, which both become absent. */
function optional<T>(read: Wire<T>): Wire<T | undefined> {
  return (value, problems) => (value === null || value === undefined ? undefined : read(value, problems));
}

/** Reads a field or an item; the paths of its problems begin with its name. */
function readPart<T>(read: Wire<T>, name: PropertyKey, value: unknown, problems: Problem[]): T | undefined {
  const before = problems.length;
  const result = read(value, problems);
  if (result === undefined) for (const { path } of problems.slice(before)) path.unshift(name);
  return result;
}

/** An array whose items are read. */
export function list<T>(read: Wire<T>): Wire<T[]> {
  return (value, problems) => {
    if (!Array.isArray(value)) return refuse(problems, 'an array');
    const items: T[] = [];
    for (const [index, each] of value.entries()) {
      const item = readPart(read, index, each, problems);
      if (item !== undefined) items.push(item);
      else if (problems.length >= mostProblems) break;
    }
    return items.length === value.length ? items : undefined;
  };
}

type Fields = Record<string, unknown>;
type Shape<T> = { [N in keyof Required<T>]: Wire<T[N]> };

/** An object whose fields are read, those of `optionalNames` if they are there; other fields are kept. */
export function record<T extends object>(shape: Shape<T>, optionalNames: readonly string[] = []): Wire<T> {
  const fields = Object.entries<Wire<unknown>>(shape).map(([name, read]) => ({
    name,
    read: optionalNames.includes(name) ? optional(read) : read,
  }));
  /** Puts each field in its normal form. */
  const isRead = (copy: Fields, given: Fields, problems: Problem[]): copy is Fields & T => {
    const before = problems.length;
    for (const { name, read } of fields) {
      const wire = given[name];
      const value = readPart(read, name, wire, problems);
      if (value === undefined) delete copy[name];
      else if (value !== wire) copy[name] = value;
    }
    return problems.length === before;
  };
  return (value, problems) => {
    if (!isObject(value)) return refuse(problems, 'an object');
    const copy = { ...value };
    return isRead(copy, value, problems) ? copy : undefined;
  };
}

/** The schema of a whole response's data, which is a record. */
export function recordSchema<T extends object>(...given: Parameters<typeof record<T>>): z.ZodMiniType<T> {
  const read = record(...given);
  return z.transform((input, { issues }): T => {
    const problems: Problem[] = [];
    const result = read(input, problems);
    for (const problem of problems) issues.push({ code: 'custom', ...problem, input });
    return result ?? z.NEVER;
  });
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
