import { vi } from 'vitest';

/** A condition holds at once, but a busy machine may stand still for longer than vitest's second. */
const { waitFor } = vi;
vi.waitFor = (callback, options) =>
  waitFor(callback, typeof options === 'number' ? options : { timeout: 15_000, ...options });
