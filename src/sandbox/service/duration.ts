import { SandboxError } from '../sandbox-error.js';

/** A length of time: milliseconds, or text such as `'30s'`, `'2h'`, `'1.5d'`. */
export type Duration = number | `${number}${'ms' | 's' | 'm' | 'h' | 'd'}`;

const units: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const text = /^(\d{1,12}(?:\.\d{1,6})?)(ms|s|m|h|d)$/;
const longest = 100 * 365 * 86_400_000;

/** A duration in milliseconds. `what` names it in the error. */
export function milliseconds(duration: unknown, what: string): number {
  const parsed = typeof duration === 'string' ? fromText(duration) : duration;
  if (typeof parsed === 'number' && parsed >= 0 && parsed <= longest) return Math.round(parsed);
  throw new SandboxError(
    'invalid_options',
    `${what}: ${typeof duration === 'string' ? JSON.stringify(duration.slice(0, 40)) : String(duration)} is no ` +
      `duration. Pass milliseconds, or text such as "30s", "5m", "2h" or "1d".`,
  );
}

/** Whether text reads as a duration, for arguments that come from outside. */
export function isDuration(value: string): value is Extract<Duration, string> {
  return text.test(value);
}

function fromText(duration: string): number {
  const [, amount, unit] = text.exec(duration) ?? [];
  return Number(amount) * (units[unit ?? ''] ?? Number.NaN);
}
