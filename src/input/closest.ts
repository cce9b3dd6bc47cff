/** Returns the candidate that a misspelt word most likely stands for: few letters differ, in any order. */
export function closestName(word: string, candidates: readonly string[]): string | undefined {
  return candidates
    .map((candidate): [number, string] => [distance(lettersOf(word), lettersOf(candidate)), candidate])
    .filter(([part]) => part <= 1 / 3)
    .sort(([a], [b]) => a - b)[0]?.[1];
}

/** Names that other libraries use for our options. */
const synonyms = new Map([
  ['body', 'rawBody'],
  ['payload', 'rawBody'],
  ['now', 'receivedAt'],
  ['clock', 'receivedAt'],
  ['webhookSecret', 'secret'],
  ['retry', 'retries'],
]);

/** Returns the end of a message about an unknown name: the likely name, or all known names. */
export function didYouMean(name: string, known: readonly string[]): string {
  const synonym = synonyms.get(name);
  const meant = synonym && known.includes(synonym) ? synonym : closestName(name, known);
  return meant === undefined ? `Known are ${known.join(', ')}.` : `Did you mean ${meant}?`;
}

const lettersOf = (word: string) => word.toLowerCase().replace(/[\W_]/g, '');

/**
 * Returns the part of a candidate's letters to replace, insert or leave out. It is a quarter if one name contains the other and
 * both have more than three letters, as with `webhook` and `webhookUrl`.
 */
function distance(word: string, candidate: string): number {
  const isWithin = word.includes(candidate) || candidate.includes(word);
  if (isWithin && word.length > 3 && candidate.length > 3) return 1 / 4;
  let left = candidate;
  for (const letter of word) left = left.replace(letter, '');
  return (Math.max(word.length - candidate.length, 0) + left.length) / candidate.length;
}
