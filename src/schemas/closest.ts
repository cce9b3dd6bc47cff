/** The candidate that a misspelt word most likely meant: few letters differ, in whatever order they stand. */
export function closest(word: string, candidates: readonly string[]): string | undefined {
  const [best] = candidates
    .map((candidate) => ({ candidate, slips: slips(lettersOf(word), lettersOf(candidate)) }))
    .filter(({ candidate, slips }) => slips <= candidate.length / 3)
    .sort((a, b) => a.slips - b.slips);
  return best?.candidate;
}

/** The end of a message about an unknown name. */
export function didYouMean(name: string, known: readonly string[]): string {
  const meant = closest(name, known);
  return meant === undefined ? `Known are ${known.join(', ')}.` : `Did you mean ${meant}?`;
}

const lettersOf = (word: string) => word.toLowerCase().replaceAll(/[^a-z0-9]/g, '');

/** How many letters to replace, insert or leave out; one if a name of some length is within the other, as `webhook` in `webhookUrl`. */
function slips(word: string, candidate: string): number {
  const isWithin = word.includes(candidate) || candidate.includes(word);
  if (isWithin && word.length > 3 && candidate.length > 3) return 1;
  let left = candidate;
  for (const letter of word) left = left.replace(letter, '');
  return Math.max(word.length - candidate.length, 0) + left.length;
}
