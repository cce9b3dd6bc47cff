// The service as far as these checks need it: every request is answered with one balance.
import { once } from 'node:events';

const amounts = {
  available: '1.00',
  pending: '0.00',
  frozen: '0.00',
  currency: 'USD',
  updatedAt: 1767225600000,
};

/** The body of an answer. */
export const balance = JSON.stringify({ code: 0, message: 'success', data: amounts });

/** Starts the service on loopback. Not from `node:http` as a module, which loads Node's fetch. */
export async function start() {
  const server = process.getBuiltinModule('node:http').createServer((_request, response) => {
    response.end(balance);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    baseUrl: `http://127.0.0.1:${server.address().port}`,
    stop() {
      server.close();
      server.closeAllConnections();
    },
  };
}
