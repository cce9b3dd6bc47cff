// 5,000 calls share one signal: no listener is left over, and no warning comes.
import assert from 'node:assert/strict';
import { getEventListeners, once } from 'node:events';
import { createServer } from 'node:http';
import { PaymentsClient } from 'merchant-payments';

const amounts = {
  available: '1.00',
  pending: '0.00',
  frozen: '0.00',
  currency: 'USD',
  updatedAt: 1767225600000,
};
const server = createServer((_request, response) => {
  response.end(JSON.stringify({ code: 0, message: 'success', data: amounts }));
}).listen(0, '127.0.0.1');
await once(server, 'listening');

const warnings = [];
process.on('warning', (warning) => warnings.push(String(warning)));
const client = new PaymentsClient({ apiKey: 'key', baseUrl: `http://127.0.0.1:${server.address().port}` });
const { signal } = new AbortController();
for (let round = 0; round < 50; round++) {
  await Promise.all(Array.from({ length: 100 }, () => client.balance.retrieve({ signal })));
}
await new Promise((resolve) => setImmediate(resolve));
assert.deepEqual(getEventListeners(signal, 'abort'), []);
assert.deepEqual(warnings, []);
server.close();
server.closeAllConnections();
