import type { PaymentsClient, Product } from 'merchant-payments';
import type { Orders } from './orders.ts';

/** Lists the products on the shelves, without their copies a cent cheaper: see `productAt`. */
export async function catalogue(payments: PaymentsClient): Promise<Product[]> {
  return (await allProducts(payments)).filter(({ metadata }) => metadata.insteadOf === undefined);
}

/**
 * Creates a checkout and the order that its customer comes back to. Returns the payment page's address, or
 * `undefined` where there is no such product.
 */
export async function buy(
  payments: PaymentsClient,
  orders: Orders,
  productId: string,
  shopUrl: string,
): Promise<string | undefined> {
  const products = await allProducts(payments);
  const product = products.find(({ id, metadata }) => id === productId && metadata.insteadOf === undefined);
  if (!product) return undefined;
  const { name, price, currency } = product;
  const { id, token } = orders.add(name);
  try {
    const { amount } = await orders.book.reserve({ id, price, currency });
    if (amount === null) throw new Error(`Many are buying ${name}: no amount near ${price} is free.`);
    const checkout = await payments.checkouts.create({
      productId: (await productAt(payments, products, product, amount)).id,
      successUrl: `${shopUrl}/thanks/${id}?token=${token}`,
      cancelUrl: `${shopUrl}/`,
      displayMerchantName: 'North & Pine',
    });
    // Only `url` is guaranteed. What the checkout asks for is what counts, if a price was changed meanwhile.
    await orders.book.open(id, { expiresAt: checkout.expiresAt, amount: checkout.amount });
    return checkout.url;
  } catch (error) {
    await orders.drop(id); // nobody has the payment page's address
    throw error;
  }
}

/** The product at this price: itself, or one that was made for an order before, or a new one. */
async function productAt(
  payments: PaymentsClient,
  products: readonly Product[],
  { id, name, price, currency, description, image }: Product,
  amount: string,
): Promise<{ id: string }> {
  if (amount === price) return { id };
  const made = products.find(
    (one) =>
      one.metadata.insteadOf === id && one.price === amount && one.name === name && one.currency === currency,
  );
  const texts = { ...(description && { description }), ...(image && { image }) };
  return (
    made ?? payments.products.create({ name, price: amount, currency, ...texts, metadata: { insteadOf: id } })
  );
}

async function allProducts(payments: PaymentsClient): Promise<Product[]> {
  const products: Product[] = [];
  for await (const product of payments.products.list({ status: 'ACTIVE', size: 100 })) products.push(product);
  return products;
}
