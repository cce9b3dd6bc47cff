/** An object of texts as one would write it in code. */
export function literal(object: object): string {
  const quoted = (text: unknown) =>
    `'${String(text).replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll('\n', '\\n')}'`;
  const fields = Object.entries(object).map(([name, value]) => `${name}: ${quoted(value)}`);
  return `{ ${fields.join(', ')} }`;
}
