const iso = /^(\d{4})-(\d{2})-(\d{2})T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2})$/;

/** Numbers below this are seconds (until the year 5138), from here on milliseconds (since 1973). */
export const firstMillisecond = 1e11;

/**
 * Reads a moment from the wire, or `undefined` where it is none: Unix time in milliseconds or seconds (told
 * apart by size), or ISO 8601 with a zone. The service uses both forms for one field (spec, "Representation notes").
 */
export function readMoment(value: unknown): Date | undefined {
  if (typeof value === 'number') {
    if (!(value >= 0)) return undefined;
    return valid(new Date(value < firstMillisecond ? value * 1000 : value));
  }
  return typeof value === 'string' ? readIsoMoment(value) : undefined;
}

/** Reads ISO 8601 text with date, time and zone; a day that the month does not have is refused. */
export function readIsoMoment(text: string): Date | undefined {
  const parts = iso.exec(text);
  if (!parts) return undefined;
  const [, year, month, day] = parts;
  if (Number(day) > daysIn(Number(year), Number(month))) return undefined;
  return valid(new Date(text));
}

function daysIn(year: number, month: number): number {
  return new Date(Date.UTC(year, month, 0)).getUTCDate();
}

function valid(date: Date): Date | undefined {
  return Number.isNaN(date.getTime()) ? undefined : date;
}
