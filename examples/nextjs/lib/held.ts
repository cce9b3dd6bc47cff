import { timingSafeEqual } from 'node:crypto';
import { isPaymentsError } from 'merchant-payments';
import { book, database, fulfil } from './orders.ts';

/** A person says which order a held payment was for. Returns whether that was possible. */
export function decide(paymentId: string, orderId: string): boolean {
  database.exec('BEGIN IMMEDIATE');
  try {
    fulfil(book.decide(paymentId, orderId, database));
    database.exec('COMMIT');
    return true;
  } catch (error) {
    database.exec('ROLLBACK');
    if (!isPaymentsError(error)) throw error;
    return false; // somebody else has decided meanwhile, say
  }
}

/** Without ORDERS_KEY in the environment nobody sees what is held. */
export function isOrdersKey(given: string): boolean {
  const [known, key] = [Buffer.from(process.env.ORDERS_KEY ?? ''), Buffer.from(given)];
  return known.length > 0 && known.length === key.length && timingSafeEqual(known, key);
}
