// A worker that loads no http by itself: its calls, within what `trace` of the set-up makes its transaction.
import { PaymentsClient } from 'merchant-payments';

const payments = new PaymentsClient({ apiKey: 'key', baseUrl: process.env.SERVICE, maxRetries: 0 });
await globalThis.trace(async () => {
  await payments.balance.retrieve().catch(() => {});
  await payments.products.create({ name: 'Mug', price: '19.90' }).catch(() => {});
});
process.exit();
