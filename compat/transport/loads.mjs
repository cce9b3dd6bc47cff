// The first call loads ky and `node:http`, and nothing of Node's fetch; with the option `fetch` it does.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { PaymentsClient } from 'merchant-payments';

const amounts = {
  available: '1.00',
  pending: '0.00',
  frozen: '0.00',
  currency: 'USD',
  updatedAt: 1767225600000,
};
// As a module, `node:http` would load it.
const server = process
  .getBuiltinModule('node:http')
  .createServer((_request, response) => {
    response.end(JSON.stringify({ code: 0, message: 'success', data: amounts }));
  })
  .listen(0, '127.0.0.1');
await once(server, 'listening');
const options = { apiKey: 'key', baseUrl: `http://127.0.0.1:${server.address().port}` };
const hasFetch = () => process.moduleLoadList.includes('NativeModule internal/deps/undici/undici');

assert.equal((await new PaymentsClient(options).balance.retrieve()).available, '1.00');
assert.equal(hasFetch(), false);
const client = new PaymentsClient({ ...options, fetch: (input, init) => fetch(input, init) });
assert.equal((await client.balance.retrieve()).available, '1.00');
assert.equal(hasFetch(), true);
server.close();
server.closeAllConnections();
