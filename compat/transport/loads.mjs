// The first call loads ky and `node:http`, and nothing of Node's fetch; with the option `fetch` it does.
import assert from 'node:assert/strict';
import { PaymentsClient } from 'merchant-payments';
import { start } from './service.mjs';

const { baseUrl, stop } = await start();
const hasFetch = () => process.moduleLoadList.includes('NativeModule internal/deps/undici/undici');
const options = { apiKey: 'key', baseUrl };

assert.equal((await new PaymentsClient(options).balance.retrieve()).available, '1.00');
assert.equal(hasFetch(), false);
const client = new PaymentsClient({ ...options, fetch: (input, init) => fetch(input, init) });
assert.equal((await client.balance.retrieve()).available, '1.00');
assert.equal(hasFetch(), true);
stop();
