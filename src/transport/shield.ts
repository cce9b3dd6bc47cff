/** Whether `Object.prototype` has extra fields, which any code that reads options by name would see. */
export function isPolluted(): boolean {
  return Object.keys(Object.prototype).length > 0;
}

/** Options for code of others: unchanged, or a copy that hides the fields of a polluted prototype. */
export function shielded<T extends object>(options: T): T {
  if (!isPolluted()) return options;
  // ky refuses an own `prefixUrl`, even `undefined`, and looks for no other.
  const names = Object.keys(Object.prototype).filter((name) => name !== 'prefixUrl');
  const hidden = names.map((name) => [name, undefined]);
  return { ...Object.fromEntries(hidden), ...options };
}
