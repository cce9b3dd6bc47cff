// The corpus as it is on disk, and the bytes that it describes.
import { readFileSync } from 'node:fs';

const read = (name) => JSON.parse(readFileSync(new URL(name, import.meta.url), 'utf8'));

export const { cases, defaults } = read('cases.json');
export const { vectors } = read('vectors.json');

/** The bytes of `{ "vector": id }` or `{ "base64": text }`. */
export function bytesOf(body) {
  if (body.base64 !== undefined) return Buffer.from(body.base64, 'base64');
  const found = vectors.find(({ id }) => id === body.vector);
  if (!found) throw new Error(`vectors.json has no vector ${body.vector}`);
  if (!found.bodyRecipe) return Buffer.from(found.bodyBase64, 'base64');
  const { head, fill, tail, totalBytes } = found.bodyRecipe;
  return Buffer.from(head + fill.repeat(totalBytes - head.length - tail.length) + tail);
}

/** A header's value: text, or `{ "recipe": { repeat, times, then } }`. */
export function textOf(value) {
  if (typeof value === 'string') return value;
  const { repeat, times, then } = value.recipe;
  return repeat.repeat(times) + then;
}
