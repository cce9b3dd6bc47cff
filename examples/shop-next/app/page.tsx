import { payments } from '../lib/payments';

export const dynamic = 'force-dynamic';

export default async function Shop() {
  const { items } = await payments().products.list({ status: 'ACTIVE' });
  return (
    <main>
      <h1>Shop</h1>
      {items.map(({ id, name, price, currency }) => (
        <form key={id} method="post" action="/api/checkout">
          <input type="hidden" name="productId" value={id} />
          {name} {price} {currency} <button type="submit">Buy</button>
        </form>
      ))}
    </main>
  );
}
