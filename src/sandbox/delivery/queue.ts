import type { Outgoing, Sent, WebhookTarget } from '../../doctor/delivery.js';
import { hintFor } from '../../doctor/hints.js';
import type { Faults } from '../faults.js';
import { excerptLength } from '../http/log.js';
import { SandboxError } from '../sandbox-error.js';
import type { Clock } from '../service/clock.js';
import { milliseconds } from '../service/duration.js';
import type { AttemptRecord, EventRecord } from '../service/records.js';
import type { Store } from '../service/store.js';
import type { Settings } from '../settings.js';
import { Signal } from '../signal.js';
import type { Tamper, WebhookFault } from '../types.js';
import { answerWithinMs, asRequest, send } from './send.js';
import { signed } from './signing.js';

const atOnce = 16;
/** Answers of older events are forgotten, so that a long run keeps little. */
const answersKept = 500;

/** Sends events, and again what was not taken. Every attempt sends the same bytes, signed anew. */
export class Deliveries {
  /** Each event, when it comes into being and after each attempt. */
  readonly changed = new Signal<EventRecord>();
  readonly #settings: Settings;
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #faults: Faults;
  readonly #running = new Map<string, Promise<AttemptRecord>>();
  readonly #spoilt = new Map<string, WebhookFault>();
  readonly #queue: (() => void)[] = [];
  #free = atOnce;
  #stop = new AbortController();

  constructor(settings: Settings, store: Store, clock: Clock, faults: Faults) {
    this.#settings = settings;
    this.#store = store;
    this.#clock = clock;
    this.#faults = faults;
  }

  /** Takes a new event: sends it, or keeps it, as the settings say. */
  accept(event: EventRecord): void {
    const { webhook, webhooks } = this.#settings;
    const fault = webhook === undefined ? undefined : this.#faults.forDelivery(event);
    if (fault) this.#spoilt.set(event.id, fault);
    const delay =
      fault?.delay === undefined
        ? typeof webhooks === 'object'
          ? webhooks.delayMs
          : undefined
        : milliseconds(fault.delay, 'failNext: delay');
    if (webhook === undefined) event.state = 'no_url';
    else if (webhooks === 'manual' || fault?.hold) event.state = 'held';
    else if (delay !== undefined) this.#schedule(event, delay);
    else this.#run(event).catch(() => undefined);
    this.#forget();
    this.changed.emit(event);
  }

  /** The attempt that is under way for an event. */
  underWay(eventId: string): Promise<AttemptRecord> | undefined {
    return this.#running.get(eventId);
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

  /** Sends all that is due or held back, and waits for what is under way. */
  async deliver(): Promise<AttemptRecord[]> {
    const waiting = [...this.#store.events.values()].filter(
      (event) =>
        event.state === 'held' ||
        event.state === 'no_url' ||
        this.#running.has(event.id) ||
        this.#isDue(event),
    );
    if (waiting.length > 0) this.#target();
    return Promise.all(waiting.map((event) => this.#run(event)));
  }

  /** Sends any event once more, with the URL and the secret of now. */
  async redeliver(eventId: string): Promise<AttemptRecord> {
    const event = this.event(eventId);
    this.#target();
    await this.#running.get(eventId);
    const { state, nextAttemptAt } = event;
    const attempt = await this.#attempt(event, undefined);
    if (attempt.ok) this.#finish(event, 'delivered');
    else if (state === 'delivered' || state === 'retrying') this.#finish(event, state, nextAttemptAt);
    else this.#finish(event, 'failed');
    this.changed.emit(event);
    return attempt;
  }

  /** The event as a request, spoilt where told. */
  async request(eventId: string, tamper: Tamper | undefined): Promise<Request> {
    const { webhook } = this.#settings;
    return asRequest(webhook, signed(this.event(eventId).body, this.#settings, this.#clock, tamper));
  }

  event(id: string): EventRecord {
    const event = this.#store.events.get(id);
    if (event) return event;
    throw new SandboxError(
      'unknown_id',
      `There is no event ${JSON.stringify(id.slice(0, 100))}. Pass the id of one.`,
    );
  }

  /** Breaks off what is under way. */
  async close(): Promise<void> {
    this.#stop.abort(new Error('The sandbox was closed.'));
    await Promise.allSettled(this.#running.values());
    this.#stop = new AbortController();
  }

  /** The first attempt and the retries, with the faults that were ordered. */
  #run(event: EventRecord): Promise<AttemptRecord> {
    const current = this.#running.get(event.id);
    if (current) return current;
    const fault = this.#spoilt.get(event.id);
    this.#spoilt.delete(event.id);
    const run = (async () => {
      const attempt = await this.#attempt(event, fault);
      event.tries++;
      const wait = this.#settings.choices.retries[event.tries - 1];
      if (attempt.ok) this.#finish(event, 'delivered');
      else if (wait === undefined) this.#finish(event, 'failed');
      else this.#schedule(event, wait, 'retrying');
      this.changed.emit(event);
      for (let more = fault?.duplicate ?? 0; more > 0; more--) await this.#attempt(event, undefined);
      return attempt;
    })().finally(() => this.#running.delete(event.id));
    this.#running.set(event.id, run);
    return run;
  }

  async #attempt(event: EventRecord, fault: WebhookFault | undefined): Promise<AttemptRecord> {
    const target = this.#target();
    await this.#slot();
    const at = this.#clock.now();
    const started = performance.now();
    const outgoing = signed(event.body, this.#settings, this.#clock, fault?.tamper);
    const result = await this.#send(target, outgoing, fault).finally(() => this.#leave());
    const attempt: AttemptRecord = {
      number: event.attempts.length + 1,
      ok: result.status !== undefined && result.status >= 200 && result.status < 300,
      at,
      durationMs: performance.now() - started,
      target: typeof target === 'string' ? target : '(handler)',
      requestHeaders: outgoing.headers,
      status: result.status,
      responseHeaders: result.headers,
      responseBody: result.body?.slice(0, excerptLength),
      error: result.error,
    };
    if (!attempt.ok && !fault?.drop && fault?.tamper === undefined)
      attempt.hint = hintFor({ ...attempt, code: result.code }, event.body);
    event.attempts.push(attempt);
    this.changed.emit(event);
    return attempt;
  }

  async #send(target: WebhookTarget, outgoing: Outgoing, fault: WebhookFault | undefined): Promise<Sent> {
    if (fault?.drop) return { error: 'A fault was ordered: the delivery was lost.' };
    const { allowRemote } = this.#settings;
    return send(target, outgoing, { withinMs: answerWithinMs, allowRemote, stop: this.#stop.signal });
  }

  #isDue(event: EventRecord): boolean {
    return event.nextAttemptAt !== undefined && event.nextAttemptAt <= this.#clock.now();
  }

  #schedule(event: EventRecord, wait: number, state: 'pending' | 'retrying' = 'pending'): void {
    event.state = state;
    event.nextAttemptAt = this.#clock.now() + wait;
    this.#store.agenda.add({ at: event.nextAttemptAt, kind: 'deliver', id: event.id });
  }

  #finish(event: EventRecord, state: EventRecord['state'], nextAttemptAt?: number): void {
    event.state = state;
    event.nextAttemptAt = nextAttemptAt;
  }

  #target(): WebhookTarget {
    if (this.#settings.webhook !== undefined) return this.#settings.webhook;
    throw new SandboxError(
      'no_webhook',
      'No webhook is set, so nothing can be delivered. Set one with setWebhook().',
    );
  }

  #forget(): void {
    if (this.#store.events.size <= answersKept) return;
    const old = [...this.#store.events.values()].at(-answersKept - 1);
    for (const attempt of old?.attempts ?? []) attempt.responseBody = undefined;
  }

  async #slot(): Promise<void> {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((resolve) => this.#queue.push(resolve));
  }

  #leave(): void {
    const next = this.#queue.shift();
    if (next) next();
    else this.#free++;
  }
}
