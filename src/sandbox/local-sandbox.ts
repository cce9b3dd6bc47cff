import type { WebhookTarget } from '../doctor/delivery.js';
import type { DoctorOptions } from '../doctor/diagnosis.js';
import type { SandboxParts } from './context.js';
import { asRequest } from './delivery/send.js';
import { signed, type Tamper } from './delivery/signing.js';
import { waitForEvent } from './delivery/wait.js';
import { examine } from './examine.js';
import { type Fault, readFault } from './faults.js';
import type { ListenOptions } from './http/reach.js';
import type { Paid, Sandbox } from './sandbox.js';
import { SandboxError } from './sandbox-error.js';
import type { DeclineReason, PaymentMethod } from './service/checkout.js';
import { type Duration, milliseconds } from './service/duration.js';
import type { SandboxEvent } from './service/event.js';
import { viewBalance } from './service/ledger.js';
import { viewProduct } from './service/product.js';
import { takeSnapshot } from './service/snapshot.js';
import { testCheckout } from './service/test-checkout.js';
import { checkedTarget, newApiKey } from './settings.js';

/** The public interface over the parts, which do the work. */
export class LocalSandbox implements Sandbox {
  readonly #parts: SandboxParts;

  constructor(parts: SandboxParts) {
    this.#parts = parts;
  }

  get url() {
    return this.#parts.reach.url;
  }

  get apiKey() {
    return this.#parts.settings.apiKey;
  }

  get webhookSecret() {
    return this.#parts.settings.webhookSecret;
  }

  get clientOptions() {
    const { url: baseUrl, apiKey } = this;
    return this.#parts.reach.listens
      ? { baseUrl, apiKey }
      : { baseUrl, apiKey, fetch: this.fetch.bind(this) };
  }

  get dashboardUrl() {
    const { accessToken } = this.#parts.guard;
    return `${this.#parts.reach.origin}/${accessToken === undefined ? '' : `?token=${accessToken}`}`;
  }

  fetch(input: string | URL | Request, init?: RequestInit) {
    return this.#parts.reach.fetch(input, init);
  }

  async listen(options: ListenOptions = {}): Promise<Sandbox> {
    await this.#parts.reach.listen(options);
    return this;
  }

  async close(): Promise<void> {
    await Promise.all([this.#parts.reach.close(), this.#parts.deliveries.close()]);
  }

  [Symbol.asyncDispose]() {
    return this.close();
  }

  reset({ seed = this.#parts.settings.seed }: { seed?: number | undefined } = {}): void {
    this.#parts.clock.reset();
    this.#parts.store.clear(this.#parts.clock.now(), seed);
    this.#parts.requests.clear();
    this.#parts.faults.clear();
    this.#parts.deliveries.reset();
  }

  async completeCheckout(
    ref: string,
    { method = 'card' }: { method?: PaymentMethod | undefined } = {},
  ): Promise<Paid> {
    const { checkout, order, event } = this.#parts.payments.pay(ref, method);
    const delivery = await this.#parts.deliveries.inFlight(event);
    const redirectUrl = this.#parts.payments.returnUrl(checkout, 'success');
    return structuredClone({ order, event, delivery, redirectUrl });
  }

  async failCheckout(ref: string, reason: DeclineReason = 'card_declined') {
    this.#parts.payments.decline(ref, reason);
  }

  async cancelCheckout(ref: string) {
    return { redirectUrl: this.#parts.payments.returnUrl(this.#parts.payments.cancel(ref), 'cancel') };
  }

  async expireCheckout(ref: string) {
    this.#parts.payments.expire(ref);
  }

  archiveProduct(id: string) {
    this.#parts.payments.setStatus(id, 'ARCHIVED');
  }

  restoreProduct(id: string) {
    this.#parts.payments.setStatus(id, 'ACTIVE');
  }

  regenerateKey() {
    this.#parts.settings.apiKey = newApiKey(this.#parts.settings.livePrefix);
    return this.apiKey;
  }

  setWebhook(target: WebhookTarget | undefined) {
    this.#parts.settings.webhook = checkedTarget(target);
  }

  freeze(amount: string) {
    this.#parts.payments.shift(amount, 'available');
  }

  release(amount: string) {
    this.#parts.payments.shift(amount, 'frozen');
  }

  settle() {
    this.#parts.payments.settle();
  }

  get products() {
    return [...this.#parts.store.products.values()].map(viewProduct);
  }

  get checkouts() {
    this.#parts.payments.catchUp();
    return [...this.#parts.store.checkouts.values()].map((checkout) => ({
      ...structuredClone(checkout),
      url: `${this.#parts.reach.origin}/pay/${checkout.id}`,
    }));
  }

  get orders() {
    this.#parts.payments.catchUp();
    return structuredClone([...this.#parts.store.orders.values()]);
  }

  get events() {
    return structuredClone([...this.#parts.store.events.values()]);
  }

  get requests() {
    return structuredClone([...this.#parts.requests.entries]);
  }

  get balance() {
    this.#parts.payments.catchUp();
    return viewBalance(this.#parts.store.ledger, this.#parts.settings.currency);
  }

  now() {
    return new Date(this.#parts.clock.now());
  }

  async advanceTime(by: Duration) {
    await this.#parts.schedule.moveBy(milliseconds(by, 'advanceTime'));
  }

  async setTime(to: Date) {
    if (!(to instanceof Date && Number.isFinite(to.getTime())))
      throw new SandboxError('invalid_options', 'setTime: pass a Date.');
    await this.#parts.schedule.moveTo(to.getTime());
  }

  async trigger(
    type: 'order.paid',
    options: { amount?: string | undefined; currency?: string | undefined } = {},
  ) {
    if (type !== 'order.paid')
      throw new SandboxError('invalid_options', 'trigger: the service documents one event, "order.paid".');
    const { id } = testCheckout(this.#parts.payments, {
      currency: this.#parts.settings.currency,
      ...options,
    });
    return this.completeCheckout(id);
  }

  async deliver() {
    return structuredClone(await this.#parts.deliveries.deliver());
  }

  async redeliver(eventId: string) {
    return structuredClone(await this.#parts.deliveries.redeliver(eventId));
  }

  waitForEvent(match?: (event: SandboxEvent) => boolean, options?: { timeoutMs?: number | undefined }) {
    return waitForEvent(
      this.#parts.store,
      this.#parts.deliveries.changed,
      this.#parts.reach.closing,
      match,
      options,
    );
  }

  async signedRequest({ id }: SandboxEvent, { tamper }: { tamper?: Tamper | undefined } = {}) {
    const { body } = this.#parts.deliveries.event(id);
    return asRequest(
      this.#parts.settings.webhook,
      signed(body, this.#parts.settings, this.#parts.clock, tamper),
    );
  }

  doctor(target?: WebhookTarget, options: DoctorOptions = {}) {
    return examine(this.#parts, target, options);
  }

  failNext(fault: Fault) {
    this.#parts.faults.add(readFault(fault, 'failNext'));
  }

  get faults() {
    return this.#parts.faults.waiting.map(({ fault, left }) => ({ fault: { ...fault }, left }));
  }

  clearFaults() {
    this.#parts.faults.clear();
  }

  snapshot() {
    this.#parts.payments.catchUp();
    return takeSnapshot(this.#parts.store, this.#parts.clock, this.#parts.settings);
  }
}
