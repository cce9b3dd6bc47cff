import type { PaymentsClient } from 'merchant-payments';

const goods = [
  {
    sku: 'mug',
    name: 'Handmade mug',
    description: 'Stoneware, glazed by hand in small batches. Holds 300 ml.',
    price: '19.90',
  },
  {
    sku: 'book',
    name: 'Field guide to slow mornings',
    description: 'Ninety-six pages, thread-sewn, with woodcuts.',
    price: '34.00',
  },
  {
    sku: 'candle',
    name: 'Forest candle',
    description: 'Spruce and cedar in a glass that lives on as a tumbler.',
    price: '27.50',
  },
];

/** Creates the goods that the catalogue does not have yet, so that a restart creates nothing twice. */
export async function stock(payments: PaymentsClient, shopUrl: string): Promise<void> {
  const known = new Set<string | undefined>();
  for await (const { metadata } of payments.products.list({ size: 100 })) known.add(metadata.sku);
  for (const { sku, ...product } of goods) {
    if (known.has(sku)) continue;
    await payments.products.create({
      ...product,
      image: `${shopUrl}/pictures/${sku}.svg`,
      metadata: { sku },
    });
  }
}
