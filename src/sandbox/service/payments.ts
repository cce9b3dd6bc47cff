// This folder does what the service does: products, checkouts, payments, balance, events, time and ids.
import type { NewProduct } from '../../schemas/params.js';
import type { Product } from '../../schemas/product.js';
import { writeUnevenlySpaced } from '../../sending/delivery.js';
import type { Action } from '../activity.js';
import { SandboxError } from '../checks.js';
import type { Settings } from '../settings.js';
import type { Clock } from './clock.js';
import { type EventType, eventLinks, eventTypes, type SandboxEvent } from './event.js';
import { nextId } from './ids.js';
import { toCents } from './money.js';
import type { DeclineReason, PaymentMethod, SandboxOrder, StoredCheckout } from './records.js';
import { findIn, type Store } from './store.js';

export type Payment = { checkout: StoredCheckout; order: SandboxOrder; event: SandboxEvent };

export type Payments = ReturnType<typeof newPayments>;

/**
 * Creates the functions that change checkouts, orders and the balance, for customers, the dashboard and the schedule. They are
 * synchronous, so that the second of two payments for one checkout finds it paid. `enqueue` gets each new event once the order is
 * stored; `log` gets each action.
 */
export function newPayments(
  store: Store,
  clock: Clock,
  settings: Settings,
  { enqueue, log }: { enqueue: (event: SandboxEvent) => void; log: (action: Action) => void },
) {
  const { choices, currency } = settings;
  const now = () => new Date(clock.now());

  function move(by: { available?: bigint; pending: bigint }): void {
    store.ledger.available += by.available ?? 0n;
    store.ledger.pending += by.pending;
    store.ledger.updatedAt = now();
  }

  function findPayable(ref: string): StoredCheckout {
    payments.catchUp();
    const checkout = payments.find(ref);
    const problem = payments.problem(checkout);
    if (problem === undefined) return checkout;
    throw new SandboxError('not_payable', `Checkout ${checkout.id} ${problem}.`);
  }

  function newOrder(checkout: StoredCheckout, method: PaymentMethod): SandboxOrder {
    const { id: checkoutId, productId, amount } = checkout;
    const sold = { checkoutId, productId, amount, currency: checkout.currency, method };
    return {
      id: choices.eventLink === 'order_id' ? checkoutId : nextId(store.ids, 'ord'),
      ...sold,
      paidAt: now(),
      credited: sold.currency === currency ? amount : undefined,
      settlesAt: new Date(clock.now() + choices.settlement),
      settled: false,
    };
  }

  function logState(checkout: StoredCheckout, state: 'paid' | 'declined' | 'cancelled' | 'expired') {
    const { id, orderId: order, declined } = checkout;
    // An expired checkout still has the reason of an earlier decline.
    const reason = state === 'declined' ? declined : undefined;
    log({ type: 'checkout', checkout: id, state, ...(order && { order }), ...(reason && { reason }) });
    return checkout;
  }

  /** Creates an event. Its body is written once, so that every attempt sends the same bytes. */
  function newEvent(type: EventType, order: SandboxOrder): SandboxEvent {
    const data = eventTypes[type](order);
    const { data: linked, ...beside } = { data: {}, ...eventLinks[choices.eventLink](order.checkoutId) };
    const amount = choices.webhookBody === 'text' ? data.amount : Number(data.amount);
    const content = { type, data: { ...data, amount, ...linked }, ...beside };
    const body = settings.encoding === 'spaced' ? writeUnevenlySpaced(content) : JSON.stringify(content);
    const id = nextId(store.ids, 'evt');
    return { id, type, data, body, state: 'pending', attempts: [], createdAt: order.paidAt };
  }

  const payments = {
    /** Expires checkouts and settles orders that are due, so that nobody sees an outdated state. */
    catchUp(): void {
      for (const { kind, id } of store.agenda.take(clock.now(), ({ kind }) => kind !== 'deliver'))
        if (kind !== 'deliver') payments[kind](id);
    },

    /** Returns the checkout with an id, or with the URL of its payment page. Throws if there is none. */
    find(ref: string): StoredCheckout {
      return findIn(store.checkouts, 'checkout', ref, /\/pay\/([^/?#]+)/.exec(ref)?.[1]);
    },

    product: (id: string): Product => findIn(store.products, 'product', id),

    stock(): void {
      for (const product of settings.products) payments.createProduct(product);
    },

    createProduct({ name, price, currency = 'USD', metadata = {}, ...rest }: NewProduct): Product {
      const { description = null, image = null } = rest;
      const about = { id: nextId(store.ids, 'prod'), name, description, image, price, currency };
      const at = now();
      const product: Product = { ...about, status: 'ACTIVE', metadata, createdAt: at, updatedAt: at };
      store.products.set(product.id, product);
      return product;
    },

    createCheckout(
      params: Pick<StoredCheckout, 'productId' | 'amount' | 'currency'> & Partial<StoredCheckout>,
    ): StoredCheckout {
      const createdAt = now();
      const expiresAt = new Date(createdAt.getTime() + choices.expiresIn.after);
      const id = nextId(store.ids, 'chk');
      const checkout: StoredCheckout = { id, ...params, state: 'open', createdAt, expiresAt };
      store.addCheckout(checkout);
      return checkout;
    },

    /** Lets a checkout wait for the approval of the wallet that the customer chose. */
    await: (ref: string, wallet: 'walletA' | 'walletB') =>
      update(findPayable(ref), { state: 'processing', method: wallet, declined: undefined }),

    /** Reopens a checkout whose customer left the wallet for another method. */
    reopen: (ref: string) => update(findPayable(ref), { state: 'open', method: undefined }),

    /** Declines a payment. The customer may try again. */
    decline: (ref: string, reason: DeclineReason) =>
      logState(update(payments.reopen(ref), { declined: reason }), 'declined'),

    cancel(ref: string): StoredCheckout {
      const state = choices.cancel === 'close' ? 'cancelled' : 'open';
      return logState(update(payments.reopen(ref), { declined: undefined, state }), 'cancelled');
    },

    pay(ref: string, method: PaymentMethod): Payment {
      const checkout = findPayable(ref);
      const order = newOrder(checkout, method);
      update(checkout, { state: 'paid', method, declined: undefined, orderId: order.id });
      store.addOrder(order);
      if (order.credited !== undefined) move({ pending: toCents(order.credited) });
      if (choices.settlement === 0) payments.settle(order.id);
      const event = newEvent('order.paid', order);
      store.events.set(event.id, event);
      logState(checkout, 'paid');
      enqueue(event);
      return { checkout, order, event };
    },

    expire(ref: string): StoredCheckout {
      const checkout = payments.find(ref);
      if (checkout.state !== 'open' && checkout.state !== 'processing') return checkout;
      const expiresAt = new Date(Math.min(checkout.expiresAt.getTime(), clock.now()));
      return logState(update(checkout, { state: 'expired', expiresAt }), 'expired');
    },

    /** Moves the money of one order, or of all orders, from `pending` to `available`. */
    settle(orderId?: string): void {
      for (const order of orderId === undefined ? store.orders.values() : [store.orders.get(orderId)]) {
        if (!order || order.settled || order.credited === undefined) continue;
        order.settled = true;
        const cents = toCents(order.credited);
        move({ pending: -cents, available: cents });
      }
    },

    setStatus(productId: string, status: 'ACTIVE' | 'ARCHIVED'): Product {
      const product = payments.product(productId);
      if (product.status === status) return product;
      log({ type: 'product', product: productId, state: status === 'ACTIVE' ? 'restored' : 'archived' });
      return Object.assign(product, { status, updatedAt: now() });
    },

    /** Returns the reason why a checkout cannot be paid, and the fix; `undefined` if it can be paid. */
    problem({ state, productId }: StoredCheckout): string | undefined {
      if (state === 'paid') return 'is paid already. Create another one';
      if (state === 'cancelled') return 'is cancelled. Create another one';
      if (state === 'expired') return 'has expired. Create another one';
      return payments.product(productId).status === 'ARCHIVED'
        ? 'sells a product that is archived. Restore the product'
        : undefined;
    },
  };
  return payments;
}

const update = (checkout: StoredCheckout, by: Partial<StoredCheckout>) => Object.assign(checkout, by);
