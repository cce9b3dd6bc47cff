const names = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Resolves at the first SIGINT or SIGTERM, or when nobody reads the output. A second signal ends the process at once. */
export function endSignal(): Promise<void> {
  return new Promise((resolve) => {
    for (const name of names) process.once(name, () => resolve());
    process.stdout.once('error', () => resolve());
  });
}
