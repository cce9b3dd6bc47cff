// A write whose response is lost, on a connection that was used before: some runtimes send it again by themselves.
import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { PaymentsClient } from 'merchant-payments';

const created = [];
const server = createServer((socket) => {
  let text = '';
  socket.on('error', () => {});
  socket.on('data', (bytes) => {
    text += bytes;
    const [head, body = ''] = text.split('\r\n\r\n');
    if (body.length < Number(/content-length: (\d+)/i.exec(head)?.[1] ?? Number.POSITIVE_INFINITY)) return;
    text = '';
    const { name, price } = JSON.parse(body);
    created.push(name);
    if (created.length > 1) return socket.destroy();
    const at = { createdAt: 1767225600000, updatedAt: 1767225600000 };
    const data = { id: 'prod_1', name, price, currency: 'USD', status: 'ACTIVE', metadata: {}, ...at };
    const json = JSON.stringify({ code: 0, message: 'success', data });
    socket.write(
      `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${json.length}\r\n\r\n${json}`,
    );
  });
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));

const baseUrl = `http://127.0.0.1:${server.address().port}`;
const payments = new PaymentsClient({ apiKey: 'service_test_lost', baseUrl });
await payments.products.create({ name: 'first', price: '1.00' });
await assert.rejects(payments.products.create({ name: 'second', price: '1.00' }), {
  name: 'ConnectionError',
  outcome: 'unknown',
});
assert.deepEqual(created, ['first', 'second']);
server.close();
process.exit(0);
