import { type Duration, durationMs } from '../input/duration.js';
import { valueWithout } from '../input/fields.js';
import { parseWith, problemIn } from './checks.js';

const anyDuration = durationMs();

/** Schema of a duration, which keeps the value as it was passed. */
export const duration = valueWithout<Duration>((value) => problemIn(anyDuration, value));

export const milliseconds = (value: unknown, what: string): number => parseWith(anyDuration, value, what);
