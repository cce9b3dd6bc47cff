// merchant-payments as it is published: from dist/, or from another build's (`build:/path/to/dist`).
import { newProduct } from '../lib/answers.mjs';

export function peerOf({ PaymentsClient }, { baseUrl }, options = {}) {
  const payments = new PaymentsClient({
    apiKey: 'service_test_0123456789abcdef',
    baseUrl: `${baseUrl}/service`,
  });
  return {
    retrieve: async () => (await payments.checkouts.retrieve('chk_01JH8ZQ4X9VT3M5B7N2C')).id,
    create: async () => (await payments.products.create(newProduct)).id,
    list: async () => (await payments.products.list({ size: 100 })).items.length,
    iterate: async () => {
      let count = 0;
      for await (const product of payments.products.list({ size: 100 }, options)) if (product.id) count++;
      return count;
    },
  };
}

const built = await import('../../dist/index.js');
const ours = (settings) => peerOf(built, settings);
const prefetching = (prefetch) => (settings) => peerOf(built, settings, { prefetch });

export default Object.assign(ours, {
  'prefetch-2': prefetching(2),
  'prefetch-4': prefetching(4),
  'prefetch-8': prefetching(8),
});
