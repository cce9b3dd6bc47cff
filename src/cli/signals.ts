const names = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Resolves at the first SIGINT or SIGTERM. A second one ends the process at once. */
export function endSignal(): Promise<void> {
  return new Promise((resolve) => {
    for (const name of names) process.once(name, () => resolve());
  });
}
