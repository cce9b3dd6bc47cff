/** A merchant's own test: the shop's code against the sandbox, without a port and without waiting. */
import { PaymentsClient, webhooks } from 'merchant-payments';
import { createSandbox } from 'merchant-payments/sandbox';
import { expect, test } from 'vitest';

const secret = 'whsec_of_this_test';
const paid: string[] = [];

/** The shop's webhook route, as Next.js, Hono and other frameworks know it. */
async function POST(request: Request): Promise<Response> {
  const event = webhooks.verify({ rawBody: await request.arrayBuffer(), headers: request.headers, secret });
  if (event.type === 'order.paid') paid.push(event.data.order_id);
  return new Response();
}

test('a paid checkout reaches the shop', async () => {
  const sandbox = createSandbox({ webhook: POST, webhookSecret: secret });
  const payments = new PaymentsClient(sandbox.clientOptions);
  const product = await payments.products.create({ name: 'Handmade mug', price: '19.90' });
  const { url } = await payments.checkouts.create({ productId: product.id });

  const { order, delivery } = await sandbox.completeCheckout(url);

  expect(delivery).toMatchObject({ ok: true, status: 200 });
  expect(paid).toEqual([order.id]);
});
