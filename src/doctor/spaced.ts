/** JSON on one line with a space after `:` and `,`: what Python writes, and what `JSON.stringify` does not. */
export function spaced(content: object): string {
  return JSON.stringify(content, null, 1)
    .replaceAll(/,\n\s*/g, ', ')
    .replaceAll(/\n\s*/g, '');
}
