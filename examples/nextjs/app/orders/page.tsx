import { notFound } from 'next/navigation';
import { isOrdersKey, review } from '../../lib/held.ts';

/** `/orders?key=…` shows the payments that a person has to decide on. In a real shop it is behind a login. */
export default async function Orders({
  searchParams,
}: {
  searchParams: Promise<{ key?: string | string[] }>;
}) {
  const key = String((await searchParams).key);
  if (!isOrdersKey(key)) notFound();
  return (
    <>
      <h1>Payments held: which order was it?</h1>
      {review().held.map(({ payment, candidates }) => (
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
    </>
  );
}
