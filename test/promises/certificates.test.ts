import { expect, test } from 'vitest';
import { succeeds } from '../helpers/bodies.js';
import { Authority } from '../helpers/certificate.js';
import { children } from '../helpers/child.js';
import { FaultyServer } from '../helpers/faulty-server.js';

const child = children();
const program = (baseUrl: string) => `
const { PaymentsClient } = await import(entry);
const payments = new PaymentsClient({ apiKey: 'key', baseUrl: ${JSON.stringify(baseUrl)} });
const { outcome, reason } = await payments.products.create({ name: 'Mug', price: '5' }).catch((error) => error);
console.log(JSON.stringify({ outcome, reason }));
`;

test.each(['0', '1'])('with NODE_TLS_REJECT_UNAUTHORIZED=%s no stranger gets the key', async (value) => {
  const server = await FaultyServer.start(succeeds, { identity: new Authority('localhost').identity });
  const env = { NODE_TLS_REJECT_UNAUTHORIZED: value, NODE_NO_WARNINGS: '1' };
  const ended = await child.run(program(`https://localhost:${server.port}`), { env });
  expect(ended).toEqual({ outcome: 'not_sent', reason: 'DEPTH_ZERO_SELF_SIGNED_CERT' });
  expect(server.requests).toEqual([]);
  await server.close();
});
