/** A merchant's own key-value pairs. The spec shows the values as strings. */
export type Metadata = Record<string, string>;

/**
 * Reads metadata from the wire: `{}` when absent, scalars as text (the spec only says that values are
 * "shown as strings"), `undefined` for anything nested.
 */
export function readMetadata(value: unknown): Metadata | undefined {
  if (value === undefined || value === null) return {};
  if (typeof value !== 'object' || Array.isArray(value)) return undefined;
  if (holdsText(value)) return value;
  const pairs: [string, string][] = [];
  for (const [key, entry] of Object.entries(value)) {
    if (typeof entry !== 'string' && typeof entry !== 'number' && typeof entry !== 'boolean')
      return undefined;
    pairs.push([key, String(entry)]);
  }
  return Object.fromEntries(pairs);
}

function holdsText(value: object): value is Metadata {
  for (const name in value) if (typeof Reflect.get(value, name) !== 'string') return false;
  return true;
}
