// The service's API without a client: what the runtime, fetch and ky cost by themselves. Nothing is checked, nothing
// is retried, nothing is timed.
import { newProduct } from '../lib/answers.mjs';

const headers = {
  'x-api-key': 'service_test_0123456789abcdef',
  accept: 'application/json',
  'user-agent': 'bench/1.0.0',
};
const jsonHeaders = { ...headers, 'content-type': 'application/json' };

/** The operations over `send(method, path, text?)`, which resolves to the parsed envelope. */
function operations(send) {
  const page = async (number) => (await send('GET', `/service/v1/products?page=${number}&size=100`)).data;
  return {
    retrieve: async () => (await send('GET', '/service/v1/checkouts/chk_01JH8ZQ4X9VT3M5B7N2C')).data.id,
    create: async () => (await send('POST', '/service/v1/products', JSON.stringify(newProduct))).data.id,
    list: async () => (await page(1)).items.length,
    iterate: async () => {
      let count = 0;
      for (let number = 1, last = 1; number <= last; number++) {
        const { items, pagination } = await page(number);
        last = pagination.totalPages;
        for (const product of items) if (product.id) count++;
      }
      return count;
    },
  };
}

export default {
  async 'node-http'({ baseUrl }) {
    // This loads `node:http` as the client does, because an import of the module would load all of fetch.
    const http = process.getBuiltinModule('node:http');
    const { hostname, port } = new URL(baseUrl);
    const agent = new http.Agent({ keepAlive: true });
    return operations(
      (method, path, body) =>
        new Promise((resolve, reject) => {
          const own = body ? { ...jsonHeaders, 'content-length': Buffer.byteLength(body) } : headers;
          const request = http.request({ agent, hostname, port, path, method, headers: own }, (response) => {
            let text = '';
            response.setEncoding('utf8');
            response.on('data', (chunk) => {
              text += chunk;
            });
            response.on('error', reject);
            response.on('end', () => resolve(JSON.parse(text)));
          });
          request.on('error', reject);
          request.end(body);
        }),
    );
  },

  fetch({ baseUrl }) {
    return operations(async (method, path, body) => {
      const response = await fetch(baseUrl + path, { method, headers: body ? jsonHeaders : headers, body });
      return response.json();
    });
  },

  async ky({ baseUrl }) {
    const { default: ky } = await import('ky');
    const api = ky.create({ prefix: baseUrl });
    return operations((method, path, body) =>
      api(path.slice(1), { method, headers: body ? jsonHeaders : headers, body }).json(),
    );
  },
};
