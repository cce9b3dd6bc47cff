/** The candidate that a misspelt word most likely meant: few letters differ, in whatever order they stand. */
export function closest(word: string, candidates: readonly string[]): string | undefined {
  const [best] = candidates
    .map((candidate) => ({ candidate, slips: slips(lettersOf(word), lettersOf(candidate)) }))
    .filter(({ candidate, slips }) => slips <= lettersOf(candidate).length / 3)
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
  const [short = '', long = ''] = [word, candidate].sort((a, b) => a.length - b.length);
  if (short.length > 3 && long.includes(short)) return 1;
  let left = candidate;
  for (const letter of word) left = left.replace(letter, '');
  const shared = candidate.length - left.length;
  return Math.max(word.length, candidate.length) - shared;
}
