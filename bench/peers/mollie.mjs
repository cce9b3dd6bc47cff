// Mollie: node-fetch 2 over an https.Agent without keep-alive, so every request opens a connection (in real life, with
// a TLS handshake). An https.Agent refuses http: URLs, so it is given an http.Agent here.
import http from 'node:http';
import https from 'node:https';
import { createRequire, syncBuiltinESMExports } from 'node:module';

const require = createRequire(import.meta.url);

export default function mollie({ baseUrl }) {
  https.Agent = class extends http.Agent {};
  syncBuiltinESMExports();
  const { createMollieClient } = require('@mollie/api-client');
  const client = createMollieClient({
    apiKey: 'test_0123456789012345678901234567890',
    apiEndpoint: `${baseUrl}/mollie/`,
  });
  const newPayment = {
    amount: { currency: 'EUR', value: '29.90' },
    description: 'Walnut desk no. 1',
    redirectUrl: 'https://shop.example.test/done',
    metadata: { sku: 'WD-000001' },
  };
  return {
    retrieve: async () => (await client.payments.get('tr_7UhSN1000001')).id,
    create: async () => (await client.payments.create(newPayment)).id,
    list: async () => (await client.payments.page({ limit: 100 })).length,
    iterate: async () => {
      let count = 0;
      for await (const payment of client.payments.iterate({ valuesPerMinute: Infinity })) {
        if (payment.id) count++;
      }
      return count;
    },
  };
}
