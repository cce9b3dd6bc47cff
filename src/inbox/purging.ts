import type { Report } from '../webhooks/responder.js';
import { isBuilding } from './worker.js';

const hourMs = 3_600_000;

/** Purges deliveries older than `afterMs` at once, and again after each tenth of that, at least once an hour. Returns the function that ends it. */
export function purgeRegularly(
  store: { purge(olderThan: { ageMs: number }): Promise<unknown> },
  afterMs: number,
  report: Report,
): () => Promise<unknown> {
  let isOver = false;
  let timer: NodeJS.Timeout | undefined;
  const purge = async () => {
    if (!isBuilding()) await store.purge({ ageMs: afterMs }).catch(report);
    if (isOver) return;
    timer = setTimeout(
      () => {
        purging = purge();
      },
      Math.min(afterMs / 10, hourMs),
    );
    timer.unref();
  };
  let purging = purge();
  return () => {
    isOver = true;
    clearTimeout(timer);
    return purging;
  };
}
