const iso = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,20})?)?(?:Z|[+-]\d{2}:\d{2})$/;

/** Numbers below this are seconds (until the year 5138), from here on milliseconds (since 1973). */
export const firstMillisecond = 1e11;

/**
 * Reads a timestamp from the wire, or `undefined` if invalid: Unix time in milliseconds or seconds (distinguished
 * by size), or ISO 8601 with a zone. The service uses both forms for one field (spec, "Representation notes").
 */
export function readMoment(value: unknown): Date | undefined {
  if (typeof value === 'number' && value >= 0)
    return valid(new Date(value < firstMillisecond ? value * 1000 : value));
  return typeof value === 'string' ? (readUsualForm(value) ?? readIsoMoment(value)) : undefined;
}

/** Reads ISO 8601 with date, time and zone; refuses a day that the month does not have. */
export function readIsoMoment(text: string): Date | undefined {
  if (!iso.test(text)) return undefined;
  const day = Number(text.slice(8, 10));
  // `Date` takes a 31st of every month for the first of the next.
  if (day > 28 && new Date(text.slice(0, 10)).getUTCDate() !== day) return undefined;
  return valid(new Date(text));
}

const usualForm = /^[1-9]\d{3}-(?:0[1-9]|1[0-2])-\d{2}T(?:[01]\d|2[0-3])(?::[0-5]\d){2}(?:\.\d{3})?Z$/;

/** `2026-01-31T09:30:00Z`, with or without milliseconds: the usual form, which takes `Date` three times as long. */
function readUsualForm(text: string): Date | undefined {
  if (!usualForm.test(text)) return undefined;
  const two = (at: number) => 10 * text.charCodeAt(at) + text.charCodeAt(at + 1) - 11 * 48;
  const day = two(8);
  const ms = text.length === 24 ? Number(text.slice(20, 23)) : 0;
  const date = new Date(Date.UTC(100 * two(0) + two(2), two(5) - 1, day, two(11), two(14), two(17), ms));
  // A day that the month does not have becomes one of another month.
  return date.getUTCDate() === day ? date : undefined;
}

function valid(date: Date): Date | undefined {
  return Number.isNaN(date.getTime()) ? undefined : date;
}
