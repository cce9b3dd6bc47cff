import * as z from 'zod/mini';
import { checked, shown } from '../sandbox-error.js';

/** A length of time: milliseconds, or a string such as `'30s'`, `'2h'`, `'1.5d'`. */
export type Duration = number | `${number}${'ms' | 's' | 'm' | 'h' | 'd'}`;

const units: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const text = /^(\d{1,12}(?:\.\d{1,6})?)(ms|s|m|h|d)$/;
const longest = 100 * 365 * 86_400_000;

function read(value: unknown): number | undefined {
  const [, amount, unit] = (typeof value === 'string' && text.exec(value)) || [];
  const ms = typeof value === 'number' ? value : Number(amount) * (units[unit ?? ''] ?? Number.NaN);
  return ms >= 0 && ms <= longest ? Math.round(ms) : undefined;
}

/** What is wrong with a duration, to follow its name in a message. */
function wrong(value: unknown): string {
  if (typeof value === 'string' && /^[\d.]+$/.test(value))
    return `${shown(value)} has no unit. Pass "${value}s" for seconds; the units are ms, s, m, h and d.`;
  return `${shown(value)} is not a duration. Pass one such as "30s", "5m", "2h" or "1d".`;
}

/** A duration, as given. */
export const duration = z.custom<Duration>((value) => read(value) !== undefined, {
  error: ({ input }) => wrong(input),
});

/** A duration in milliseconds. */
export const durationMs = z.pipe(
  duration,
  z.transform((value: Duration) => read(value) ?? Number.NaN),
);

/** An unchecked duration in milliseconds. `what` names it in the error. */
export const milliseconds = (value: unknown, what: string): number => checked(durationMs, value, what);
