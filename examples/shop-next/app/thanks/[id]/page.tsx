import { notFound } from 'next/navigation';
import { orders } from '../../../lib/shop';

export const dynamic = 'force-dynamic';

interface Props {
  params: Promise<{ id: string }>;
  searchParams: Promise<{ token?: string | string[] }>;
}

/** The page that the customer sees after paying. Only the webhook makes it say "paid". */
export default async function Thanks({ params, searchParams }: Props) {
  const order = await orders.comeBack((await params).id, String((await searchParams).token));
  if (!order) notFound();
  const { id, name, amount, currency, paidAs } = order;
  return (
    <div className="order">
      {!paidAs && <meta httpEquiv="refresh" content="2" />}
      <p>Order {id}</p>
      <h1>{paidAs ? 'Thank you' : 'Almost there'}</h1>
      <p role="status">
        <span className={paidAs ? 'state paid' : 'state'}>
          {paidAs ? 'Paid' : 'Payment is being confirmed'}
        </span>
      </p>
      <p>
        {name}, {amount} {currency}
      </p>
    </div>
  );
}
