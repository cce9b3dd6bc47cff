import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readMoment } from '../../src/schemas/moment.js';
import { readMoney, readPrice } from '../../src/schemas/money.js';
import { check } from '../helpers/fuzz.js';

/** The text of a whole number of cents, made without arithmetic on fractions. */
function decimal(cents: bigint): string {
  const digits = String(cents < 0n ? -cents : cents).padStart(3, '0');
  return `${cents < 0n ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

describe('money, whatever is sent', () => {
  const cents = fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n });

  it('keeps each amount that is sent as a string', () =>
    check(
      fc.property(cents, (amount) => {
        expect(readMoney(decimal(amount))).toBe(decimal(amount));
      }),
      500,
    ));

  it('reads a number with two decimals as the amount that was written', () =>
    check(
      fc.property(fc.bigInt({ min: -(10n ** 15n), max: 10n ** 15n }), (amount) => {
        const sent: unknown = JSON.parse(decimal(amount));
        expect(readMoney(sent)).toBe(amount === 0n ? '0.00' : decimal(amount));
      }),
      1_000,
    ));

  it('is a decimal with at least two decimals, or refused', () =>
    check(
      fc.property(fc.oneof(fc.double(), fc.maxSafeInteger(), fc.string(), fc.anything()), (value) => {
        const read = readMoney(value);
        if (read !== undefined) expect(read).toMatch(/^-?\d+\.\d{2,}$/);
        if (typeof value === 'number' && read !== undefined) expect(Number(read)).toBe(value + 0);
        expect(readPrice(value)).toBe(read?.startsWith('-') ? undefined : read);
      }),
      1_000,
    ));
});

describe('timestamps, whatever is sent', () => {
  const date = fc.date({
    min: new Date('1973-03-03T09:46:40Z'), // the first that is told as milliseconds by its size
    max: new Date('9999-12-31T23:59:59.999Z'),
    noInvalidDate: true,
  });
  const offset = fc.integer({ min: -14 * 60, max: 14 * 60 });

  /** ISO 8601 of a date as a clock in another zone shows it. */
  function inZone(at: Date, minutes: number): string {
    const local = new Date(at.getTime() + minutes * 60_000).toISOString().slice(0, -1);
    const twoDigits = (value: number) => String(value).padStart(2, '0');
    const ahead = Math.abs(minutes);
    return `${local}${minutes < 0 ? '-' : '+'}${twoDigits(Math.floor(ahead / 60))}:${twoDigits(ahead % 60)}`;
  }

  it('gives one date for milliseconds, ISO 8601 in UTC and in any zone', () =>
    check(
      fc.property(date, offset, (at, minutes) => {
        fc.pre(at.getTime() + minutes * 60_000 < Date.parse('9999-12-31T00:00:00Z'));
        expect(readMoment(at.getTime())).toEqual(at);
        expect(readMoment(at.toISOString())).toEqual(at);
        expect(readMoment(inZone(at, minutes))).toEqual(at);
      }),
      500,
    ));

  it('takes a day that exists in its month, and no other', () =>
    check(
      fc.property(
        fc.integer({ min: 1000, max: 9999 }),
        fc.integer({ min: 0, max: 13 }),
        fc.integer({ min: 0, max: 32 }),
        (year, month, day) => {
          const twoDigits = (value: number) => String(value).padStart(2, '0');
          const text = `${year}-${twoDigits(month)}-${twoDigits(day)}T12:00:00Z`;
          const leap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
          const days = [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1] ?? 0;
          const exists = day >= 1 && day <= days;
          for (const written of [text, text.replace('Z', '+00:00'), text.replace(':00Z', 'Z')]) {
            expect(readMoment(written)?.toISOString().slice(0, 10)).toBe(
              exists ? text.slice(0, 10) : undefined,
            );
          }
        },
      ),
      500,
    ));

  it('is a valid date, or refused', () =>
    check(
      fc.property(
        fc.oneof(fc.double(), fc.string(), fc.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\dZ?$/), fc.anything()),
        (value) => {
          const read = readMoment(value);
          if (read !== undefined) expect(read.getTime()).not.toBeNaN();
        },
      ),
      1_000,
    ));
});
