// One process's figures as JSON: everything that a test pays for, from the import on.
const begun = performance.now();
const { PaymentsClient, webhooks } = await import('../../dist/index.js');
const { createSandbox } = await import('../../dist/sandbox.js');
const imported = performance.now();

const { payments, sandbox } = open();
await pay('Mug');
const { pending } = await payments.balance.retrieve();
if (pending !== '19.90') throw new Error('The payment did not go through.');
const tested = performance.now();

for (let count = 0; count < 1000; count++) await pay(`No ${count}`);
const done = performance.now();

console.log(
  JSON.stringify({ importMs: imported - begun, testMs: tested - imported, paymentsMs: done - tested }),
);

function open() {
  const sandbox = createSandbox({
    webhook: async (request) => {
      const rawBody = await request.text();
      webhooks.verify({ rawBody, headers: request.headers, secret: sandbox.webhookSecret });
      return new Response();
    },
  });
  return { sandbox, payments: new PaymentsClient(sandbox.clientOptions) };
}

async function pay(name) {
  const product = await payments.products.create({ name, price: '19.90' });
  const { url } = await payments.checkouts.create({ productId: product.id });
  const { delivery } = await sandbox.completeCheckout(url);
  if (!delivery.ok) throw new Error(delivery.error ?? `The webhook was refused: ${delivery.status}`);
}
