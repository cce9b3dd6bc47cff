/**
 * After an error one question matters: was it done?
 *
 *     npx merchant-payments exec -- node handle-errors.ts     (Node 20: npx tsx handle-errors.ts)
 */
import {
  AuthenticationError,
  InvalidParamsError,
  isPaymentsError,
  PaymentsClient,
  type Product,
} from 'merchant-payments';

const payments = new PaymentsClient(); // PAYMENTS_API_KEY and PAYMENTS_BASE_URL

async function createOnce(sku: string, params: { name: string; price: string }): Promise<Product> {
  const known = await find(sku);
  if (known) return known;
  try {
    return await payments.products.create({ ...params, metadata: { sku } });
  } catch (error) {
    if (error instanceof InvalidParamsError)
      throw new Error(`Fix the form: ${error.issues.map(({ message }) => message).join(' ')}`);
    if (error instanceof AuthenticationError) throw new Error('Check PAYMENTS_API_KEY.');
    if (!isPaymentsError(error)) throw error;
    // not_sent, rejected: it was not done. Fix the cause, then retry.
    if (error.outcome === 'not_sent' || error.outcome === 'rejected') throw error;
    // unknown, done: it may exist now. There is no idempotency key, so look before you send it again.
    const created = await find(sku);
    if (created) return created;
    throw error;
  }
}

async function find(sku: string): Promise<Product | undefined> {
  for await (const product of payments.products.list()) if (product.metadata.sku === sku) return product;
  return undefined;
}

console.log((await createOnce('mug', { name: 'Handmade mug', price: '19.90' })).id);
await createOnce('cup', { name: 'Cup', price: '0.001' }).catch((error: unknown) => {
  console.log(error instanceof Error ? error.message : error);
});
