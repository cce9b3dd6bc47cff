// Node's fetch takes a while to load. A program that makes no call never loads it: ky, which does, waits for the first.
import assert from 'node:assert/strict';
import { PaymentsClient } from 'merchant-payments';
import { start } from './service.mjs';

const { baseUrl, stop } = await start();
const hasFetch = () => process.moduleLoadList.includes('NativeModule internal/deps/undici/undici');

const client = new PaymentsClient({ apiKey: 'key', baseUrl });
assert.equal(hasFetch(), false);
assert.equal((await client.balance.retrieve()).available, '1.00');
stop();
