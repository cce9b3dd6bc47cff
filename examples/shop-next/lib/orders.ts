/** An order of this shop; `paidAs` is the service's order id, once the webhook has come. */
export interface Order {
  name: string;
  amount: string;
  currency: string;
  paidAs?: string;
}

declare global {
  var shopOrders: Order[] | undefined;
}

/** A database in a real shop. Next.js loads a module once for pages and once for routes, so a plain variable is no store. */
globalThis.shopOrders ??= [];
export const orders: Order[] = globalThis.shopOrders;

/** Marks the oldest order that this payment fits. The service does not say which checkout an order came from. */
export function markPaid({
  order_id,
  amount,
  currency,
}: {
  order_id: string;
  amount: string;
  currency: string;
}): boolean {
  const order = orders.find((one) => !one.paidAs && one.amount === amount && one.currency === currency);
  if (order) order.paidAs = order_id;
  return order !== undefined;
}
