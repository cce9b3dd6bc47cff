/** Whether a value is an object with named fields: no array, not `null`. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Whether it is a plain object, not an instance of a class. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (!isObject(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** Own fields alone, so that a polluted prototype sets none; `undefined` if it is no object. */
export function ownFields<T>(given: T): T | undefined {
  return isObject(given) ? Object.assign(Object.create(null), given) : undefined;
}
