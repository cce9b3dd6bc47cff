/** The candidate that a misspelt word most likely meant: other letter case, or at most two typos. */
export function closest(word: string, candidates: readonly string[]): string | undefined {
  const meant = word.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
  let best: string | undefined;
  let fewest = 3;
  for (const candidate of candidates) {
    const slips = distance(meant, candidate.toLowerCase());
    if (slips < fewest && slips < candidate.length / 2) {
      best = candidate;
      fewest = slips;
    }
  }
  return best;
}

/** Optimal string alignment distance: insertions, deletions, replacements and swaps of adjacent letters. */
function distance(a: string, b: string): number {
  if (Math.abs(a.length - b.length) > 2) return 3;
  let beforePrevious: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1];
      let least = Math.min(
        (previous[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (previous[column - 1] ?? 0) + (same ? 0 : 1),
      );
      if (row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]) {
        least = Math.min(least, (beforePrevious[column - 2] ?? 0) + 1);
      }
      current.push(least);
    }
    beforePrevious = previous;
    previous = current;
  }
  return previous[b.length] ?? 0;
}
