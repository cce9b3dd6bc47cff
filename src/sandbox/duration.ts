import { type Duration, durationMs } from '../input/duration.js';
import { valueWithout } from '../input/fields.js';
import { checked, problemIn } from './checks.js';

const anyDuration = durationMs();

/** The schema of a duration that is kept as it was passed. */
export const duration = valueWithout<Duration>((value) => problemIn(anyDuration, value));

export const milliseconds = (value: unknown, what: string): number => checked(anyDuration, value, what);
