/** `2026-11-20 14:03:22 UTC` */
export const fullMoment = (at: Date): string => `${at.toISOString().slice(0, 19).replace('T', ' ')} UTC`;

/** The time of day on the sandbox's day, else the date before it: `14:03:22`. */
export function shortMoment(at: Date, now: number): string {
  const [day = '', time = ''] = at.toISOString().split('T');
  const clock = time.slice(0, 8);
  return new Date(now).toISOString().startsWith(day) ? clock : `${day} ${clock}`;
}

/** A length of time in the unit that suits it: `25 s`, `4 min`, `2.5 h`, `3 d`. */
export function span(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
  const hours = seconds / 3600;
  return hours < 48 ? `${Math.round(hours * 10) / 10} h` : `${Math.round(hours / 24)} d`;
}

export const millisecondsText = (ms: number): string => `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms`;
