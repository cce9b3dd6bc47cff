const iso = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2})$/;

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
  return typeof value === 'string' ? readIsoMoment(value) : undefined;
}

/** Reads ISO 8601 with date, time and zone; refuses a day that the month does not have. */
export function readIsoMoment(text: string): Date | undefined {
  if (!iso.test(text)) return undefined;
  const day = Number(text.slice(8, 10));
  // `Date` would go on into the next month.
  if (day > 28 && new Date(text.slice(0, 10)).getUTCDate() !== day) return undefined;
  return valid(new Date(text));
}

function valid(date: Date): Date | undefined {
  return Number.isNaN(date.getTime()) ? undefined : date;
}
