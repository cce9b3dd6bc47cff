/** Calls `work` once for all who call, and again for who calls after it has failed. */
export function once<Result>(work: () => Promise<Result>): () => Promise<Result> {
  let working: Promise<Result> | undefined;
  return () => {
    working ??= work().catch((error: unknown) => {
      working = undefined;
      throw error;
    });
    return working;
  };
}
