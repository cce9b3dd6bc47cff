import type { WebhookTarget } from '../doctor/delivery.js';
import type { Diagnosis, DoctorOptions } from '../doctor/diagnosis.js';
import { diagnose, readPrice } from '../doctor/doctor.js';
import type { SandboxContext } from './context.js';
import { Deliveries } from './delivery/queue.js';
import { asRequest, send } from './delivery/send.js';
import { signed, type Tamper } from './delivery/signing.js';
import { waitForEvent } from './delivery/wait.js';
import { type Fault, Faults, readFault } from './faults.js';
import { sandboxApp } from './http/app.js';
import { Guard } from './http/guard.js';
import { RequestLog } from './http/log.js';
import { type ListenOptions, Reach } from './http/reach.js';
import type { Paid, Sandbox } from './sandbox.js';
import { SandboxError } from './sandbox-error.js';
import type { DeclineReason, PaymentMethod } from './service/checkout.js';
import { Clock } from './service/clock.js';
import { type Duration, milliseconds } from './service/duration.js';
import type { SandboxEvent } from './service/event.js';
import { viewBalance } from './service/ledger.js';
import { Payments } from './service/payments.js';
import { viewProduct } from './service/product.js';
import { Schedule } from './service/schedule.js';
import { readSnapshot, restore, takeSnapshot } from './service/snapshot.js';
import { Store } from './service/store.js';
import { testCheckout } from './service/test-checkout.js';
import { checkedTarget, newApiKey, readSettings, type SandboxOptions, type Settings } from './settings.js';
import { Signal } from './signal.js';

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
  return openSandbox(options).sandbox;
}

/** The same for the command, which watches and saves what happens inside. */
export function openSandbox(options: SandboxOptions): SandboxContext {
  return LocalSandbox.open(options);
}

/** Puts the parts together. What they do is in `service/`, `delivery/` and `http/`. */
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
  readonly #reach: Reach;
  readonly #context: SandboxContext;
  readonly #app: (request: Request) => Promise<Response>;

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
    this.#deliveries.changed.subscribe(() => this.#changed.emit());
    this.#payments = new Payments(this.#store, this.#clock, settings, (event) =>
      this.#deliveries.accept(event),
    );
    this.#schedule = new Schedule(this.#clock, this.#store, this.#payments, (id) => this.#deliveries.due(id));
    this.#reach = new Reach(
      (request) => this.#handle(request),
      this.#guard,
      settings.publicUrl,
      () => this.#tick(),
    );
    this.#context = this.#seenByRoutes();
    this.#app = sandboxApp(this.#context);
  }

  async #handle(request: Request): Promise<Response> {
    this.#payments.catchUp();
    try {
      return await this.#app(request);
    } finally {
      if (request.method !== 'GET') this.#changed.emit();
    }
  }

  #tick(): void {
    if (this.#store.agenda.next <= this.#clock.now())
      void this.#schedule.tick().then(() => this.#changed.emit());
  }

  get url() {
    return this.#reach.url;
  }

  get apiKey() {
    return this.#settings.apiKey;
  }

  get webhookSecret() {
    return this.#settings.webhookSecret;
  }

  get clientOptions() {
    const { url: baseUrl, apiKey } = this;
    return this.#reach.listens ? { baseUrl, apiKey } : { baseUrl, apiKey, fetch: this.fetch.bind(this) };
  }

  get dashboardUrl() {
    const { accessToken } = this.#guard;
    return `${this.#reach.origin}/${accessToken === undefined ? '' : `?token=${accessToken}`}`;
  }

  fetch(input: string | URL | Request, init?: RequestInit) {
    return this.#reach.fetch(input, init);
  }

  async listen(options: ListenOptions = {}): Promise<Sandbox> {
    await this.#reach.listen(options);
    return this;
  }

  async close(): Promise<void> {
    await Promise.all([this.#reach.close(), this.#deliveries.close()]);
  }

  [Symbol.asyncDispose]() {
    return this.close();
  }

  reset({ seed = this.#settings.seed }: { seed?: number | undefined } = {}): void {
    this.#clock.reset();
    this.#store.clear(this.#clock.now(), seed);
    this.#requests.clear();
    this.#faults.clear();
    this.#deliveries.reset();
  }

  async completeCheckout(
    ref: string,
    { method = 'card' }: { method?: PaymentMethod | undefined } = {},
  ): Promise<Paid> {
    const { checkout, order, event } = this.#payments.pay(ref, method);
    const delivery = await this.#deliveries.inFlight(event);
    const redirectUrl = this.#payments.returnUrl(checkout, 'success');
    return structuredClone({ order, event, delivery, redirectUrl });
  }

  async failCheckout(ref: string, reason: DeclineReason = 'card_declined') {
    this.#payments.decline(ref, reason);
  }

  async cancelCheckout(ref: string) {
    return { redirectUrl: this.#payments.returnUrl(this.#payments.cancel(ref), 'cancel') };
  }

  async expireCheckout(ref: string) {
    this.#payments.expire(ref);
  }

  archiveProduct(id: string) {
    this.#payments.setStatus(id, 'ARCHIVED');
  }

  restoreProduct(id: string) {
    this.#payments.setStatus(id, 'ACTIVE');
  }

  regenerateKey() {
    this.#settings.apiKey = newApiKey(this.#settings.livePrefix);
    return this.apiKey;
  }

  setWebhook(target: WebhookTarget | undefined) {
    this.#settings.webhook = checkedTarget(target);
  }

  freeze(amount: string) {
    this.#payments.shift(amount, 'available');
  }

  release(amount: string) {
    this.#payments.shift(amount, 'frozen');
  }

  settle() {
    this.#payments.settle();
  }

  get products() {
    return [...this.#store.products.values()].map(viewProduct);
  }

  get checkouts() {
    this.#payments.catchUp();
    return [...this.#store.checkouts.values()].map((checkout) => ({
      ...structuredClone(checkout),
      url: this.#context.checkoutUrl(checkout.id),
    }));
  }

  get orders() {
    this.#payments.catchUp();
    return structuredClone([...this.#store.orders.values()]);
  }

  get events() {
    return structuredClone([...this.#store.events.values()]);
  }

  get requests() {
    return structuredClone([...this.#requests.entries]);
  }

  get balance() {
    this.#payments.catchUp();
    return viewBalance(this.#store.ledger, this.#settings.currency);
  }

  now() {
    return new Date(this.#clock.now());
  }

  async advanceTime(by: Duration) {
    await this.#schedule.moveBy(milliseconds(by, 'advanceTime'));
  }

  async setTime(to: Date) {
    if (!(to instanceof Date && Number.isFinite(to.getTime())))
      throw new SandboxError('invalid_options', 'setTime: pass a Date.');
    await this.#schedule.moveTo(to.getTime());
  }

  async trigger(
    type: 'order.paid',
    options: { amount?: string | undefined; currency?: string | undefined } = {},
  ) {
    if (type !== 'order.paid')
      throw new SandboxError('invalid_options', 'trigger: the service documents one event, "order.paid".');
    const { id } = testCheckout(this.#payments, { currency: this.#settings.currency, ...options });
    return this.completeCheckout(id);
  }

  async deliver() {
    return structuredClone(await this.#deliveries.deliver());
  }

  async redeliver(eventId: string) {
    return structuredClone(await this.#deliveries.redeliver(eventId));
  }

  waitForEvent(match?: (event: SandboxEvent) => boolean, options?: { timeoutMs?: number | undefined }) {
    return waitForEvent(this.#store, this.#deliveries.changed, this.#reach.closing, match, options);
  }

  async signedRequest({ id }: SandboxEvent, { tamper }: { tamper?: Tamper | undefined } = {}) {
    const { body } = this.#deliveries.event(id);
    return asRequest(this.#settings.webhook, signed(body, this.#settings, this.#clock, tamper));
  }

  async doctor(target?: WebhookTarget, options: DoctorOptions = {}): Promise<Diagnosis> {
    const { webhook, webhookSecret, choices, allowRemote } = this.#settings;
    const patient = checkedTarget(target) ?? webhook;
    if (patient === undefined)
      throw new SandboxError('no_webhook', 'doctor: pass the URL or the route handler, or set a webhook.');
    const { price, problem } = readPrice(options);
    if (problem !== undefined) throw new SandboxError('invalid_options', `doctor: ${problem}`);
    const limits = { withinMs: choices.deliveryTimeoutMs, allowRemote, stop: this.#reach.closing };
    return diagnose({
      target: patient,
      price,
      onStep: options.onStep,
      signer: { secret: webhookSecret, scheme: choices.signature },
      send: async (to, outgoing) => {
        const sent = await send(to, outgoing, limits);
        if (sent.code !== 'address_refused') return sent;
        throw new SandboxError('invalid_options', `doctor: ${sent.error}`);
      },
    });
  }

  failNext(fault: Fault) {
    this.#faults.add(readFault(fault, 'failNext'));
  }

  get faults() {
    return this.#faults.waiting.map(({ fault, left }) => ({ fault: { ...fault }, left }));
  }

  clearFaults() {
    this.#faults.clear();
  }

  snapshot() {
    this.#payments.catchUp();
    return takeSnapshot(this.#store, this.#clock, this.#settings);
  }

  #seenByRoutes(): SandboxContext {
    const reach = this.#reach;
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
        return reach.closing;
      },
      get origin() {
        return reach.origin;
      },
      checkoutUrl: (id) => `${reach.origin}/pay/${id}`,
    };
  }
}
