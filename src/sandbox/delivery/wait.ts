import { pause } from '../abort.js';
import { SandboxError } from '../sandbox-error.js';
import type { SandboxEvent } from '../service/event.js';
import type { Store } from '../service/store.js';
import type { Signal } from '../signal.js';

/** The first event that matches, as soon as there is one. An error in `match` rejects only this call. */
export async function waitForEvent(
  { events }: Store,
  changed: Signal<SandboxEvent>,
  closing: AbortSignal,
  match: (event: SandboxEvent) => boolean = () => true,
  { timeoutMs = 5000 }: { timeoutMs?: number | undefined } = {},
): Promise<SandboxEvent> {
  const over = new AbortController();
  let outcome: (() => SandboxEvent) | undefined;
  const look = (event: SandboxEvent) => {
    if (outcome) return;
    try {
      const copy = structuredClone(event);
      if (!match(copy)) return;
      outcome = () => copy;
    } catch (error) {
      outcome = () => {
        throw error;
      };
    }
    over.abort();
  };
  for (const event of events.values()) look(event);
  const unsubscribe = changed.subscribe(look);
  await pause(timeoutMs, [over.signal, closing]);
  unsubscribe();
  if (outcome) return outcome();
  throw new SandboxError(
    'wait_timeout',
    `waitForEvent: no event matched within ${timeoutMs} ms; there are ${events.size} events. Pay a checkout, or wait longer.`,
  );
}
