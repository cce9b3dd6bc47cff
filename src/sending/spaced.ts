/** JSON on one line with a space after each `:` and `,`: what Python's `json.dumps` writes. */
export function spaced(content: object): string {
  return JSON.stringify(content, null, 1)
    .replaceAll(/,\n\s*/g, ', ')
    .replaceAll(/\n\s*/g, '');
}

/** JSON on one line that no encoder writes: only some of its colons and commas are followed by a space. */
export function unevenlySpaced(content: object): string {
  const lines = JSON.stringify(content, null, 1).split(/\n\s*/);
  return lines
    .map((line, index) =>
      index % 2 === 1 ? line.replace(/^("(?:\\.|[^"\\])*"): /, '$1:') : line.replace(/,$/, ', '),
    )
    .join('');
}
