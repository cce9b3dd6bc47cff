// 5,000 calls share one signal: no listener is left over, and no warning comes.
import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { PaymentsClient } from 'merchant-payments';
import { start } from './service.mjs';

const { baseUrl, stop } = await start();
const warnings = [];
process.on('warning', (warning) => warnings.push(String(warning)));
const client = new PaymentsClient({ apiKey: 'key', baseUrl });
const { signal } = new AbortController();
for (let round = 0; round < 50; round++) {
  await Promise.all(Array.from({ length: 100 }, () => client.balance.retrieve({ signal })));
}
await new Promise((resolve) => setImmediate(resolve));
assert.deepEqual(getEventListeners(signal, 'abort'), []);
assert.deepEqual(warnings, []);
stop();
