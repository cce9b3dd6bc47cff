import { timingSafeEqual } from 'node:crypto';
import type { OrderBook, Payment } from './orders.ts';

/**
 * Whether a request is for this machine, and not passed on by a tunnel that says so. Headers are easily forged: this is
 * enough only for a shop that listens on 127.0.0.1 and sells nothing. In a real one, the page of orders is behind a login.
 */
export function isLocal(header: (name: string) => string | null | undefined): boolean {
  const hosts = [header('host') ?? '', header('x-forwarded-host') ?? 'localhost'];
  const senders = (header('x-forwarded-for') ?? '127.0.0.1').split(',').map((address) => address.trim());
  return (
    hosts.every((host) => /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/.test(host)) &&
    senders.every((address) => /^(127\.|::1$|::ffff:127\.)/.test(address))
  );
}

/** Takes the form with which a person decides on a payment or closes an order. Returns the status to respond with. */
export function decide(book: OrderBook, formToken: string, form: URLSearchParams): 303 | 403 | 409 {
  const [known, given] = [Buffer.from(formToken), Buffer.from(form.get('formToken') ?? '')];
  if (known.length !== given.length || !timingSafeEqual(known, given)) return 403;
  const [closed, payment] = [form.get('close'), form.get('payment')];
  const done = closed ? book.close(closed) : book.decide(payment ?? '', form.get('order') || undefined);
  return done ? 303 : 409;
}

/** Logs a payment of which nobody can say yet whose it is. */
export function logHeld({ id, amount, currency, state }: Payment): void {
  if (state !== 'held') return;
  console.warn(`${id} paid ${amount} ${currency}. Nothing says which order it is: decide at /orders`);
}
