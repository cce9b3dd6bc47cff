// A GET, and a POST on the same connection to a host that vanishes once it has read it. Prints what the POST gave.

import { Agent } from 'node:http';
import { PaymentsClient } from 'merchant-payments';
import nodeFetch from 'node-fetch';
import { fetch as undiciFetch } from 'undici';

const [baseUrl, carrier] = process.argv.slice(2);
const agent = new Agent({ keepAlive: true });
const fetches = {
  'node:http': undefined,
  undici: undiciFetch,
  'node-fetch': (url, init) => nodeFetch(url, { ...init, agent }),
};
const client = new PaymentsClient({
  apiKey: 'key',
  baseUrl,
  allowInsecureHttp: true,
  fetch: fetches[carrier],
});
await client.balance.retrieve();
// By then the server's way back is closed.
await new Promise((resolve) => setTimeout(resolve, 1_000));
const error = await client.checkouts.create({ productId: 'prod_1' }).catch((reason) => reason);
const { phase, reason, outcome, attempts } = error;
process.stdout.write(`${phase} ${reason} ${outcome} ${attempts}`);
process.exit();
