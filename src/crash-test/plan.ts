import { writeUnevenlySpaced } from '../sending/delivery.js';

/** An order that a customer can pay. */
export interface OpenOrder {
  /** The shop's own name of the order. */
  readonly reference: string;
  readonly amount: string;
}

/** An order that a customer pays. */
export interface PlannedOrder extends OpenOrder {
  /** The service's `order_id`. */
  readonly id: string;
}

/** `payment` is the first delivery of an order, `again` a duplicate, `conflict` the same order with another amount. */
export type DeliveryKind = 'payment' | 'again' | 'conflict' | 'unreadable' | 'forged' | 'unknown';

/** A signal to the program, at a share of the median response time after the delivery. A share of 1 is the response itself. */
export interface Kill {
  readonly signal: 'SIGKILL' | 'SIGTERM' | 'SIGSTOP';
  readonly share: number;
}

export interface PlannedDelivery {
  readonly kind: DeliveryKind;
  readonly orderId: string;
  readonly amount: string;
  readonly body: string;
  /** The instances that get it, at the same moment. */
  readonly instances: readonly number[];
  /** The signal that its instance gets meanwhile. */
  readonly kill?: Kill | undefined;
  /** True if it is sent again after a kill that left it without a response. */
  readonly repeatsAfterKill: boolean;
  /** True if it is sent again after any other failure. */
  readonly repeatsAfterFailure: boolean;
}

export interface Plan {
  readonly seed: number;
  readonly orders: readonly PlannedOrder[];
  readonly deliveries: readonly PlannedDelivery[];
}

export interface PlanOptions {
  seed: number;
  orders: readonly OpenOrder[];
  instances: number;
}

export const currency = 'USD';

/** Returns orders for the shop to open, each with an amount of its own or, if amounts are shared, every tenth with the amount of the next one. */
export function listOrders(count: number, sharesAmounts: boolean): OpenOrder[] {
  return Array.from({ length: count }, (_, number) => {
    const cents = 1000 + (sharesAmounts && number % 10 === 1 ? number - 1 : number);
    return { reference: `o${number + 1}`, amount: (cents / 100).toFixed(2) };
  });
}

/** Returns what a run sends, to which instance, and what is killed when. The same seed gives the same plan everywhere. */
export function makePlan({ seed, orders: opened, instances }: PlanOptions): Plan {
  const random = randomFrom(seed);
  const randomBelow = (limit: number): number => Math.floor(random() * limit);
  const part = (share: number): number => Math.max(1, Math.round(opened.length * share));
  const newId = (): string =>
    `ord_${Array.from({ length: 12 }, () => randomBelow(36).toString(36)).join('')}`;

  const orders = opened.map((order) => ({ ...order, id: newId() }));
  const deliveryOf = (kind: DeliveryKind, orderId: string, amount: string, copies = 1): PlannedDelivery => {
    const first = randomBelow(instances);
    return {
      kind,
      orderId,
      amount,
      body: bodyOf(kind, orderId, amount),
      instances: Array.from({ length: copies }, (_, copy) => (first + copy) % instances),
      repeatsAfterKill: random() < 0.75,
      repeatsAfterFailure: random() < 0.5,
    };
  };

  const deliveries = withKills(
    shuffle(orders, randomBelow).map(({ id, amount }, place) =>
      deliveryOf('payment', id, amount, place < part(0.02) ? 3 : 1),
    ),
    instances,
    random,
  );
  /** Inserts a delivery anywhere after the first one of an order, or anywhere at all. */
  const insert = (delivery: PlannedDelivery, first?: string): void => {
    const place = deliveries.findIndex(({ orderId }) => orderId === first);
    deliveries.splice(place + 1 + randomBelow(deliveries.length - place), 0, delivery);
  };
  for (const { id, amount } of shuffle(orders, randomBelow).slice(0, part(0.1)))
    insert(deliveryOf('again', id, amount), id);
  for (const { id, amount } of shuffle(orders, randomBelow).slice(0, part(0.02)))
    insert(deliveryOf('conflict', id, raiseAmount(amount, 1000)), id);
  for (let number = 0; number < part(0.01); number++)
    insert(deliveryOf('unreadable', newId(), `${10 + number},90`));
  for (const [number, { id, amount }] of shuffle(orders, randomBelow).slice(0, part(0.04)).entries())
    insert(
      number % 2 === 0
        ? deliveryOf('forged', newId(), amount)
        : deliveryOf('forged', id, raiseAmount(amount, 2000)),
    );
  for (let number = 0; number < 3; number++) insert(deliveryOf('unknown', newId(), '1.00'));
  return { seed, orders, deliveries };
}

/** Spreads kills over the run, three SIGKILL for each SIGTERM, and one SIGSTOP if there are several instances. */
function withKills(
  deliveries: PlannedDelivery[],
  instances: number,
  random: () => number,
): PlannedDelivery[] {
  const kills = Math.min(deliveries.length, Math.max(10, Math.round(deliveries.length / 20)));
  const stride = deliveries.length / kills;
  const planned = [...deliveries];
  for (let number = 0; number < kills; number++) {
    const place = Math.floor((number + random()) * stride);
    const signal = number % 4 === 3 ? 'SIGTERM' : 'SIGKILL';
    // Every second one, and so each SIGTERM, comes at once after a response, when work in memory is about to begin.
    const share = number % 2 === 0 ? random() : 1 + random() * 0.2;
    const delivery = planned[place];
    if (delivery) planned[place] = { ...delivery, kill: { signal, share } };
  }
  const free = planned.findIndex(({ kill }, place) => !kill && place >= deliveries.length / 2);
  const delivery = planned[free];
  if (instances > 1 && delivery)
    planned[free] = { ...delivery, kill: { signal: 'SIGSTOP', share: random() * 1.4 } };
  return planned;
}

function bodyOf(kind: DeliveryKind, orderId: string, amount: string): string {
  const type = kind === 'unknown' ? 'test.unknown' : 'order.paid';
  return writeUnevenlySpaced({ type, data: { order_id: orderId, amount, currency } });
}

/** Returns a decimal amount, raised by a whole number. */
const raiseAmount = (amount: string, by: number): string =>
  amount.replace(/^\d+/, (whole) => String(BigInt(whole) + BigInt(by)));

function shuffle<T>(list: readonly T[], randomBelow: (limit: number) => number): T[] {
  const all = list.map((value) => ({ value, at: randomBelow(2 ** 31) }));
  return all.sort((one, other) => one.at - other.at).map(({ value }) => value);
}

/** Returns a generator of random numbers, Mulberry32: it is small, and gives the same numbers on every platform. */
export function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
