/** Returns a pattern that matches any of some phrases, in upper or lower case. */
export const anyOf = (phrases: readonly RegExp[]): RegExp =>
  new RegExp(phrases.map(({ source }) => source).join('|'), 'i');
