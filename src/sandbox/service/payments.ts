import type { NewProduct } from '../../schemas/params.js';
import { SandboxError, shown } from '../sandbox-error.js';
import type { Settings } from '../settings.js';
import { fromCents, percentOf, toCents } from './cents.js';
import type { DeclineReason, PaymentMethod, StoredCheckout } from './checkout.js';
import type { Clock, Due } from './clock.js';
import { newEvent, type SandboxEvent } from './event.js';
import type { SandboxOrder } from './order.js';
import type { Product } from './product.js';
import { found, type Store } from './store.js';

/** A payment that went through. */
export interface Payment {
  checkout: StoredCheckout;
  order: SandboxOrder;
  event: SandboxEvent;
}

/**
 * What a customer, the dashboard and time do to checkouts, orders and the balance. All of it is synchronous, so that
 * of two payments for one checkout the second finds it paid.
 */
export class Payments {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #settings: Settings;
  readonly #paid: (event: SandboxEvent) => void;

  /** `paid` is called with each new event, once the order is stored. */
  constructor(store: Store, clock: Clock, settings: Settings, paid: (event: SandboxEvent) => void) {
    this.#store = store;
    this.#clock = clock;
    this.#settings = settings;
    this.#paid = paid;
  }

  /** Expires and settles what is due, so that nobody sees an outdated state. */
  catchUp(): void {
    const now = this.#clock.now();
    for (const due of this.#store.agenda.take(now, ({ kind }) => kind !== 'deliver')) this.due(due);
  }

  due({ kind, id }: Due): void {
    if (kind === 'settle') this.settle(id);
    if (kind === 'expire') this.expire(id);
  }

  /** The checkout with an id, or with a payment page's url. */
  find(ref: string): StoredCheckout {
    const id = /\/pay\/([^/?#]+)/.exec(ref)?.[1] ?? ref;
    return found(this.#store.checkouts, 'checkout', ref, id);
  }

  product(id: string): Product {
    return found(this.#store.products, 'product', id);
  }

  /** Creates the products that are there at the start and after a reset. */
  stock(): void {
    for (const product of this.#settings.products) this.createProduct(product);
  }

  createProduct(params: NewProduct): Product {
    const now = new Date(this.#clock.now());
    const product: Product = {
      id: this.#store.ids.next('prod'),
      name: params.name,
      description: params.description ?? null,
      image: params.image ?? null,
      price: params.price,
      currency: params.currency ?? 'USD',
      status: 'ACTIVE',
      metadata: params.metadata ?? {},
      createdAt: now,
      updatedAt: now,
    };
    this.#store.products.set(product.id, product);
    return product;
  }

  createCheckout(
    params: Pick<StoredCheckout, 'productId' | 'amount' | 'currency'> & Partial<StoredCheckout>,
  ): StoredCheckout {
    const now = this.#clock.now();
    const expiresAt = now + this.#settings.choices.expiresIn.afterMs;
    const checkout: StoredCheckout = {
      id: this.#store.ids.next('chk'),
      ...params,
      state: 'open',
      createdAt: new Date(now),
      expiresAt: new Date(expiresAt),
    };
    this.#store.checkouts.set(checkout.id, checkout);
    this.#store.agenda.add({ at: expiresAt, kind: 'expire', id: checkout.id });
    return checkout;
  }

  /** The customer chose a wallet; it waits for approval. */
  await(ref: string, wallet: 'walletA' | 'walletB'): StoredCheckout {
    return changed(this.#payable(ref), { state: 'processing', method: wallet, declined: undefined });
  }

  /** The customer left the wallet for another method. */
  reopen(ref: string): StoredCheckout {
    return changed(this.#payable(ref), { state: 'open', method: undefined });
  }

  /** The payment failed; the customer may try again. */
  decline(ref: string, reason: DeclineReason): StoredCheckout {
    return changed(this.reopen(ref), { declined: reason });
  }

  cancel(ref: string): StoredCheckout {
    const closes = this.#settings.choices.cancel === 'close';
    return changed(this.reopen(ref), { declined: undefined, state: closes ? 'cancelled' : 'open' });
  }

  pay(ref: string, method: PaymentMethod): Payment {
    const checkout = this.#payable(ref);
    const order = this.#newOrder(checkout, method);
    changed(checkout, { state: 'paid', method, declined: undefined, orderId: order.id });
    this.#store.orders.set(order.id, order);
    if (order.credited !== undefined) {
      this.#move({ pending: toCents(order.credited) });
      this.#store.agenda.add({ at: order.settlesAt.getTime(), kind: 'settle', id: order.id });
      if (this.#settings.choices.settlementMs === 0) this.settle(order.id);
    }
    const { choices, encoding } = this.#settings;
    const event = newEvent(this.#store.ids.next('evt'), 'order.paid', order, choices, encoding);
    this.#store.events.set(event.id, event);
    this.#paid(event);
    return { checkout, order, event };
  }

  #newOrder(checkout: StoredCheckout, method: PaymentMethod): SandboxOrder {
    const { choices, currency } = this.#settings;
    const now = this.#clock.now();
    const cents = toCents(checkout.amount);
    const linked = choices.orderId === 'checkout-id' || choices.eventLink === 'order_id';
    return {
      id: linked ? checkout.id : this.#store.ids.next('ord'),
      checkoutId: checkout.id,
      productId: checkout.productId,
      amount: checkout.amount,
      currency: checkout.currency,
      method,
      paidAt: new Date(now),
      credited:
        checkout.currency === currency ? fromCents(cents - percentOf(cents, choices.fees)) : undefined,
      settlesAt: new Date(now + choices.settlementMs),
      settled: false,
    };
  }

  /** Expires a checkout, if it can still be paid. */
  expire(ref: string): StoredCheckout {
    const checkout = this.find(ref);
    if (checkout.state !== 'open' && checkout.state !== 'processing') return checkout;
    const expiresAt = new Date(Math.min(checkout.expiresAt.getTime(), this.#clock.now()));
    return changed(checkout, { state: 'expired', expiresAt });
  }

  /** Moves one order's money, or that of all, from `pending` to `available`. */
  settle(orderId?: string): void {
    const orders = orderId === undefined ? this.#store.orders.values() : [this.#store.orders.get(orderId)];
    for (const order of orders) {
      if (!order || order.settled || order.credited === undefined) continue;
      order.settled = true;
      const cents = toCents(order.credited);
      this.#move({ pending: -cents, available: cents });
    }
  }

  /** Moves an amount between `available` and `frozen`; neither goes below zero. */
  shift(amount: string, from: 'available' | 'frozen'): void {
    this.catchUp();
    if (typeof amount !== 'string' || !/^\d{1,30}(\.\d{1,2})?$/.test(amount) || !/[1-9]/.test(amount)) {
      const message = `${shown(amount)} is not an amount. Pass a decimal string, such as "19.90".`;
      throw new SandboxError('invalid_options', message);
    }
    const cents = toCents(amount);
    const has = this.#store.ledger[from];
    if (cents > has) {
      const message = `${from} holds ${fromCents(has)}, less than ${fromCents(cents)}. Pass at most what it holds.`;
      throw new SandboxError('insufficient_balance', message);
    }
    this.#move({ [from]: -cents, [from === 'available' ? 'frozen' : 'available']: cents });
  }

  setStatus(productId: string, status: 'ACTIVE' | 'ARCHIVED'): void {
    const product = this.product(productId);
    if (product.status !== status) Object.assign(product, { status, updatedAt: new Date(this.#clock.now()) });
  }

  /** Where the customer goes after paying or cancelling; `undefined` if the checkout names no URL. */
  returnUrl({ id, successUrl, cancelUrl, orderId }: StoredCheckout, after: 'success' | 'cancel') {
    const target = after === 'success' ? successUrl : cancelUrl;
    if (target === undefined || this.#settings.choices.redirect === 'exact') return target;
    const url = new URL(target);
    url.searchParams.set('checkout_id', id);
    if (orderId !== undefined) url.searchParams.set('order_id', orderId);
    return url.href;
  }

  #payable(ref: string): StoredCheckout {
    this.catchUp();
    const checkout = this.find(ref);
    const problem = this.problem(checkout);
    if (problem === undefined) return checkout;
    throw new SandboxError('not_payable', `Checkout ${checkout.id} ${problem}. Create another one.`);
  }

  /** Why a checkout cannot be paid; `undefined` if it can. */
  problem({ state, productId }: StoredCheckout): string | undefined {
    if (state === 'paid') return 'is paid already';
    if (state === 'cancelled') return 'is cancelled';
    if (state === 'expired') return 'has expired';
    return this.product(productId).status === 'ARCHIVED' ? 'sells a product that is archived' : undefined;
  }

  #move(by: Partial<Record<'available' | 'pending' | 'frozen', bigint>>): void {
    const { ledger } = this.#store;
    for (const account of ['available', 'pending', 'frozen'] as const) ledger[account] += by[account] ?? 0n;
    ledger.updatedAt = new Date(this.#clock.now());
  }
}

/** Updates a checkout in place. */
const changed = (checkout: StoredCheckout, by: Partial<StoredCheckout>): StoredCheckout =>
  Object.assign(checkout, by);
