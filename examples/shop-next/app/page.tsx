import { catalogue } from '../../shop/buy.ts';
import { payments } from '../lib/shop';

export const dynamic = 'force-dynamic';

export default async function Shop() {
  const items = await catalogue(payments());
  if (items.length === 0)
    return (
      <>
        <h1>The shelves are empty</h1>
        <p>
          Run <code>stock-the-shop.ts</code> with the same PAYMENTS_API_KEY, then reload this page.
        </p>
      </>
    );
  return (
    <>
      <h1>Good things</h1>
      <div className="goods">
        {items.map(({ id, name, description, image, price, currency }) => (
          <article key={id}>
            {image && <img src={image} alt="" />}
            <div>
              <h2>{name}</h2>
              <p>{description}</p>
              <form method="post" action={`/api/checkout?${new URLSearchParams({ productId: id })}`}>
                <span>
                  {price} {currency}
                </span>
                <button type="submit">Buy</button>
              </form>
            </div>
          </article>
        ))}
      </div>
    </>
  );
}
