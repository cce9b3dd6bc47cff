/** A merchant's own key-value pairs. The spec shows the values as strings. */
export type Metadata = Record<string, string>;

/**
 * Reads metadata from the wire: `{}` when absent, values as strings (the spec only says that they are "shown as
 * strings"): others as JSON writes them, but a number too large for a double as `Infinity`; `null` left out. `undefined`
 * if it is not an object.
 */
export function readMetadata(value: unknown): Metadata | undefined {
  if (value === undefined || value === null) return {};
  if (typeof value !== 'object') return undefined;
  if (!Array.isArray(value) && hasStringValues(value)) return value;
  const given = Object.entries(value).filter(([, entry]) => entry !== null);
  try {
    return Object.fromEntries(
      given.map(([key, entry]) => [key, typeof entry === 'object' ? JSON.stringify(entry) : String(entry)]),
    );
  } catch {
    // Nested too deeply for JSON.stringify.
    return undefined;
  }
}

function hasStringValues(value: object): value is Metadata {
  for (const name in value) if (typeof Reflect.get(value, name) !== 'string') return false;
  return true;
}
