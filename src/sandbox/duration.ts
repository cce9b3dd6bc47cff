import { convertedField, field } from '../schemas/fields.js';
import { checked, problemIn, shown } from './checks.js';

/** A length of time: milliseconds, or a string such as `'30s'`, `'2h'`, `'1.5d'`. */
export type Duration = number | `${number}${'ms' | 's' | 'm' | 'h' | 'd'}`;

const unitMs: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const durationText = /^(\d+(?:\.\d{1,6})?)(ms|s|m|h|d)$/;
const longestMs = 100 * 365 * 86_400_000;

export const durationMs = convertedField((value, refuse) => {
  const [, amount, unit = ''] = (typeof value === 'string' && durationText.exec(value)) || [];
  const ms = typeof value === 'number' ? value : Number(amount) * (unitMs[unit] ?? Number.NaN);
  if (Math.round(ms) > longestMs) return refuse(`${shown(value)} is too long. Pass at most "36500d".`);
  if (ms >= 0) return Math.round(ms);
  if (typeof value === 'string' && /^[\d.]+$/.test(value))
    return refuse(
      `${shown(value)} has no unit. Pass "${value}s" for seconds; the units are ms, s, m, h and d.`,
    );
  return refuse(`${shown(value)} is not a duration. Pass one such as "30s", "5m", "2h" or "1d".`);
});

export const duration = field<Duration>((value) => problemIn(durationMs, value));

export const milliseconds = (value: unknown, what: string): number => checked(durationMs, value, what);
