// Lemon Squeezy: fetch, to a fixed host, so it is led here. It creates no products and has no iteration.
import { getProduct, lemonSqueezySetup, listProducts } from '@lemonsqueezy/lemonsqueezy.js';

export default function lemonSqueezy({ baseUrl }) {
  const { fetch } = globalThis;
  const host = 'https://api.lemonsqueezy.com';
  globalThis.fetch = (url, init) => fetch(`${baseUrl}/lemon${url.slice(host.length)}`, init);
  lemonSqueezySetup({ apiKey: 'x' });
  return {
    retrieve: async () => (await getProduct(1)).data.data.id,
    list: async () => (await listProducts({ page: { number: 1, size: 100 } })).data.data.length,
  };
}
