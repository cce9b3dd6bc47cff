import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { test } from 'node:test';
import { createEmulator } from 'emulate';
import { PaymentsClient } from 'merchant-payments';
import { nodeHandler } from 'merchant-payments/webhooks';

test('emulate runs the sandbox: a payment reaches the receiver, and a snapshot brings the data back', async () => {
  const paid: string[] = [];
  const on = { 'order.paid': ({ data }: { data: { amount: string } }) => void paid.push(data.amount) };
  const receiver = createServer(nodeHandler({ secret: 'whsec_emulate', on })).listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  const address = receiver.address();
  assert.ok(address && typeof address === 'object');
  process.env.PAYMENTS_WEBHOOK_URL = `http://127.0.0.1:${address.port}/`;
  const { payments } = await import('../.examples/testing/emulate.ts');
  const emulator = await createEmulator({ service: payments, port: 0 });
  try {
    const client = new PaymentsClient({ apiKey: 'service_test_emulate', baseUrl: emulator.url });
    const product = await client.products.create({ name: 'Mug', price: '19.90' });
    const { url } = await client.checkouts.create({ productId: product.id });
    assert.ok(url.startsWith(emulator.url), `${url} is a page of another address`);
    const beforePayment = emulator.snapshot();

    const page = await (await fetch(url)).text();
    const [, action = ''] = /action="([^"]+\/pay)"/.exec(page) ?? [];
    const [, token = ''] = /name="token" value="([^"]+)"/.exec(page) ?? [];
    await fetch(new URL(action, url), {
      method: 'POST',
      body: new URLSearchParams({ token, method: 'card', card: '1111' }),
      headers: { origin: new URL(url).origin },
      redirect: 'manual',
    });
    for (const end = Date.now() + 10_000; paid.length === 0 && Date.now() < end; )
      await new Promise((resolve) => setTimeout(resolve, 20));
    assert.deepEqual(paid, ['19.90']);
    assert.equal((await client.balance.retrieve()).pending, '19.90');

    await emulator.restore(beforePayment);
    assert.equal((await client.balance.retrieve()).pending, '0.00');
    const { items } = await client.products.list();
    assert.deepEqual(
      items.map(({ id }) => id),
      [product.id],
    );
  } finally {
    await emulator.close();
    receiver.close();
  }
});
