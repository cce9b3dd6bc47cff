import { convertedField } from '../input/fields.js';

/** A merchant's own key-value pairs. The spec shows the values as strings. */
export type Metadata = Record<string, string>;

/**
 * The schema of metadata in a response: `{}` if absent, and values as strings. The spec only says that values are "shown as
 * strings". Other values become the text that JSON writes for them, but a number too large for a double becomes `Infinity`;
 * `null` is left out.
 */
export const metadata = convertedField((value, refuse): Metadata => {
  if (value === undefined || value === null) return {};
  if (typeof value !== 'object') return refuse('expected an object');
  if (areTexts(value)) return { ...value };
  const given = Object.entries(value).filter(([, entry]) => entry !== null);
  try {
    return Object.fromEntries(
      given.map(([key, entry]) => [key, typeof entry === 'object' ? JSON.stringify(entry) : String(entry)]),
    );
  } catch {
    return refuse('expected an object that is less deep');
  }
});

function areTexts(fields: object): fields is Metadata {
  return Object.values(fields).every((entry) => typeof entry === 'string');
}
