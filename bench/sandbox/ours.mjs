// The sandbox over HTTP, as the command serves it.
import { createSandbox } from '../../dist/sandbox.js';
import { serve } from './served.mjs';

const sandbox = await createSandbox().listen();
const headers = { 'x-api-key': sandbox.apiKey, 'content-type': 'application/json' };
serve({
  port: Number(new URL(sandbox.url).port),
  apiKey: sandbox.apiKey,
  fill: async (count) => {
    sandbox.reset();
    for (let index = 0; index < count; index++) {
      const body = JSON.stringify({ name: `No ${index}`, price: '5.00' });
      await sandbox.fetch('/v1/products', { method: 'POST', headers, body });
    }
  },
});
