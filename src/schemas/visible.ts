/** Control, escape and bidirectional characters as `\u001b`, so that a stranger's text neither acts on a terminal nor hides. */
export function visible(text: string): string {
  return text.replaceAll(/[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/gu, escapedUnit);
}

/** A UTF-16 code unit as `\u001b`. */
export function escapedUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
