import type { Sent, WebhookTarget } from '../../sending/delivery.js';
import type { Faults, WebhookFault } from '../faults.js';
import { SandboxError } from '../sandbox-error.js';
import type { Clock } from '../service/clock.js';
import { milliseconds } from '../service/duration.js';
import { type Attempt, excerpt, type SandboxEvent } from '../service/event.js';
import { found, type Store } from '../service/store.js';
import type { Settings } from '../settings.js';
import { Signal } from '../signal.js';
import { send } from './send.js';
import { signed } from './signing.js';
import { Slots } from './slots.js';

/** How many events keep their responses, so that a long run does not fill the memory. */
const responsesKept = 500;

/** What probably went wrong with a failed attempt, and what to do. */
type HintFor = (attempt: Attempt & Pick<Sent, 'code'>, sentBody: string) => string;

/** Delivers events and retries those that were not accepted. Every attempt sends the same bytes, signed anew. */
export class Deliveries {
  /** Each event, when it is created and after each attempt. */
  readonly changed = new Signal<SandboxEvent>();
  readonly #settings: Settings;
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #faults: Faults;
  readonly #hintFor: HintFor;
  readonly #running = new Map<SandboxEvent, Promise<Attempt>>();
  readonly #redeliveries = new Set<Promise<Attempt>>();
  readonly #spoilt = new Map<SandboxEvent, WebhookFault>();
  readonly #recent: SandboxEvent[] = [];
  readonly #slots = new Slots(16);
  #stop = new AbortController();

  constructor(settings: Settings, store: Store, clock: Clock, faults: Faults, hintFor: HintFor) {
    this.#settings = settings;
    this.#store = store;
    this.#clock = clock;
    this.#faults = faults;
    this.#hintFor = hintFor;
  }

  /** Sends a new event or holds it, depending on the settings. */
  accept(event: SandboxEvent): void {
    const { webhook, webhooks } = this.#settings;
    const fault = webhook === undefined ? undefined : this.#faults.ofDelivery();
    if (fault) this.#spoilt.set(event, fault);
    const usual = typeof webhooks === 'object' ? webhooks.delayMs : undefined;
    const delay = fault?.delay === undefined ? usual : milliseconds(fault.delay, 'delay');
    if (webhook === undefined) event.state = 'no_url';
    else if (webhooks === 'manual' || fault?.hold) event.state = 'held';
    else if (delay !== undefined) this.#schedule(event, delay, 'pending');
    this.#remember(event);
    this.changed.emit(event);
    if (event.state === 'pending' && delay === undefined) this.#run(event).catch(() => undefined);
  }

  /** The attempt that is in flight for an event. */
  inFlight(event: SandboxEvent): Promise<Attempt> | undefined {
    return this.#running.get(event);
  }

  /** Sends an event whose time has come. */
  async due(eventId: string): Promise<void> {
    const event = this.#store.events.get(eventId);
    if (!event || !this.#isDue(event)) return;
    event.nextAttemptAt = undefined;
    if (this.#settings.webhook !== undefined) await this.#run(event);
    else {
      event.state = 'no_url';
      this.changed.emit(event);
    }
  }

  /** Sends all that is due or held back, and waits for what is in flight. */
  async deliver(): Promise<Attempt[]> {
    const waiting = [...this.#store.events.values()].filter(
      (event) =>
        event.state === 'held' || event.state === 'no_url' || this.#running.has(event) || this.#isDue(event),
    );
    if (waiting.length > 0) this.#target();
    return Promise.all(waiting.map((event) => this.#run(event)));
  }

  /** Sends any event once more, to the current URL and with the current secret. */
  redeliver(eventId: string): Promise<Attempt> {
    const redelivery = this.#redeliver(eventId).finally(() => this.#redeliveries.delete(redelivery));
    this.#redeliveries.add(redelivery);
    return redelivery;
  }

  async #redeliver(eventId: string): Promise<Attempt> {
    await this.#running.get(this.event(eventId));
    const event = this.event(eventId);
    const { state, nextAttemptAt } = event;
    const attempt = await this.#attempt(event, 'redelivery');
    if (!this.#holds(event)) return attempt;
    const goesOn = !attempt.ok && (state === 'delivered' || nextAttemptAt !== undefined);
    event.state = attempt.ok ? 'delivered' : goesOn ? state : 'failed';
    event.nextAttemptAt = goesOn ? nextAttemptAt : undefined;
    this.changed.emit(event);
    return attempt;
  }

  /** Waits until no attempt is in flight. */
  async settled(): Promise<void> {
    const inFlight = () => [...this.#running.values(), ...this.#redeliveries];
    while (inFlight().length > 0) await Promise.allSettled(inFlight());
  }

  event(id: unknown): SandboxEvent {
    return found(this.#store.events, 'event', id);
  }

  /** Drops deliveries in flight: their events are gone. */
  reset(): void {
    this.#stop.abort(new Error('The sandbox was reset.'));
    this.#stop = new AbortController();
    this.#running.clear();
    this.#spoilt.clear();
    this.#recent.length = 0;
  }

  /** Ends deliveries in flight. */
  async close(): Promise<void> {
    this.#stop.abort(new Error('The sandbox was closed.'));
    await Promise.allSettled(this.#running.values());
    this.#stop = new AbortController();
  }

  /** The first attempt or a retry, with its fault if one was set. */
  #run(event: SandboxEvent): Promise<Attempt> {
    const current = this.#running.get(event);
    if (current) return current;
    const fault = this.#spoilt.get(event);
    this.#spoilt.delete(event);
    const stop = this.#stop.signal;
    const run = this.#attempt(event, 'due', fault)
      .then(async (attempt) => {
        if (!this.#holds(event)) return attempt;
        this.#conclude(event, attempt);
        for (let more = fault?.duplicate ?? 0; more > 0 && !stop.aborted; more--) {
          await this.#attempt(event, 'duplicate');
          if (this.#holds(event)) this.changed.emit(event);
        }
        return attempt;
      })
      .finally(() => this.#running.delete(event));
    this.#running.set(event, run);
    return run;
  }

  #conclude(event: SandboxEvent, { ok }: Attempt): void {
    const tries = event.attempts.filter(({ cause }) => cause === 'due').length;
    const wait = this.#settings.choices.retries[tries - 1];
    if (ok || wait === undefined) event.state = ok ? 'delivered' : 'failed';
    else this.#schedule(event, wait, 'retrying');
    this.changed.emit(event);
  }

  async #attempt(event: SandboxEvent, cause: Attempt['cause'], fault?: WebhookFault): Promise<Attempt> {
    const target = this.#target();
    const stop = this.#stop.signal;
    return this.#slots.run(async () => {
      const at = new Date(this.#clock.now());
      const started = performance.now();
      const outgoing = signed(event.body, this.#settings, this.#clock, fault?.tamper);
      const { status, headers, body, error, code }: Sent = fault?.drop
        ? { error: 'A fault was ordered: the delivery was lost.' }
        : await send(target, outgoing, {
            withinMs: this.#settings.choices.deliveryTimeoutMs,
            allowRemote: this.#settings.allowRemoteWebhooks,
            stop,
          });
      const attempt: Attempt = {
        number: event.attempts.length + 1,
        cause,
        ok: status !== undefined && status >= 200 && status < 300,
        at,
        durationMs: performance.now() - started,
        target: typeof target === 'string' ? target : '(handler)',
        requestHeaders: outgoing.headers,
        status,
        responseHeaders: headers,
        responseBody: excerpt(body),
        error,
      };
      if (!attempt.ok && !fault?.drop && fault?.tamper === undefined)
        attempt.hint = this.#hintFor({ ...attempt, code }, event.body);
      event.attempts.push(attempt);
      return attempt;
    });
  }

  /** Whether an event is still in the store: `reset()` may have removed it while it was in flight. */
  #holds(event: SandboxEvent): boolean {
    return this.#store.events.get(event.id) === event;
  }

  #isDue({ nextAttemptAt }: SandboxEvent): boolean {
    return nextAttemptAt !== undefined && nextAttemptAt.getTime() <= this.#clock.now();
  }

  #schedule(event: SandboxEvent, wait: number, state: 'pending' | 'retrying'): void {
    const at = this.#clock.now() + wait;
    event.state = state;
    event.nextAttemptAt = new Date(at);
    this.#store.agenda.add({ at, kind: 'deliver', id: event.id });
  }

  #target(): WebhookTarget {
    if (this.#settings.webhook !== undefined) return this.#settings.webhook;
    const message =
      'No webhook is set, so nothing can be delivered. Set one with setWebhook() or POST /_sandbox/webhook.';
    throw new SandboxError('no_webhook', message);
  }

  #remember(event: SandboxEvent): void {
    this.#recent.push(event);
    const old = this.#recent.length > responsesKept ? this.#recent.shift() : undefined;
    for (const attempt of old?.attempts ?? []) attempt.responseBody = undefined;
  }
}
