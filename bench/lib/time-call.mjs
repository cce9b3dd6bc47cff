/** Returns the microseconds of a call, over as many batches as fill a tenth of a second. Only an asynchronous call is awaited. */
export async function timeCall(call, batch) {
  globalThis.gc?.();
  const waits = call() instanceof Promise;
  const began = performance.now();
  let calls = 0;
  let ms = 0;
  for (; ms < 100; ms = performance.now() - began) {
    if (waits) for (let run = 0; run < batch; run++) await call();
    else for (let run = 0; run < batch; run++) call();
    calls += batch;
  }
  return { us: (ms * 1000) / calls };
}
