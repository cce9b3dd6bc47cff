// Polar: fetch with a time limit, no validation of answers.
import { createPolar } from '@polar-sh/sdk/2026-10';

export default function polar({ baseUrl }) {
  const client = createPolar({ accessToken: 'polar_oat_x', baseUrl: `${baseUrl}/polar` });
  const newProduct = {
    name: 'Walnut desk no. 1',
    description: 'A desk',
    prices: [],
    metadata: { sku: 'WD-000001' },
  };
  return {
    retrieve: async () => (await client.products.get('3fa85f64-5717-4562-b3fc-000001000001')).id,
    create: async () => (await client.products.create(newProduct)).id,
    list: async () => (await client.products.list({ limit: 100 })).items.length,
    iterate: async () => {
      let count = 0;
      for await (const product of client.products.iterList({ limit: 100 })) if (product.id) count++;
      return count;
    },
  };
}
