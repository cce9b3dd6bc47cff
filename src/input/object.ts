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

/**
 * Own fields, and of `names` those of its class, such as accessors: a polluted prototype sets none. `undefined` if it is
 * no object.
 */
export function ownFields<T>(given: T, names: readonly string[] = []): T | undefined {
  if (!isObject(given)) return undefined;
  const own = Object.assign(Object.create(null), given);
  for (const name of names)
    if (name in given && !(name in own) && !(name in Object.prototype)) own[name] = given[name];
  return own;
}
