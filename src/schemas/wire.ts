import * as z from 'zod/mini';
import { readMetadata } from './metadata.js';
import { readMoment } from './moment.js';
import { readMoney, readPrice } from './money.js';

/**
 * A schema around a reader: the reader turns every wire form of a value into its one normal form, or gives
 * `undefined` for what is none. The message says what was expected and never quotes the value.
 */
function reads<T>(read: (value: unknown) => T | undefined, expected: string): z.ZodMiniType<T> {
  return z.transform((value, context) => {
    const result = read(value);
    if (result !== undefined) return result;
    context.issues.push({ code: 'custom', message: `expected ${expected}`, input: value });
    return z.NEVER;
  });
}

const readText = (value: unknown) => (typeof value === 'string' ? value : undefined);

export const text = reads(readText, 'text');
export const nullableText = reads(
  (value) => (value === undefined ? null : value === null ? value : readText(value)),
  'text or null',
);
export const money = reads(readMoney, 'a decimal amount');
export const price = reads(readPrice, 'a decimal amount of at most two places, not negative');
export const moment = reads(readMoment, 'Unix time or an ISO 8601 time with its zone');
export const metadata = reads(readMetadata, 'an object of plain values');

/** An object of the wire: its listed fields are read, and the unlisted ones are kept as they are. */
export function record<Shape extends z.core.$ZodLooseShape>(shape: Shape) {
  return z.looseObject(shape, { error: 'expected an object' });
}
