import { convertedField } from '../input/fields.js';

const iso = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,20})?)?(?:Z|[+-]\d{2}:\d{2})$/;

/** The smallest number that is read as milliseconds (from 1973 on). Numbers below it are seconds (until the year 5138). */
export const firstMillisecond = 1e11;

/** The schema of a timestamp in any of its wire forms, read as a `Date`. */
export const moment = convertedField(
  (value, refuse) => readMoment(value) ?? refuse('expected Unix time or ISO 8601 with a zone'),
);

/**
 * Reads a timestamp from the wire: Unix time in milliseconds or seconds (distinguished by size), or ISO 8601 with a
 * zone. The service uses both forms for one field (spec, "Representation notes"). Returns `undefined`
 * if the value is not a timestamp.
 */
export function readMoment(value: unknown): Date | undefined {
  if (typeof value === 'number' && value >= 0)
    return toValidDate(new Date(value < firstMillisecond ? value * 1000 : value));
  return typeof value === 'string' ? readIsoMoment(value) : undefined;
}

/** Reads ISO 8601 with date, time and zone. Returns `undefined` for other texts, and for a day that the month does not have. */
export function readIsoMoment(text: string): Date | undefined {
  if (!iso.test(text)) return undefined;
  const day = Number(text.slice(8, 10));
  // `Date` reads the 31st of a shorter month as a day of the next month.
  if (day > 28 && new Date(text.slice(0, 10)).getUTCDate() !== day) return undefined;
  return toValidDate(new Date(text));
}

function toValidDate(date: Date): Date | undefined {
  return Number.isNaN(date.getTime()) ? undefined : date;
}
