import { notFound } from 'next/navigation';
import { isOrdersKey } from '../../lib/held.ts';
import { book } from '../../lib/orders.ts';

/** `/orders?key=…` shows the payments that a person has to decide on. In a real shop it is behind a login. */
export default async function Orders({
  searchParams,
}: {
  searchParams: Promise<{ key?: string | string[] }>;
}) {
  const key = String((await searchParams).key);
  if (!isOrdersKey(key)) notFound();
  const [held, overdue] = [await book.held(), await book.overdue()];
  return (
    <>
      <h1>Payments held: which order was it?</h1>
      {held.map(({ payment, candidates }) => (
        <form key={payment.id} action={`/orders/decide?${new URLSearchParams({ key })}`} method="post">
          <p>
            {payment.id}: {payment.amount} {payment.currency}
          </p>
          <input type="hidden" name="payment" value={payment.id} />
          {candidates.map(({ id }) => (
            <button key={id} type="submit" name="order" value={id}>
              it is order {id}
            </button>
          ))}
        </form>
      ))}
      <h1>Customers back, and no payment: was a webhook lost?</h1>
      {overdue.map(({ id, amount, currency }) => (
        <p key={id}>
          {id}: {amount} {currency}
        </p>
      ))}
    </>
  );
}
