/** A duration: `'500ms'`, `'5s'`, `'2m'`, `'3h'`, `'90d'`, or a number of milliseconds. */
export type Duration = number | `${number}${'ms' | 's' | 'm' | 'h' | 'd'}`;

const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** A duration in milliseconds, or `undefined` if invalid. */
export function readDuration(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isFinite(value) && value >= 0 ? value : undefined;
  const [, count, unit = ''] =
    (typeof value === 'string' && /^(\d+(?:\.\d+)?)(ms|[smhd])$/.exec(value)) || [];
  const ms = unitMs[unit];
  return ms === undefined ? undefined : Number(count) * ms;
}
