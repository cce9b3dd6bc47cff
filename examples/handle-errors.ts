/**
 * After an error one question matters: was it done?
 *
 *     npx merchant-payments exec -- npx tsx examples/handle-errors.ts
 */
import {
  AuthenticationError,
  InvalidParamsError,
  isPaymentsError,
  PaymentsClient,
  type Product,
} from 'merchant-payments';

const payments = new PaymentsClient(); // PAYMENTS_API_KEY and PAYMENTS_BASE_URL

async function createOnce(name: string, price: string): Promise<Product> {
  try {
    return await payments.products.create({ name, price, metadata: { sku: name } });
  } catch (error) {
    if (error instanceof InvalidParamsError)
      throw new Error(`Mend the form: ${JSON.stringify(error.issues)}`);
    if (error instanceof AuthenticationError) throw new Error('Look at PAYMENTS_API_KEY.');
    if (!isPaymentsError(error)) throw error;
    // not_sent, rejected: it was not done, and it is safe to try again when the cause is gone.
    if (error.outcome === 'not_sent' || error.outcome === 'rejected') throw error;
    // unknown, done: it may exist by now. There is no idempotency key, so look before sending it again.
    for await (const product of payments.products.list()) {
      if (product.metadata.sku === name) return product;
    }
    throw error;
  }
}

console.log((await createOnce('Handmade mug', '19.90')).id);
await createOnce('Handmade mug', '0.001').catch((error: Error) => console.log(error.message));
