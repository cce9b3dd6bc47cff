/**
 * Returns what is wrong if `Object.prototype` has an enumerable field, which every object then seems to have. Whoever
 * sends, verifies, stores or matches asks once, and refuses with an error of its own: nothing is sent or believed.
 */
export function prototypeProblem(): string | undefined {
  for (const name in Object.prototype)
    return (
      `Object.prototype has the field ${JSON.stringify(name.slice(0, 60))}, which every object seems to have now, so nothing was sent or believed. ` +
      'Find the code that set it, and restart the process.'
    );
  return undefined;
}
