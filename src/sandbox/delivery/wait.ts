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
  const look = (event: SandboxEvent) => {
    const copy = structuredClone(event);
    return match(copy) ? copy : undefined;
  };
  for (const event of events.values()) {
    const found = look(event);
    if (found) return found;
  }
  const found = await changed.first(look, timeoutMs, [closing]);
  if (found) return found;
  throw new SandboxError(
    'wait_timeout',
    `waitForEvent: no event matched within ${timeoutMs} ms; there are ${events.size} events. Pay a checkout, or wait longer.`,
  );
}
