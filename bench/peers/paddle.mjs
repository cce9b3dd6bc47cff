// Paddle: fetch without a time limit; every answer is copied into a class. An unknown environment is taken as its URL.
import { Paddle } from '@paddle/paddle-node-sdk';

export default function paddle({ baseUrl }) {
  const client = new Paddle('pdl_sdbx_x', { environment: `${baseUrl}/paddle` });
  const newProduct = {
    name: 'Walnut desk no. 1',
    taxCategory: 'standard',
    description: 'A desk',
    imageUrl: 'https://cdn.example.test/img/desk.jpg',
    customData: { sku: 'WD-000001' },
  };
  return {
    retrieve: async () => (await client.products.get('pro_01gsz4t5hdjse780zja8vv000001')).id,
    create: async () => (await client.products.create(newProduct)).id,
    list: async () => (await client.products.list({ perPage: 100 }).next()).length,
    iterate: async () => {
      let count = 0;
      for await (const product of client.products.list({ perPage: 100 })) if (product.id) count++;
      return count;
    },
  };
}
