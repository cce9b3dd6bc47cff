// The floor: node:http with the least that a stateful double of the service has to do.
import { createServer } from 'node:http';
import { serve } from './served.mjs';

const apiKey = 'service_test_bench';
const products = new Map();
const server = createServer((request, response) => {
  const answer = (status, body) => {
    const text = JSON.stringify(body);
    response.writeHead(status, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(text),
    });
    response.end(text);
  };
  if (request.headers['x-api-key'] !== apiKey) return answer(401, { code: 401, message: 'Unauthorized' });
  if (request.method === 'POST') {
    let text = '';
    request.setEncoding('utf8').on('data', (chunk) => {
      text += chunk;
    });
    request.on('end', () => answer(200, envelope(create(JSON.parse(text)))));
  } else if (request.url === '/v1/balance') answer(200, envelope(balance()));
  else answer(200, envelope(list()));
});
server.listen(0, '127.0.0.1', () =>
  serve({
    port: server.address().port,
    apiKey,
    fill: (count) => {
      products.clear();
      for (let index = 0; index < count; index++) create({ name: `No ${index}`, price: '5.00' });
    },
  }),
);

const envelope = (data) => ({ code: 0, message: 'success', data });

function create({ name, price, currency = 'USD' }) {
  if (typeof name !== 'string' || !/^\d+(\.\d{1,2})?$/.test(price)) throw new Error('bad product');
  const now = Date.now();
  const id = `prod_${String(products.size).padStart(20, '0')}`;
  const product = {
    id,
    name,
    image: null,
    price,
    currency,
    status: 'ACTIVE',
    metadata: {},
    createdAt: now,
    updatedAt: now,
  };
  products.set(id, product);
  return product;
}

function list() {
  const items = [...products.values()].slice(-20).map((product) => ({
    ...product,
    price: Number(product.price),
    createdAt: new Date(product.createdAt).toISOString(),
    updatedAt: new Date(product.updatedAt).toISOString(),
  }));
  return {
    items,
    pagination: { page: 1, size: 20, total: products.size, totalPages: Math.ceil(products.size / 20) },
  };
}

const balance = () => ({
  available: '0.00',
  pending: '0.00',
  frozen: '0.00',
  currency: 'USD',
  updatedAt: Date.now(),
});
