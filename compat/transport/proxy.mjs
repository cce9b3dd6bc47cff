// The option `fetch` with undici's ProxyAgent: a GET and a POST through a tunnel, a write whose tunnel is refused, and
// node-fetch beside it. The proxy and the service are this process's own.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { Agent, createServer as createSecureServer } from 'node:https';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PaymentsClient } from 'merchant-payments';
import nodeFetch from 'node-fetch';
import { ProxyAgent, fetch as undiciFetch } from 'undici';
import { balance } from './service.mjs';

const url = 'https://pay.example/checkout/chk_1';
const created = JSON.stringify({ code: 0, message: 'success', data: { url } });
const requests = [];
const tunnels = [];

const files = mkdtempSync(join(tmpdir(), 'merchant-payments-proxy-'));
const [key, certificate] = ['key.pem', 'certificate.pem'].map((name) => join(files, name));
const request =
  'req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1';
execFileSync('openssl', [...request.split(' '), '-keyout', key, '-out', certificate], { stdio: 'ignore' });
const ca = readFileSync(certificate);

const service = createSecureServer({ key: readFileSync(key), cert: ca }, async (incoming, response) => {
  let body = '';
  for await (const chunk of incoming) body += chunk;
  requests.push(`${incoming.method} ${incoming.url} ${body}`.trim());
  response.end(incoming.method === 'GET' ? balance : created);
});
const proxy = createServer();
proxy.on('connect', ({ url: address }, socket) => {
  tunnels.push(address);
  const [host, port] = address.split(':');
  if (host !== '127.0.0.1') {
    socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n');
    return;
  }
  const upstream = connect(Number(port), host, () => {
    socket.write('HTTP/1.1 200 Connection Established\r\n\r\n');
    upstream.pipe(socket).pipe(upstream);
  });
  for (const end of [upstream, socket]) end.on('error', () => {});
});
for (const server of [service, proxy]) await once(server.listen(0, '127.0.0.1'), 'listening');
const addressOf = (server) => `127.0.0.1:${server.address().port}`;
rmSync(files, { recursive: true });

const client = (fetch, baseUrl = `https://${addressOf(service)}`) =>
  new PaymentsClient({ apiKey: 'key', baseUrl, maxRetries: 0, fetch });
const arrived = ['GET /v1/balance', 'POST /v1/checkouts {"productId":"prod_1"}'];

async function works(payments) {
  assert.equal((await payments.balance.retrieve()).available, '1.00');
  assert.equal((await payments.checkouts.create({ productId: 'prod_1' })).url, url);
  assert.deepEqual(requests.splice(0), arrived);
}

const dispatcher = new ProxyAgent({ uri: `http://${addressOf(proxy)}`, requestTls: { ca } });
const fetchThroughProxy = (address, init) => undiciFetch(address, { ...init, dispatcher });
await works(client(fetchThroughProxy));
assert.deepEqual([...new Set(tunnels.splice(0))], [addressOf(service)]);

const refused = client(fetchThroughProxy, 'https://payments.invalid').checkouts.create({
  productId: 'prod_1',
});
// undici gives it the code of any request that was aborted, so whether it was sent is not known.
await assert.rejects(refused, { name: 'ConnectionError', reason: 'UND_ERR_ABORTED', attempts: 1 });
assert.deepEqual(tunnels, ['payments.invalid:443']);

const agent = new Agent({ ca });
await works(client((address, init) => nodeFetch(address, { ...init, agent })));

await dispatcher.close();
agent.destroy();
for (const server of [service, proxy]) {
  server.close();
  server.closeAllConnections();
}
