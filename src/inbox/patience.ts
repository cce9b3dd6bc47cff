import { setTimeout as sleep } from 'node:timers/promises';
import { isBusy } from './sqlite.js';

/** How long a delivery waits for another connection's lock, or for the end of the shop's own transaction. */
const patienceMs = 5000;

/** Runs work that needs the database to be free, and tries again while it is not. */
export async function whenFree<Result>(work: () => Result): Promise<Result> {
  const until = Date.now() + patienceMs;
  for (;;) {
    try {
      return work();
    } catch (error) {
      if (!isBusy(error) || Date.now() >= until) throw error;
    }
    await sleep(20);
  }
}
