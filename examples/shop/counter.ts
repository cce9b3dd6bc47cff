import { randomBytes } from 'node:crypto';
import { type OrderBook, type Payment, sameText } from './orders.ts';

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

/** Takes the form with which a person decides on a payment or closes an order. Returns whether that was possible. */
export function decide(book: OrderBook, form: URLSearchParams): boolean {
  const [closed, payment] = [form.get('close'), form.get('payment')];
  return closed ? book.close(closed) : book.decide(payment ?? '', form.get('order') || undefined);
}

/** Logs a payment of which nobody can say yet whose it is. */
export function logHeld({ id, amount, currency, state }: Payment): void {
  if (state !== 'held') return;
  console.warn(`${id} paid ${amount} ${currency}. Nothing says which order it is: decide at /orders`);
}
