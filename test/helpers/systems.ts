export const isWindows = process.platform === 'win32';

/** The mode that `stat` reports of a file created with `mode`: Windows knows "read-only" alone. */
export function permissions(mode: number): number {
  return isWindows ? 0o666 : mode;
}

/** Windows ends a process at once, whatever signal `kill()` names; only a key in its own console asks it to end. */
export const endsAtOnce = process.platform === 'win32';
