import type { Diagnosis, DoctorOptions } from '../doctor/diagnosis.js';
import { diagnose, readPrice } from '../doctor/doctor.js';
import { describeIssues } from '../schemas/issues.js';
import { productCreateParams } from '../schemas/params.js';
import type { SandboxContext } from './context.js';
import { Deliveries } from './delivery/queue.js';
import { answerWithinMs, send } from './delivery/send.js';
import { Faults, fetchFailed, NetworkFault } from './faults.js';
import { sandboxApp } from './http/app.js';
import { Guard } from './http/guard.js';
import { RequestLog } from './http/log.js';
import { type Listening, serve } from './http/node.js';
import { pause } from './pause.js';
import { SandboxError } from './sandbox-error.js';
import { twoDecimals } from './service/cents.js';
import { Clock } from './service/clock.js';
import { type Duration, milliseconds } from './service/duration.js';
import { randomText } from './service/ids.js';
import { Payments } from './service/payments.js';
import type { EventRecord } from './service/records.js';
import { Schedule } from './service/schedule.js';
import { readSnapshot, restore, takeSnapshot } from './service/snapshot.js';
import { Store } from './service/store.js';
import {
  viewAttempt,
  viewBalance,
  viewCheckout,
  viewEvent,
  viewOrder,
  viewProduct,
} from './service/views.js';
import { checkedTarget, newApiKey, readSettings, type Settings } from './settings.js';
import { Signal } from './signal.js';
import type {
  Attempt,
  DeclineReason,
  Fault,
  ListenOptions,
  Paid,
  PaymentMethod,
  Sandbox,
  SandboxEvent,
  SandboxOptions,
  SandboxSnapshot,
  Tamper,
  WebhookTarget,
} from './types.js';

/** The origin in process: a name of this machine, so that clients take it without https. */
const inProcessUrl = 'http://sandbox.localhost';

/**
 * Starts a sandbox: the whole service in this process, without a socket or a timer.
 *
 * @example
 * ```ts
 * import { PaymentsClient } from 'merchant-payments';
 * import { createSandbox } from 'merchant-payments/sandbox';
 *
 * const sandbox = createSandbox();
 * const client = new PaymentsClient(sandbox.clientOptions);
 * const product = await client.products.create({ name: 'Mug', price: '19.90' });
 * const { url } = await client.checkouts.create({ productId: product.id });
 * const { order } = await sandbox.completeCheckout(url);
 * console.log(order.amount);
 * ```
 */
export function createSandbox(options: SandboxOptions = {}): Sandbox {
  return LocalSandbox.open(options).sandbox;
}

/** The same for the command, which watches and saves what happens inside. */
export function openSandbox(options: SandboxOptions): SandboxContext {
  return LocalSandbox.open(options);
}

/** How often a listening sandbox looks whether something is due. */
const tickMs = 200;

class LocalSandbox implements Sandbox {
  readonly #settings: Settings;
  readonly #clock: Clock;
  readonly #store: Store;
  readonly #payments: Payments;
  readonly #faults = new Faults();
  readonly #deliveries: Deliveries;
  readonly #schedule: Schedule;
  readonly #requests = new RequestLog();
  readonly #guard = new Guard();
  readonly #changed = new Signal<void>();
  readonly #handle: (request: Request) => Promise<Response>;
  readonly #context: SandboxContext;
  #listening: Listening | undefined;
  #ticking: NodeJS.Timeout | undefined;
  #closing = new AbortController();

  static open(options: SandboxOptions): SandboxContext {
    return new LocalSandbox(options).#context;
  }

  constructor(options: SandboxOptions) {
    const saved = options.from === undefined ? undefined : readSnapshot(options.from);
    const settings = readSettings(options, saved);
    this.#settings = settings;
    this.#clock = new Clock(settings.start);
    if (saved && options.now === undefined) this.#clock.restore(saved.clock);
    this.#store = new Store(this.#clock.now(), settings.seed);
    if (saved) restore(this.#store, saved, options.seed);
    this.#deliveries = new Deliveries(settings, this.#store, this.#clock, this.#faults);
    this.#payments = new Payments(this.#store, this.#clock, settings, (event) =>
      this.#deliveries.accept(event),
    );
    this.#schedule = new Schedule(
      this.#clock,
      this.#store,
      ({ kind, id }) => (kind === 'settle' ? this.#payments.settle(id) : this.#payments.expire(id)),
      (eventId) => this.#deliveries.due(eventId),
    );
    this.#context = this.#seenByRoutes();
    const app = sandboxApp(this.#context);
    this.#deliveries.changed.subscribe(() => this.#changed.emit());
    this.#handle = async (request) => {
      this.#schedule.catchUp();
      try {
        return await app(request);
      } finally {
        if (request.method !== 'GET') this.#changed.emit();
      }
    };
  }

  get url(): string {
    return this.#listening?.url ?? inProcessUrl;
  }

  get apiKey(): string {
    return this.#settings.apiKey;
  }

  get webhookSecret(): string {
    return this.#settings.webhookSecret;
  }

  get clientOptions() {
    const viaSocket = this.#listening !== undefined;
    return {
      baseUrl: this.url,
      apiKey: this.apiKey,
      fetch: viaSocket ? globalThis.fetch : (this.fetch.bind(this) satisfies typeof fetch),
    };
  }

  get dashboardUrl(): string {
    const { accessToken } = this.#guard;
    return `${this.#origin}/${accessToken === undefined ? '' : `?token=${accessToken}`}`;
  }

  async fetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
    const address = typeof input === 'string' && input.startsWith('/') ? this.url + input : input;
    const request = address instanceof Request && init === undefined ? address : new Request(address, init);
    const { signal } = request;
    signal.throwIfAborted();
    let stop = () => {};
    const stopped = new Promise<never>((_, reject) => {
      stop = () => reject(signal.reason);
    });
    signal.addEventListener('abort', stop, { once: true });
    try {
      return await Promise.race([this.#inProcess(request), stopped]);
    } finally {
      signal.removeEventListener('abort', stop);
    }
  }

  /** A network fault as the platform's `fetch` shows it. */
  async #inProcess(request: Request): Promise<Response> {
    try {
      return await this.#handle(request);
    } catch (error) {
      if (!(error instanceof NetworkFault)) throw error;
      if (error.fault === 'timeout') await ended(this.#closing.signal);
      throw fetchFailed(error.fault === 'refused' ? 'refused' : 'reset');
    }
  }

  async listen({
    port = 0,
    host = '127.0.0.1',
    allowHosts = [],
    accessToken,
  }: ListenOptions = {}): Promise<Sandbox> {
    if (this.#listening)
      throw new SandboxError('invalid_options', `The sandbox listens already, on ${this.url}.`);
    const { publicUrl } = this.#settings;
    this.#listening = await serve(this.#handle, { port, host }, { publicUrl, allowed: allowHosts });
    if (!this.#listening.local) this.#guard.accessToken = accessToken ?? randomText();
    this.#ticking = setInterval(() => {
      if (this.#store.agenda.next <= this.#clock.now())
        void this.#schedule.tick().then(() => this.#changed.emit());
    }, tickMs);
    this.#ticking.unref();
    return this;
  }

  async close(): Promise<void> {
    const listening = this.#listening;
    this.#listening = undefined;
    this.#guard.accessToken = undefined;
    clearInterval(this.#ticking);
    this.#closing.abort();
    this.#closing = new AbortController();
    await Promise.all([listening?.close(), this.#deliveries.close()]);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  reset({ seed = this.#settings.seed }: { seed?: number | undefined } = {}): void {
    this.#clock.reset();
    this.#store.clear(this.#clock.now(), seed);
    this.#requests.clear();
    this.#faults.clear();
  }

  async completeCheckout(
    ref: string,
    { method = 'card' }: { method?: PaymentMethod | undefined } = {},
  ): Promise<Paid> {
    this.#schedule.catchUp();
    const { checkout, order, event } = this.#payments.pay(ref, method);
    const delivery = await this.#deliveries.underWay(event.id);
    return {
      order: viewOrder(order),
      event: this.#viewEvent(event),
      delivery: delivery && viewAttempt(delivery),
      redirectUrl: this.#returnUrl(checkout.id, 'success'),
    };
  }

  async failCheckout(ref: string, reason: DeclineReason = 'card_declined'): Promise<void> {
    this.#schedule.catchUp();
    this.#payments.decline(ref, reason);
  }

  async cancelCheckout(ref: string): Promise<{ redirectUrl: string | undefined }> {
    this.#schedule.catchUp();
    return { redirectUrl: this.#returnUrl(this.#payments.cancel(ref).id, 'cancel') };
  }

  async expireCheckout(ref: string): Promise<void> {
    this.#schedule.catchUp();
    this.#payments.expire(ref);
  }

  archiveProduct(id: string): void {
    this.#payments.setStatus(id, 'ARCHIVED');
  }

  restoreProduct(id: string): void {
    this.#payments.setStatus(id, 'ACTIVE');
  }

  regenerateKey(): string {
    this.#settings.apiKey = newApiKey(this.#settings.livePrefix);
    return this.apiKey;
  }

  setWebhook(target: WebhookTarget | undefined): void {
    this.#settings.webhook = checkedTarget(target);
  }

  freeze(amount: string): void {
    this.#schedule.catchUp();
    this.#payments.shift(amount, 'available');
  }

  release(amount: string): void {
    this.#schedule.catchUp();
    this.#payments.shift(amount, 'frozen');
  }

  settle(): void {
    this.#payments.settle();
  }

  get products() {
    return [...this.#store.products.values()].map(viewProduct);
  }

  get checkouts() {
    this.#schedule.catchUp();
    return [...this.#store.checkouts.values()].map((one) => viewCheckout(one, this.#checkoutUrl(one.id)));
  }

  get orders() {
    this.#schedule.catchUp();
    return [...this.#store.orders.values()].map(viewOrder);
  }

  get events() {
    return [...this.#store.events.values()].map((event) => this.#viewEvent(event));
  }

  get requests() {
    return structuredClone([...this.#requests.entries]);
  }

  get balance() {
    this.#schedule.catchUp();
    return viewBalance(this.#store.ledger, this.#settings.currency);
  }

  now(): Date {
    return new Date(this.#clock.now());
  }

  async advanceTime(by: Duration): Promise<void> {
    await this.#schedule.moveBy(milliseconds(by, 'advanceTime'));
  }

  async setTime(to: Date): Promise<void> {
    if (!(to instanceof Date && Number.isFinite(to.getTime())))
      throw new SandboxError('invalid_options', 'setTime: pass a Date.');
    await this.#schedule.moveTo(to.getTime());
  }

  async trigger(
    type: 'order.paid',
    {
      amount = '19.90',
      currency = this.#settings.currency,
    }: { amount?: string | undefined; currency?: string | undefined } = {},
  ): Promise<Paid> {
    if (type !== 'order.paid')
      throw new SandboxError('invalid_options', 'trigger: the service documents one event, "order.paid".');
    const result = productCreateParams.safeParse({ name: 'Test payment', price: amount, currency });
    if (!result.success) {
      const [problem] = describeIssues(result.error.issues);
      const field = problem?.path === 'price' ? 'amount' : problem?.path;
      throw new SandboxError('invalid_options', `trigger: ${field} ${problem?.message}`);
    }
    const product = this.#payments.createProduct(result.data);
    const price = twoDecimals(product.price);
    const checkout = this.#payments.createCheckout({ productId: product.id, amount: price, currency });
    return this.completeCheckout(checkout.id);
  }

  async deliver(): Promise<Attempt[]> {
    return (await this.#deliveries.deliver()).map(viewAttempt);
  }

  async redeliver(eventId: string): Promise<Attempt> {
    return viewAttempt(await this.#deliveries.redeliver(eventId));
  }

  async waitForEvent(
    match: (event: SandboxEvent) => boolean = () => true,
    { timeoutMs = 5000 }: { timeoutMs?: number | undefined } = {},
  ): Promise<SandboxEvent> {
    const found = new AbortController();
    let event = this.events.find(match);
    if (event) return event;
    const unsubscribe = this.#deliveries.changed.subscribe((record) => {
      const changed = this.#viewEvent(record);
      if (event || !match(changed)) return;
      event = changed;
      found.abort();
    });
    await pause(timeoutMs, [found.signal, this.#closing.signal]);
    unsubscribe();
    if (event) return event;
    throw new SandboxError(
      'wait_timeout',
      `waitForEvent: no event matched within ${timeoutMs} ms; there are ${this.#store.events.size} events. Pay a checkout, or wait longer.`,
    );
  }

  signedRequest(event: SandboxEvent, { tamper }: { tamper?: Tamper | undefined } = {}): Promise<Request> {
    return this.#deliveries.request(event.id, tamper);
  }

  async doctor(target?: WebhookTarget, options: DoctorOptions = {}): Promise<Diagnosis> {
    const { webhook, webhookSecret, choices, allowRemote } = this.#settings;
    const patient = checkedTarget(target) ?? webhook;
    if (patient === undefined)
      throw new SandboxError('no_webhook', 'doctor: pass the URL or the route handler, or set a webhook.');
    const { price, problem } = readPrice(options);
    if (problem !== undefined) throw new SandboxError('invalid_options', `doctor: ${problem}`);
    return diagnose({
      target: patient,
      price,
      onStep: options.onStep,
      signer: { secret: webhookSecret, scheme: choices.signature },
      send: async (to, outgoing) => {
        const stop = this.#closing.signal;
        const sent = await send(to, outgoing, { withinMs: answerWithinMs, allowRemote, stop });
        if (sent.code === 'address_refused')
          throw new SandboxError('invalid_options', `doctor: ${sent.error}`);
        return sent;
      },
    });
  }

  failNext(fault: Fault): void {
    this.#faults.add(fault);
  }

  clearFaults(): void {
    this.#faults.clear();
  }

  snapshot(): SandboxSnapshot {
    this.#schedule.catchUp();
    return takeSnapshot(this.#store, this.#clock, this.#settings);
  }

  #viewEvent(event: EventRecord) {
    const order = this.#store.orders.get(event.orderId);
    if (!order) throw new Error(`Event ${event.id} has no order.`);
    return viewEvent(event, order);
  }

  #checkoutUrl(id: string): string {
    return `${this.#origin}/pay/${id}`;
  }

  #returnUrl(id: string, after: 'success' | 'cancel'): string | undefined {
    const checkout = this.#payments.find(id);
    const target = after === 'success' ? checkout.successUrl : checkout.cancelUrl;
    if (target === undefined || this.#settings.choices.redirect === 'exact') return target;
    const url = new URL(target);
    url.searchParams.set('checkout_id', checkout.id);
    if (checkout.orderId !== undefined) url.searchParams.set('order_id', checkout.orderId);
    return url.href;
  }

  get #origin(): string {
    return this.#settings.publicUrl ?? this.url;
  }

  #seenByRoutes(): SandboxContext {
    const origin = () => this.#origin;
    const closing = () => this.#closing.signal;
    return {
      settings: this.#settings,
      store: this.#store,
      clock: this.#clock,
      payments: this.#payments,
      requests: this.#requests,
      deliveries: this.#deliveries,
      faults: this.#faults,
      guard: this.#guard,
      sandbox: this,
      changed: this.#changed,
      get closing() {
        return closing();
      },
      get origin() {
        return origin();
      },
      checkoutUrl: (id) => this.#checkoutUrl(id),
      returnUrl: (id, after) => this.#returnUrl(id, after),
    };
  }
}

function ended(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
