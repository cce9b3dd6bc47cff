/** An object of strings as a JavaScript literal. */
export function literal(object: object): string {
  const quoted = (text: unknown) =>
    `'${String(text).replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll('\n', '\\n')}'`;
  const fields = Object.entries(object).map(([name, value]) => `${name}: ${quoted(value)}`);
  return `{ ${fields.join(', ')} }`;
}
