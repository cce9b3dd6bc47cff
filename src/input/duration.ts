import type * as z from 'zod/mini';
import { checkedField, convertedField } from './fields.js';
import { quote } from './visible.js';

/** A length of time: milliseconds, or a string such as `'500ms'`, `'30s'`, `'2h'`, `'1.5d'`. */
export type Duration = number | `${number}${'ms' | 's' | 'm' | 'h' | 'd'}`;

export const dayMs = 86_400_000;

const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: dayMs };
const longest = '36500d';
const durationText = /^(\d+(?:\.\d{1,6})?)(ms|[smhd])$/;

/** Returns the schema of a `Duration` between two limits, which it reads as milliseconds. */
export function durationMs(least: Duration = 0, most: Duration = longest): z.ZodMiniType<number> {
  return convertedField((value, refuse) => {
    const problem = problemOf(value, least, most);
    return problem === undefined ? millisecondsOf(value) : refuse(problem);
  });
}

/** The schema of a `Duration`, which keeps it as it was passed. */
export const duration = checkedField<Duration>((value) => problemOf(value, 0, longest));

/** Returns a duration in milliseconds, or `NaN` if the value is not a duration. */
export function millisecondsOf(value: unknown): number {
  const [, amount, unit = ''] = (typeof value === 'string' && durationText.exec(value)) || [];
  return Math.round(typeof value === 'number' ? value : Number(amount) * (unitMs[unit] ?? Number.NaN));
}

function problemOf(value: unknown, least: Duration, most: Duration): string | undefined {
  const ms = millisecondsOf(value);
  if (ms >= millisecondsOf(least) && ms <= millisecondsOf(most)) return undefined;
  if (value === undefined) return 'is missing. Pass a duration such as "30s", "5m", "2h" or "1d".';
  if (ms > millisecondsOf(most)) return `${quote(value)} is too long. Pass at most "${most}".`;
  if (ms >= 0) return `${quote(value)} is too short. Pass at least "${least}".`;
  if (typeof value === 'string' && /^[\d.]+$/.test(value))
    return `${quote(value)} has no unit. Pass "${value}s" for seconds; the units are ms, s, m, h and d.`;
  return `${quote(value)} is not a duration. Pass one such as "30s", "5m", "2h" or "1d".`;
}
