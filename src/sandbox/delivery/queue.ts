// This folder delivers the sandbox's events: it signs them, sends them, and retries those that were not accepted.
import { millisecondsOf } from '../../input/duration.js';
import type { Sent, WebhookTarget } from '../../sending/delivery.js';
import { send } from '../../sending/send.js';
import { SandboxError } from '../checks.js';
import type { Faults, WebhookFault } from '../faults.js';
import type { Clock } from '../service/clock.js';
import { type Attempt, excerpt, type SandboxEvent } from '../service/event.js';
import { findIn, type Store } from '../service/store.js';
import type { Settings } from '../settings.js';
import { limitConcurrency, Signal } from '../signal.js';
import { signBody } from './signing.js';

/** Number of events that keep their responses. Older ones drop them, so that a long run does not fill the memory. */
const responsesKept = 500;

/** Returns the probable reason of a failed attempt, and the fix. */
type Hint = (attempt: Attempt & Pick<Sent, 'code'> & { hasResponded: boolean }, sentBody: string) => string;

/** Creates the queue, which delivers events and retries those that were not accepted. Every attempt signs and sends the same bytes. */
export function newDeliveries(settings: Settings, store: Store, clock: Clock, faults: Faults, hintFor: Hint) {
  /** Emits an event when it is created and after each attempt. */
  const changed = new Signal<SandboxEvent>();
  /** Emits each attempt, and each new event that waits for its first. */
  const logged = new Signal<{ at: Date; event: SandboxEvent; attempt: Attempt | undefined }>();
  const running = new Map<SandboxEvent, Promise<Attempt>>();
  const redeliveries = new Set<Promise<Attempt>>();
  const waitingFaults = new Map<SandboxEvent, WebhookFault>();
  const recent: SandboxEvent[] = [];
  /** Targets that have responded at least once. */
  const responded = new Set<string>();
  const inSlot = limitConcurrency(16);
  let stop = new AbortController();

  /** Returns the event with an id, or the newest one about an order with that id. */
  const byId = (id: unknown): SandboxEvent =>
    [...store.events.values()].findLast(({ data }) => data.order_id === id) ??
    findIn(store.events, 'event', id);

  function report(event: SandboxEvent, attempt?: Attempt): void {
    changed.emit(event);
    const inFlight = event.state === 'pending' && event.nextAttemptAt === undefined;
    if (attempt || !inFlight) logged.emit({ at: new Date(clock.now()), event: { ...event }, attempt });
  }

  /** True if an event is still in the store. `reset()` may have removed it while it was in flight. */
  const holds = (event: SandboxEvent): boolean => store.events.get(event.id) === event;

  const isDue = ({ nextAttemptAt: at }: SandboxEvent) => at !== undefined && at.getTime() <= clock.now();

  function target(): WebhookTarget {
    if (settings.webhook !== undefined) return settings.webhook;
    const how =
      'Start the sandbox with --webhook-url, or set one with setWebhook() or POST /_sandbox/webhook.';
    throw new SandboxError('no_webhook', `No webhook is set, so nothing can be delivered. ${how}`);
  }

  function schedule(event: SandboxEvent, wait: number, state: 'pending' | 'retrying'): void {
    const at = clock.now() + wait;
    event.state = state;
    event.nextAttemptAt = new Date(at);
    store.agenda.add({ at, kind: 'deliver', id: event.id });
  }

  async function attempt(event: SandboxEvent, cause: Attempt['cause'], fault?: WebhookFault) {
    const to = target();
    const { signal } = stop;
    return inSlot(async () => {
      const at = new Date(clock.now());
      const started = performance.now();
      const outgoing = signBody(event.body, settings, clock, fault?.tamper);
      const { status, headers, body, error, code }: Sent = fault?.drop
        ? { error: 'A fault was injected: the delivery was lost.' }
        : await send(to, outgoing, {
            timeoutMs: settings.choices.deliveryTimeout,
            allowRemote: settings.allowRemoteWebhooks,
            signal,
          });
      const made: Attempt = {
        number: event.attempts.length + 1,
        cause,
        ok: status !== undefined && status >= 200 && status < 300,
        at,
        durationMs: performance.now() - started,
        target: typeof to === 'string' ? to : '(handler)',
        requestHeaders: outgoing.headers,
        status,
        responseHeaders: headers,
        responseBody: excerpt(body),
        error,
      };
      // An attempt that the sandbox aborted, dropped or tampered with says nothing about the receiver, so it gets no hint.
      const isFair = !signal.aborted && !fault?.drop && fault?.tamper === undefined;
      const hasResponded = responded.has(made.target);
      if (status !== undefined) responded.add(made.target);
      if (!made.ok && isFair) made.hint = hintFor({ ...made, code, hasResponded }, event.body);
      event.attempts.push(made);
      return made;
    });
  }

  async function runOnce(event: SandboxEvent): Promise<Attempt> {
    const fault = waitingFaults.get(event);
    waitingFaults.delete(event);
    event.nextAttemptAt = undefined;
    const { signal } = stop;
    const first = await attempt(event, 'due', fault);
    if (!holds(event)) return first;
    const tries = event.attempts.filter(({ cause }) => cause === 'due').length;
    const wait = settings.choices.retries[tries - 1];
    // A redelivery may have succeeded meanwhile.
    if (first.ok || event.state === 'delivered') event.state = 'delivered';
    else if (wait === undefined) event.state = 'failed';
    else schedule(event, wait, 'retrying');
    report(event, first);
    const canContinue = () => !signal.aborted && settings.webhook !== undefined;
    for (let more = fault?.duplicate ?? 0; more > 0 && canContinue(); more--) {
      const duplicate = await attempt(event, 'duplicate');
      if (holds(event)) report(event, duplicate);
    }
    return first;
  }

  /** Makes the first attempt or a retry, with the event's fault if one is set. An event has one such attempt at a time. */
  function run(event: SandboxEvent): Promise<Attempt> {
    const current = running.get(event) ?? runOnce(event).finally(() => running.delete(event));
    running.set(event, current);
    return current;
  }

  async function redeliver(eventId: string): Promise<Attempt> {
    await running.get(byId(eventId));
    const event = byId(eventId);
    const made = await attempt(event, 'redelivery');
    if (!holds(event)) return made;
    const goesOn = event.nextAttemptAt !== undefined || running.has(event);
    if (made.ok) Object.assign(event, { state: 'delivered', nextAttemptAt: undefined });
    else if (event.state !== 'delivered' && !goesOn) event.state = 'failed';
    report(event, made);
    return made;
  }

  return {
    changed,
    logged,
    event: byId,

    /** Accepts a new event, and sends it at once, after a delay, or when `deliver()` is called. */
    enqueue(event: SandboxEvent): void {
      const { webhook, webhooks } = settings;
      const fault = webhook === undefined ? undefined : faults.takeForDelivery();
      if (fault) waitingFaults.set(event, fault);
      const usual = typeof webhooks === 'object' ? webhooks.delayMs : undefined;
      const delay = fault?.delay === undefined ? usual : millisecondsOf(fault.delay);
      if (webhook === undefined) event.state = 'no_url';
      else if (webhooks === 'manual' || fault?.hold) event.state = 'held';
      else if (delay !== undefined) schedule(event, delay, 'pending');
      recent.push(event);
      const old = recent.length > responsesKept ? recent.shift() : undefined;
      for (const attempt of old?.attempts ?? []) attempt.responseBody = undefined;
      report(event);
      if (event.state === 'pending' && delay === undefined) run(event).catch(() => undefined);
    },

    inFlight: (event: SandboxEvent) => running.get(event),

    async deliverDue(eventId: string): Promise<void> {
      const event = store.events.get(eventId);
      if (!event || !isDue(event)) return;
      if (settings.webhook !== undefined) return void (await run(event));
      Object.assign(event, { state: 'no_url', nextAttemptAt: undefined });
      report(event);
    },

    async deliver(): Promise<Attempt[]> {
      const isWaiting = (event: SandboxEvent) =>
        event.state === 'held' || event.state === 'no_url' || running.has(event) || isDue(event);
      const waiting = [...store.events.values()].filter(isWaiting);
      if (waiting.length > 0) target();
      return Promise.all(waiting.map(run));
    },

    redeliver(eventId: string): Promise<Attempt> {
      const redelivery = redeliver(eventId).finally(() => redeliveries.delete(redelivery));
      redeliveries.add(redelivery);
      return redelivery;
    },

    async waitUntilSettled(): Promise<void> {
      const inFlight = () => [...running.values(), ...redeliveries];
      while (inFlight().length > 0) await Promise.allSettled(inFlight());
    },

    /** Aborts deliveries in flight, whose events are deleted. */
    reset(): void {
      stop.abort(new Error('The sandbox was reset.'));
      stop = new AbortController();
      running.clear();
      waitingFaults.clear();
      recent.length = 0;
    },

    async close(): Promise<void> {
      stop.abort(new Error('The sandbox was closed.'));
      await Promise.allSettled(running.values());
      stop = new AbortController();
    },
  };
}
