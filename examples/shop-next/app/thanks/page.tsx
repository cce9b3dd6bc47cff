import { orders } from '../../lib/orders';

export const dynamic = 'force-dynamic';

/** Anybody can open this address, so it only tells what the webhook has told us. */
export default function Thanks() {
  return (
    <main>
      <h1>Thank you</h1>
      <ul>
        {orders.map(({ name, amount, currency, paidAs }, index) => (
          <li key={index}>
            {name}, {amount} {currency}: {paidAs ? 'paid' : 'being confirmed'}
          </li>
        ))}
      </ul>
    </main>
  );
}
