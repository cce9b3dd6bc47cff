/** Whether somebody has put fields on `Object.prototype`, from where all that reads options by name gets them too. */
export function isPolluted(): boolean {
  return Object.keys(Object.prototype).length > 0;
}

/** Options for others' code: as they are, or in a copy that hides what a polluted prototype would add. */
export function shielded<T extends object>(options: T): T {
  if (!isPolluted()) return options;
  const hidden = Object.keys(Object.prototype).map((name) => [name, undefined]);
  return { ...Object.fromEntries(hidden), ...options };
}
