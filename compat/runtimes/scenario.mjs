// The work of a shop, in any runtime: create, fail, iterate, be paid, sign and verify.
import assert from 'node:assert/strict';

export async function runInProcess({ main, webhooks, createSandbox }) {
  const delivered = [];
  const secret = 'a-secret-of-this-test';
  const sandbox = createSandbox({
    webhookSecret: secret,
    webhook: webhooks.handler({
      secret: () => secret,
      accept: async ({ event }) => delivered.push(event.data),
    }),
  });
  const payments = new main.PaymentsClient(sandbox.clientOptions);
  const url = await shop(main, payments);

  const { order } = await sandbox.completeCheckout(url);
  assert.deepEqual(delivered, [{ order_id: order.id, amount: '19.90', currency: 'USD' }]);
  signAndVerify(webhooks, secret);
  await sandbox.close();
}

export async function runOverHttp({ main, createSandbox }) {
  const sandbox = await createSandbox().listen();
  await shop(main, new main.PaymentsClient({ baseUrl: sandbox.url, apiKey: sandbox.apiKey }));
  await sandbox.close();

  const gone = await createSandbox().listen();
  const payments = new main.PaymentsClient({ baseUrl: gone.url, apiKey: gone.apiKey, maxRetries: 0 });
  await gone.close();
  await assert.rejects(Promise.resolve(payments.balance.retrieve()), (error) => {
    assert.ok(error instanceof main.ConnectionError, String(error));
    assert.deepEqual([error.outcome, error.phase], ['not_sent', 'connect']);
    return true;
  });
}

/** Uses every namespace and resolves to the address of an open checkout. */
export async function shop(main, payments) {
  const mug = await payments.products.create({ name: 'Mug', price: '19.90' });
  for (const name of ['Cup', 'Plate', 'Bowl', 'Jug']) await payments.products.create({ name, price: '5.00' });
  const names = [];
  for await (const product of payments.products.list({ size: 2 })) names.push(product.name);
  assert.deepEqual(names.sort(), ['Bowl', 'Cup', 'Jug', 'Mug', 'Plate']);
  const renamed = await payments.products.update(mug.id, { name: 'Big mug' });
  assert.equal(renamed.name, 'Big mug');

  await assert.rejects(Promise.resolve(payments.checkouts.retrieve('none')), (error) => {
    assert.ok(error instanceof main.NotFoundError, String(error));
    assert.equal(error.status, 404);
    return true;
  });
  await assert.rejects(
    Promise.resolve(payments.products.create({ name: '', price: '0.001' })),
    (error) => error instanceof main.InvalidParamsError && error.issues.length === 2,
  );

  const { url } = await payments.checkouts.create({ productId: mug.id });
  const balance = await payments.balance.retrieve();
  assert.match(balance.available, /^\d+\.\d\d$/);
  return url;
}

function signAndVerify(webhooks, secret) {
  const data = { order_id: 'ord_1', amount: '19.90', currency: 'USD' };
  const rawBody = JSON.stringify({ type: 'order.paid', data });
  const headers = webhooks.sign({ rawBody, secret });
  assert.deepEqual(webhooks.verify({ rawBody, headers, secret }).data, data);
  assert.throws(
    () => webhooks.verify({ rawBody: `${rawBody} `, headers, secret }),
    (error) => error instanceof webhooks.WebhookVerificationError && error.code === 'signature_mismatch',
  );
}
