const iso = /^(\d{4})-(\d{2})-(\d{2})T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,20})?)?(?:Z|[+-]\d{2}:\d{2})$/;

/** Numbers below this are seconds (until the year 5138), from here on milliseconds (since 1973). */
export const firstMillisecond = 1e11;

/**
 * Reads a timestamp from the wire, or `undefined` if invalid: Unix time in milliseconds or seconds (distinguished
 * by size), or ISO 8601 with a zone. The service uses both forms for one field (spec, "Representation notes").
 */
export function readMoment(value: unknown): Date | undefined {
  if (typeof value === 'number') {
    if (!(value >= 0)) return undefined;
    return valid(new Date(value < firstMillisecond ? value * 1000 : value));
  }
  return typeof value === 'string' ? (readUsualForm(value) ?? readIsoMoment(value)) : undefined;
}

/** Reads ISO 8601 with date, time and zone; refuses a day that the month does not have. */
export function readIsoMoment(text: string): Date | undefined {
  const parts = iso.exec(text);
  if (!parts) return undefined;
  const [, year, month, day] = parts;
  const daysOfMonth = new Date(Date.UTC(Number(year), Number(month), 0)).getUTCDate();
  if (Number(day) > daysOfMonth) return undefined;
  return valid(new Date(text));
}

/** `2026-01-31T09:30:00Z`, with or without milliseconds: the usual form, read in a third of the time. */
function readUsualForm(text: string): Date | undefined {
  const fraction = text.length === 24;
  if (text[4] !== '-' || text[7] !== '-' || text[10] !== 'T' || text[13] !== ':' || text[16] !== ':')
    return undefined;
  if (fraction ? text[19] !== '.' || text[23] !== 'Z' : text.length !== 20 || text[19] !== 'Z')
    return undefined;
  const year = digits(text, 0, 4);
  const month = digits(text, 5, 7);
  const day = digits(text, 8, 10);
  const hour = digits(text, 11, 13);
  const minute = digits(text, 14, 16);
  const second = digits(text, 17, 19);
  const milliseconds = fraction ? digits(text, 20, 23) : 0;
  // Values out of range, NaN (not a digit) and years that Date.UTC shifts are left to the slower path.
  if (!(year >= 1000 && month >= 1 && month <= 12 && hour <= 23 && minute <= 59 && second <= 59))
    return undefined;
  const date = new Date(Date.UTC(year, month - 1, day, hour, minute, second, milliseconds));
  // A day that the month does not have rolls over into the next month; an invalid date has no day.
  return date.getUTCDate() === day ? date : undefined;
}

function digits(text: string, from: number, to: number): number {
  let number = 0;
  for (let index = from; index < to; index++) {
    const digit = text.charCodeAt(index) - 48;
    number = digit >= 0 && digit <= 9 ? number * 10 + digit : Number.NaN;
  }
  return number;
}

function valid(date: Date): Date | undefined {
  return Number.isNaN(date.getTime()) ? undefined : date;
}
