/**
 * A test of your own integration with Vitest: the shop's code against the sandbox, without a port and without waiting.
 *
 *     npm install --save-dev vitest && npx vitest run
 */
import { PaymentsClient, WebhookVerificationError, webhooks } from 'merchant-payments';
import { createSandbox } from 'merchant-payments/sandbox';
import { expect, test } from 'vitest';

const secret = 'whsec_of_this_test';
const paid: string[] = [];

/** The shop's webhook route, in the form of Next.js, Hono and other frameworks. */
async function POST(request: Request): Promise<Response> {
  try {
    const event = webhooks.verify({ rawBody: await request.arrayBuffer(), headers: request.headers, secret });
    if (event.type === 'order.paid') paid.push(event.data.order_id);
    return new Response();
  } catch (error) {
    return new Response(null, { status: error instanceof WebhookVerificationError ? 400 : 500 });
  }
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

test('a forged webhook is refused', async () => {
  const sandbox = createSandbox({ webhook: POST, webhookSecret: secret });
  const { event } = await sandbox.trigger('order.paid');
  expect((await POST(await sandbox.signedRequest(event, { tamper: 'body' }))).status).toBe(400);
});
