import type { PaymentsClient, Product } from 'merchant-payments';
import type { OrderBook } from './orders.ts';

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
  book: OrderBook,
  productId: string,
  shopUrl: string,
): Promise<string | undefined> {
  const products = await allProducts(payments);
  const product = products.find(({ id, metadata }) => id === productId && metadata.insteadOf === undefined);
  if (!product) return undefined;
  const order = book.open(product);
  try {
    const { id } = await productAt(payments, products, product, order.amount);
    const checkout = await payments.checkouts.create({
      productId: id,
      successUrl: `${shopUrl}/thanks/${order.id}?token=${order.token}`,
      cancelUrl: `${shopUrl}/`,
      displayMerchantName: 'North & Pine',
    });
    // Only `url` is guaranteed. What the checkout asks for is what counts, if a price was changed meanwhile.
    order.amount = checkout.amount ?? order.amount;
    order.expiresAt = checkout.expiresAt;
    return checkout.url;
  } catch (error) {
    book.drop(order); // nobody has the payment page's address
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
