import { randomBytes, timingSafeEqual } from 'node:crypto';
import { isPaymentsError } from 'merchant-payments';
import type { Orders } from './orders.ts';

/** Opens /orders, which is behind a login in a real shop. No header proves that a request comes from this machine. */
export function newCounterKey(): string {
  return process.env.ORDERS_KEY || randomBytes(16).toString('hex');
}

export const ordersPath = (counterKey: string) => `/orders?${new URLSearchParams({ key: counterKey })}`;

/** Returns true if the URL has the key. */
export function opens(counterKey: string, url: string | undefined): boolean {
  const [, query] = (url ?? '').split('?');
  return sameText(counterKey, new URLSearchParams(query).get('key') ?? '');
}

/** Compares in constant time. */
function sameText(known: string, given: string): boolean {
  const [a, b] = [Buffer.from(known), Buffer.from(given)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** Takes the form with which a person decides on a payment or closes an order. Returns whether that was possible. */
export async function decide(orders: Orders, form: URLSearchParams): Promise<boolean> {
  const [closed, payment, order] = [form.get('close'), form.get('payment') ?? '', form.get('order')];
  try {
    if (closed) orders.close(closed);
    else if (order) orders.decide(payment, order);
    else await orders.book.dismiss(payment);
    return true;
  } catch (error) {
    if (!isPaymentsError(error)) throw error;
    return false; // somebody else has decided meanwhile, say
  }
}
