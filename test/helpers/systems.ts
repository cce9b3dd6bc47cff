export const isWindows = process.platform === 'win32';

/** What `stat` says of a file that was made with these permissions: Windows has none but "read-only". */
export function permissions(mode: number): number {
  return isWindows ? 0o666 : mode;
}

/** Windows ends a process at once, whatever signal `kill()` names; only a key in its own console asks it to end. */
export const endsAtOnce = process.platform === 'win32';
