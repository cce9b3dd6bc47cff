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
  const longer = known.filter((each) => isWithin(name, each) || isWithin(each, name));
  const meant = closest(name, known) ?? (longer.length === 1 ? longer[0] : undefined);
  return meant === undefined ? `Known are ${known.join(', ')}.` : `Did you mean ${meant}?`;
}

const lettersOf = (word: string) => word.toLowerCase().replaceAll(/[^a-z0-9]/g, '');

/** Whether one name contains the other, as `webhookUrl` does `webhook`; a letter or two say nothing. */
function isWithin(short: string, long: string): boolean {
  const letters = lettersOf(short);
  return letters.length > 2 && lettersOf(long).includes(letters);
}

/** How many letters to replace, insert or leave out. */
function slips(word: string, candidate: string): number {
  let left = candidate;
  for (const letter of word) left = left.replace(letter, '');
  const shared = candidate.length - left.length;
  return Math.max(word.length, candidate.length) - shared;
}
