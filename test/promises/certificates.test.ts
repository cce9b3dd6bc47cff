import { expect, test } from 'vitest';
import { succeed } from '../helpers/bodies.js';
import { Authority } from '../helpers/certificate.js';
import { children } from '../helpers/child.js';
import { FaultyServer } from '../helpers/faulty-server.js';

const child = children();
const program = (baseUrl: string) => `
const { PaymentsClient } = await import(entry);
const payments = new PaymentsClient({ apiKey: 'key', baseUrl: ${JSON.stringify(baseUrl)} });
const { outcome, reason, message } = await payments.products.create({ name: 'Mug', price: '5' }).catch((error) => error);
console.log(JSON.stringify({ outcome, reason, isSaid: message.includes('NODE_TLS_REJECT_UNAUTHORIZED=0 is ignored') }));
`;

test.each(['0', '1'])('with NODE_TLS_REJECT_UNAUTHORIZED=%s no stranger gets the key', async (value) => {
  const server = await FaultyServer.start(succeed, { identity: new Authority('localhost').identity });
  const env = { NODE_TLS_REJECT_UNAUTHORIZED: value, NODE_NO_WARNINGS: '1' };
  const ended = await child.run(program(`https://localhost:${server.port}`), { env });
  expect(ended).toEqual({
    outcome: 'not_sent',
    reason: 'DEPTH_ZERO_SELF_SIGNED_CERT',
    isSaid: value === '0',
  });
  expect(server.requests).toEqual([]);
  await server.close();
});

test('an authority that the program gave to the global agent is trusted', async () => {
  const authority = new Authority('shop');
  const server = await FaultyServer.start(succeed, { identity: authority.issue('localhost') });
  const trusting = `
const { default: https } = await import('node:https');
https.globalAgent.options.ca = ${JSON.stringify(authority.identity.cert)};
const { PaymentsClient } = await import(entry);
const payments = new PaymentsClient({ apiKey: 'key', baseUrl: 'https://localhost:${server.port}' });
const end = await payments.products.create({ name: 'Mug', price: '5' }).then(() => 'created', String);
console.log(JSON.stringify({ end }));
`;
  expect(await child.run(trusting)).toEqual({ end: 'created' });
  await server.close();
});
