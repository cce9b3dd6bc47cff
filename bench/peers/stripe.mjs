// Stripe: node:http with its own agent, no validation of answers. Its client takes no path prefix.
import Stripe from 'stripe';

export default function stripe({ baseUrl }) {
  const { hostname, port } = new URL(baseUrl);
  const client = new Stripe('sk_test_0123456789abcdef', { host: hostname, port, protocol: 'http' });
  const newProduct = {
    name: 'Walnut desk no. 1',
    description: 'A hand-finished walnut desk',
    images: ['https://cdn.example.test/img/desk.jpg'],
    metadata: { sku: 'WD-000001', campaign: 'spring-2026' },
  };
  return {
    retrieve: async () => (await client.products.retrieve('prod_QX000001')).id,
    create: async () => (await client.products.create(newProduct)).id,
    list: async () => (await client.products.list({ limit: 100 })).data.length,
    iterate: async () => {
      let count = 0;
      for await (const product of client.products.list({ limit: 100 })) if (product.id) count++;
      return count;
    },
  };
}
