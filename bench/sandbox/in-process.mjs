// One process's figures as JSON: everything that a test pays for, from the import on.
const begun = performance.now();
const { createSandbox } = await import('../../dist/sandbox.js');
const imported = performance.now();
createSandbox();
const created = performance.now();
const sandbox = createSandbox();
const again = performance.now();

const headers = { 'x-api-key': sandbox.apiKey, 'content-type': 'application/json' };
const call = async (path, body) => {
  const init = body === undefined ? { headers } : { method: 'POST', headers, body: JSON.stringify(body) };
  return (await sandbox.fetch(path, init)).json();
};

sandbox.setWebhook(() => new Response());
const { data: product } = await call('/v1/products', { name: 'Mug', price: '19.90' });
const { data: checkout } = await call('/v1/checkouts', { productId: product.id });
const { delivery } = await sandbox.completeCheckout(checkout.url);
const { data: balance } = await call('/v1/balance');
if (!delivery.ok || balance.pending !== '19.90') throw new Error('The payment did not go through.');
const tested = performance.now();

for (let count = 0; count < 1000; count++) {
  await call('/v1/products', { name: `No ${count}`, price: '5.00' });
  await call('/v1/balance');
}
const done = performance.now();

console.log(
  JSON.stringify({
    importMs: imported - begun,
    createMs: created - imported,
    againMs: again - created,
    testMs: tested - again,
    requestsMs: done - tested,
  }),
);
