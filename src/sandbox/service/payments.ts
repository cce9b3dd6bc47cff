import type { ProductCreateParams } from '../../schemas/params.js';
import { SandboxError } from '../sandbox-error.js';
import type { Settings } from '../settings.js';
import type { DeclineReason, PaymentMethod } from '../types.js';
import { fromCents, percentOf, toCents } from './cents.js';
import type { Clock } from './clock.js';
import { newEvent } from './events.js';
import type { CheckoutRecord, EventRecord, OrderRecord, ProductRecord } from './records.js';
import type { Store } from './store.js';

/** A payment that went through. */
export interface Payment {
  checkout: CheckoutRecord;
  order: OrderRecord;
  event: EventRecord;
}

/**
 * What a customer, the dashboard and time do to checkouts, orders and the balance. All of it is synchronous, so that
 * of two payments for one checkout the second finds it paid.
 */
export class Payments {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #settings: Settings;
  readonly #paid: (event: EventRecord) => void;

  /** `paid` is told of each new event, once the order is stored. */
  constructor(store: Store, clock: Clock, settings: Settings, paid: (event: EventRecord) => void) {
    this.#store = store;
    this.#clock = clock;
    this.#settings = settings;
    this.#paid = paid;
  }

  /** The checkout of an id or of a payment page's url. */
  find(ref: string): CheckoutRecord {
    const id = /\/pay\/([^/?#]+)/.exec(ref)?.[1] ?? ref;
    const checkout = this.#store.checkouts.get(id);
    if (checkout) return checkout;
    throw new SandboxError(
      'unknown_id',
      `There is no checkout ${quote(ref)}. Pass the id or the url of one.`,
    );
  }

  product(id: string): ProductRecord {
    const product = this.#store.products.get(id);
    if (product) return product;
    throw new SandboxError('unknown_id', `There is no product ${quote(id)}. Pass the id of one.`);
  }

  createProduct(params: ProductCreateParams): ProductRecord {
    const now = this.#clock.now();
    const product: ProductRecord = {
      id: this.#store.nextId('prod'),
      name: params.name,
      description: params.description,
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

  createCheckout(checkout: Omit<CheckoutRecord, 'id' | 'state' | 'createdAt' | 'expiresAt'>): CheckoutRecord {
    const createdAt = this.#clock.now();
    const expiresAt = createdAt + this.#settings.choices.expiresIn.afterMs;
    const record: CheckoutRecord = {
      id: this.#store.nextId('chk'),
      ...checkout,
      state: 'open',
      createdAt,
      expiresAt,
    };
    this.#store.checkouts.set(record.id, record);
    this.#store.agenda.add({ at: expiresAt, kind: 'expire', id: record.id });
    return record;
  }

  /** The customer chose a wallet; it waits for approval. */
  await(ref: string, wallet: 'walletA' | 'walletB'): CheckoutRecord {
    const checkout = this.#payable(ref);
    checkout.state = 'processing';
    checkout.method = wallet;
    checkout.declined = undefined;
    return checkout;
  }

  /** The customer left the wallet for another method. */
  reopen(ref: string): CheckoutRecord {
    const checkout = this.#payable(ref);
    checkout.state = 'open';
    checkout.method = undefined;
    return checkout;
  }

  pay(ref: string, method: PaymentMethod): Payment {
    const checkout = this.#payable(ref);
    const { choices, currency } = this.#settings;
    const now = this.#clock.now();
    const cents = toCents(checkout.amount);
    const credited =
      checkout.currency === currency ? fromCents(cents - percentOf(cents, choices.fees)) : undefined;
    const order: OrderRecord = {
      id:
        choices.orderId === 'checkout-id' || choices.eventLink === 'order_id'
          ? checkout.id
          : this.#store.nextId('ord'),
      checkoutId: checkout.id,
      productId: checkout.productId,
      amount: checkout.amount,
      currency: checkout.currency,
      method,
      paidAt: now,
      credited,
      settlesAt: now + choices.settlementMs,
      settled: false,
    };
    checkout.state = 'paid';
    checkout.method = method;
    checkout.declined = undefined;
    checkout.orderId = order.id;
    this.#store.orders.set(order.id, order);
    if (credited !== undefined) {
      this.#move({ pending: toCents(credited) });
      this.#store.agenda.add({ at: order.settlesAt, kind: 'settle', id: order.id });
      if (choices.settlementMs === 0) this.settle(order.id);
    }
    const event = newEvent(this.#store.nextId('evt'), order, now, this.#settings);
    this.#store.events.set(event.id, event);
    this.#paid(event);
    return { checkout, order, event };
  }

  /** The payment failed; the customer may try again. */
  decline(ref: string, reason: DeclineReason): CheckoutRecord {
    const checkout = this.reopen(ref);
    checkout.declined = reason;
    return checkout;
  }

  cancel(ref: string): CheckoutRecord {
    const checkout = this.reopen(ref);
    checkout.declined = undefined;
    if (this.#settings.choices.cancel === 'close') checkout.state = 'cancelled';
    return checkout;
  }

  /** Ends a checkout's time, where it can still be paid. */
  expire(ref: string): CheckoutRecord {
    const checkout = this.find(ref);
    if (checkout.state === 'open' || checkout.state === 'processing') {
      checkout.state = 'expired';
      checkout.expiresAt = Math.min(checkout.expiresAt, this.#clock.now());
    }
    return checkout;
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
    if (!/^\d{1,30}(\.\d{1,2})?$/.test(amount) || !/[1-9]/.test(amount)) {
      throw new SandboxError(
        'invalid_options',
        `${quote(amount)} is no amount. Pass decimal text, such as "19.90".`,
      );
    }
    const cents = toCents(amount);
    const has = this.#store.ledger[from];
    if (cents > has) {
      throw new SandboxError(
        'insufficient_balance',
        `${from} holds ${fromCents(has)}, less than ${fromCents(cents)}. Pass at most what it holds.`,
      );
    }
    this.#move(
      from === 'available' ? { available: -cents, frozen: cents } : { available: cents, frozen: -cents },
    );
  }

  setStatus(productId: string, status: ProductRecord['status']): void {
    const product = this.product(productId);
    if (product.status === status) return;
    product.status = status;
    product.updatedAt = this.#clock.now();
  }

  #payable(ref: string): CheckoutRecord {
    const checkout = this.find(ref);
    const problem = this.problem(checkout);
    if (problem === undefined) return checkout;
    throw new SandboxError('not_payable', `Checkout ${checkout.id} ${problem}. Create another one.`);
  }

  /** Why a checkout cannot be paid; `undefined` when it can. */
  problem(checkout: CheckoutRecord): string | undefined {
    if (checkout.state === 'paid') return 'is paid already';
    if (checkout.state === 'cancelled') return 'is cancelled';
    if (checkout.state === 'expired') return 'has expired';
    return this.product(checkout.productId).status === 'ARCHIVED'
      ? 'sells a product that is archived'
      : undefined;
  }

  #move(by: { available?: bigint; pending?: bigint; frozen?: bigint }): void {
    const { ledger } = this.#store;
    ledger.available += by.available ?? 0n;
    ledger.pending += by.pending ?? 0n;
    ledger.frozen += by.frozen ?? 0n;
    ledger.updatedAt = this.#clock.now();
  }
}

const quote = (text: string): string => JSON.stringify(text.slice(0, 100));
