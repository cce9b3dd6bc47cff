/**
 * Returns a function that calls `work` at its first call, shares the promise with all further calls, and calls `work` again
 * after a rejection.
 */
export function memoizeUntilRejected<Result>(work: () => Promise<Result>): () => Promise<Result> {
  let working: Promise<Result> | undefined;
  return () => {
    working ??= work().catch((error: unknown) => {
      working = undefined;
      throw error;
    });
    return working;
  };
}
