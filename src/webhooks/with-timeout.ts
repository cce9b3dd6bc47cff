/** Returns the result of a promise, or rejects with `text` if the promise does not settle in time. */
export function withTimeout<Result>(
  ms: number,
  promise: Result | PromiseLike<Result>,
  text?: string,
): Promise<Awaited<Result>> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(text)), ms);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}
