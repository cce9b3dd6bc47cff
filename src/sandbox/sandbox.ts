import { sandboxApp } from './app.js';
import { Clock } from './clock.js';
import type { SandboxContext } from './context.js';
import { type Duration, milliseconds } from './duration.js';
import { Guard } from './guard.js';
import { RequestLog } from './log.js';
import { type Listening, serve } from './node.js';
import { Payments } from './payments.js';
import type { EventRecord } from './records.js';
import { SandboxError } from './sandbox-error.js';
import { Schedule } from './schedule.js';
import { checkedTarget, newApiKey, readSettings, type Settings } from './settings.js';
import { Store } from './store.js';
import type {
  DeclineReason,
  ListenOptions,
  Paid,
  PaymentMethod,
  Sandbox,
  SandboxOptions,
  WebhookTarget,
} from './types.js';
import { viewBalance, viewCheckout, viewEvent, viewOrder, viewProduct } from './views.js';

/** The origin in process: a name of this machine, so that clients take it without https. */
const inProcessUrl = 'http://sandbox.localhost';

/**
 * Starts a sandbox: the whole service in this process, without a socket or a timer.
 *
 * @example
 * const sandbox = createSandbox();
 * const client = new PaymentsClient(sandbox.clientOptions);
 * const product = await client.products.create({ name: 'Mug', price: '19.90' });
 * const { url } = await client.checkouts.create({ productId: product.id });
 * const { order } = await sandbox.completeCheckout(url);
 */
export function createSandbox(options: SandboxOptions = {}): Sandbox {
  return new LocalSandbox(readSettings(options));
}

class LocalSandbox implements Sandbox {
  readonly #settings: Settings;
  readonly #clock: Clock;
  readonly #store: Store;
  readonly #payments: Payments;
  readonly #schedule: Schedule;
  readonly #requests = new RequestLog();
  readonly #handle: (request: Request) => Promise<Response>;
  #listening: Listening | undefined;

  constructor(settings: Settings) {
    this.#settings = settings;
    this.#clock = new Clock(settings.start);
    this.#store = new Store(this.#clock.now(), settings.seed);
    this.#payments = new Payments(this.#store, this.#clock, settings, () => undefined);
    this.#schedule = new Schedule(
      this.#clock,
      this.#store,
      ({ kind, id }) => (kind === 'settle' ? this.#payments.settle(id) : this.#payments.expire(id)),
      async () => undefined,
    );
    const app = sandboxApp(this.#context());
    this.#handle = async (request) => {
      this.#schedule.catchUp();
      return app(request);
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

  async fetch(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
    const address = typeof input === 'string' && input.startsWith('/') ? this.url + input : input;
    const request = new Request(address, init);
    request.signal.throwIfAborted();
    return this.#handle(request);
  }

  async listen({ port = 0, host = '127.0.0.1', allowHosts = [] }: ListenOptions = {}): Promise<Sandbox> {
    if (this.#listening)
      throw new SandboxError('invalid_options', `The sandbox listens already, on ${this.url}.`);
    const { publicUrl } = this.#settings;
    this.#listening = await serve(this.#handle, { port, host }, { publicUrl, allowed: allowHosts });
    return this;
  }

  async close(): Promise<void> {
    const listening = this.#listening;
    this.#listening = undefined;
    await listening?.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  reset({ seed = this.#settings.seed }: { seed?: number | undefined } = {}): void {
    this.#clock.reset();
    this.#store.clear(this.#clock.now(), seed);
    this.#requests.clear();
  }

  async completeCheckout(
    ref: string,
    { method = 'card' }: { method?: PaymentMethod | undefined } = {},
  ): Promise<Paid> {
    this.#schedule.catchUp();
    const { checkout, order, event } = this.#payments.pay(ref, method);
    return {
      order: viewOrder(order),
      event: this.#viewEvent(event),
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

  advanceTime(by: Duration): Promise<void> {
    return this.#schedule.moveBy(milliseconds(by, 'advanceTime'));
  }

  async setTime(to: Date): Promise<void> {
    if (!(to instanceof Date && Number.isFinite(to.getTime())))
      throw new SandboxError('invalid_options', 'setTime: pass a Date.');
    await this.#schedule.moveTo(to.getTime());
  }

  #viewEvent(event: EventRecord) {
    const order = this.#store.orders.get(event.orderId);
    if (!order) throw new Error(`Event ${event.id} has no order.`);
    return viewEvent(event, order);
  }

  #checkoutUrl(id: string): string {
    return `${this.#settings.publicUrl ?? this.url}/pay/${id}`;
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

  #context(): SandboxContext {
    const origin = () => this.#settings.publicUrl ?? this.url;
    return {
      settings: this.#settings,
      store: this.#store,
      clock: this.#clock,
      payments: this.#payments,
      requests: this.#requests,
      guard: new Guard(),
      get origin() {
        return origin();
      },
      checkoutUrl: (id) => this.#checkoutUrl(id),
      returnUrl: (id, after) => this.#returnUrl(id, after),
    };
  }
}
