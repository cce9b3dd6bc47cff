import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { check, run } from '../check.mjs';
import { reasonToSkip, withCable } from './namespaces.mjs';
import { balance } from './service.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const nodeOf = (version) => join(dirname(here), `node_modules/node-${version}/bin/node`);

for (const version of [20, 22, 24, 26]) {
  await check(`Node ${version}: one signal for 5,000 calls`, () =>
    run(nodeOf(version), ['--throw-deprecation', join(here, 'signal.mjs')]),
  );
  await check(`Node ${version}: nothing loads Node's fetch before the first call`, () =>
    run(nodeOf(version), [join(here, 'loads.mjs')]),
  );
  await check(`Node ${version}: through a proxy with undici's fetch, and node-fetch`, () =>
    run(nodeOf(version), [join(here, 'proxy.mjs')]),
  );
}
for (const version of [22, 24, 26]) {
  await check(`Node ${version}: NODE_USE_ENV_PROXY, to http`, () =>
    callThroughProxy(version, 'http://payments.invalid', '1.00', 'GET http://payments.invalid/v1/balance'),
  );
  await check(`Node ${version}: NODE_USE_ENV_PROXY, to https through a proxy that refuses`, () =>
    callThroughProxy(
      version,
      'https://payments.invalid',
      'GET /v1/balance was not sent: the proxy PROXY refused the tunnel (407).',
      'CONNECT payments.invalid:443',
    ),
  );
  await check(`Node ${version}: NODE_USE_ENV_PROXY, with a proxy that is gone`, async () => {
    const env = { NODE_USE_ENV_PROXY: '1', HTTPS_PROXY: 'http://127.0.0.1:9' };
    const files = [join(here, 'balance.mjs'), 'https://payments.invalid'];
    const { stdout } = await promisify(execFile)(nodeOf(version), files, { env });
    assert.equal(
      stdout,
      'GET /v1/balance was not sent: the proxy 127.0.0.1:9 could not be reached (ECONNREFUSED).',
    );
  });
}

const reason = reasonToSkip();
for (const carrier of ['node:http', 'undici', 'node-fetch']) {
  const name = `a host that vanishes after it read a POST, over ${carrier}`;
  if (reason) console.log(`  NOT RUN ${name}: it needs network namespaces (root, iproute2): ${reason}`);
  else await check(name, () => withCable((cable) => vanishes(cable, carrier)));
}

/** A POST whose host is gone may have been done: it is sent once, whatever the system calls the failure. */
async function vanishes({ addresses: [here, there], links: [, link], start }, carrier) {
  const file = (name) => join(dirname(fileURLToPath(import.meta.url)), name);
  const read = [];
  const server = start(1, nodeOf(24), [file('vanishing.mjs'), there, '8080', here, link]);
  server.stdout.on('data', (lines) => read.push(...String(lines).trim().split('\n')));
  await once(server.stdout, 'data');
  const client = start(0, nodeOf(24), [file('vanished.mjs'), `http://${there}:8080`, carrier]);
  let result = '';
  client.stdout.on('data', (text) => {
    result += text;
  });
  await once(client, 'close');
  assert.deepEqual(read, ['listening', 'GET', 'POST']);
  assert.equal(result, 'exchange EHOSTUNREACH unknown 1');
}

/** Calls through a proxy of this process, and compares what the call gave and what the proxy saw. */
async function callThroughProxy(version, baseUrl, expected, request) {
  const seen = [];
  const proxy = createServer(({ method, url }, response) => {
    seen.push(`${method} ${url}`);
    response.end(balance);
  });
  proxy.on('connect', ({ url }, socket) => {
    seen.push(`CONNECT ${url}`);
    socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n');
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  try {
    const address = `http://127.0.0.1:${proxy.address().port}`;
    const env = { NODE_USE_ENV_PROXY: '1', HTTP_PROXY: address, HTTPS_PROXY: address };
    const files = [join(here, 'balance.mjs'), baseUrl];
    const { stdout } = await promisify(execFile)(nodeOf(version), files, { env });
    assert.equal(stdout.replace(new URL(address).host, 'PROXY'), expected);
    assert.deepEqual(seen, [request]);
  } finally {
    proxy.closeAllConnections();
    proxy.close();
  }
}
