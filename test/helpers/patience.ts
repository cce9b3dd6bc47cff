import { vi } from 'vitest';

/** What is waited for comes at once, but a busy machine may stand still for more than vitest's second. */
const { waitFor } = vi;
vi.waitFor = (callback, options) =>
  waitFor(callback, typeof options === 'number' ? options : { timeout: 15_000, ...options });
