import { PaymentsClient, webhooks } from 'merchant-payments';
import { openInbox, openOrderBook } from 'merchant-payments/inbox';
import { freeAmount, matchPayments } from 'merchant-payments/matching';
import { createSandbox, identifyScheme } from 'merchant-payments/sandbox';
import { expect, test } from 'vitest';

const sandbox = createSandbox();
const payments = new PaymentsClient(sandbox.clientOptions);
const secret = 'whsec_example';
const delivery = { rawBody: '{}', headers: {}, secret };

/**
 * Every public function with options: its name, a misspelt option and the option that was meant, and a call of it. The methods
 * of inbox and order book stand in test/inbox/unknown-names.test.ts.
 */
const functions: [name: string, misspelt: string, meant: string, call: (given: never) => unknown][] = [
  ['new PaymentsClient', 'apikey', 'apiKey', (given) => new PaymentsClient(given)],
  [
    'the hooks of a client',
    'reqest',
    'request',
    (hooks) => new PaymentsClient({ ...sandbox.clientOptions, hooks }),
  ],
  ['products.create', 'nmae', 'name', (given) => payments.products.create(given)],
  ['products.update', 'nmae', 'name', (given) => payments.products.update('prod_1', given)],
  ['products.list', 'sizes', 'size', (given) => payments.products.list(given)],
  ['the options of products.list', 'prefech', 'prefetch', (given) => payments.products.list({}, given)],
  ['toArray', 'limits', 'limit', (given) => payments.products.list().toArray(given)],
  ['checkouts.create', 'product', 'productId', (given) => payments.checkouts.create(given)],
  ['the options of a call', 'timeout', 'timeoutMs', (given) => payments.balance.retrieve(given)],
  ['request', 'metod', 'method', (given) => payments.request(given)],
  ['webhooks.verify', 'secrets', 'secret', (given) => webhooks.verify(given)],
  [
    'the scheme of webhooks.verify',
    'encodng',
    'encoding',
    (scheme) => webhooks.verify({ ...delivery, scheme }),
  ],
  ['webhooks.sign', 'timestmp', 'timestamp', (given) => webhooks.sign(given)],
  ['webhooks.handler', 'accpt', 'accept', (given) => webhooks.handler(given)],
  [
    'the functions of webhooks.handler',
    'order.payed',
    'order.paid',
    (given) => webhooks.handler({ secret, on: given }),
  ],
  ['webhooks.nodeHandler', 'accpt', 'accept', (given) => webhooks.nodeHandler(given)],
  ['webhooks.recover', 'secrets', 'secret', (given) => webhooks.recover([], given)],
  ['openInbox', 'databse', 'database', (given) => openInbox(given)],
  ['openOrderBook', 'databse', 'database', (given) => openOrderBook(given)],
  ['matchPayments', 'order', 'orders', (given) => matchPayments(given)],
  ['freeAmount', 'prize', 'price', (given) => freeAmount(given)],
  ['createSandbox', 'apikey', 'apiKey', (given) => createSandbox(given)],
  [
    'the choices of createSandbox',
    'setlement',
    'settlement',
    (unspecified) => createSandbox({ unspecified }),
  ],
  ['the products of createSandbox', 'nmae', 'name', (product) => createSandbox({ products: [product] })],
  ['sandbox.listen', 'prt', 'port', (given) => sandbox.listen(given)],
  ['sandbox.reset', 'sede', 'seed', (given) => sandbox.reset(given)],
  ['sandbox.completeCheckout', 'methd', 'method', (given) => sandbox.completeCheckout('chk_1', given)],
  ['sandbox.setWebhook', 'secrt', 'secret', (given) => sandbox.setWebhook(undefined, given)],
  ['sandbox.trigger', 'amuont', 'amount', (given) => sandbox.trigger('order.paid', given)],
  ['sandbox.waitForEvent', 'timeout', 'timeoutMs', (given) => sandbox.waitForEvent(undefined, given)],
  ['sandbox.failNext', 'netwrok', 'network', (given) => sandbox.failNext(given)],
  ['sandbox.doctor', 'amont', 'amount', (given) => sandbox.doctor(() => new Response(), given)],
  [
    'sandbox.signedRequest',
    'tampr',
    'tamper',
    async (given) => sandbox.signedRequest((await sandbox.trigger('order.paid')).event, given),
  ],
  ['identifyScheme', 'secrets', 'secret', (given) => identifyScheme(given)],
];

test.each(functions)(
  '%s refuses the unknown option %s, and names the likely one: %s',
  async (_, misspelt, meant, call) => {
    const message = `${misspelt} is unknown. Did you mean ${meant}?`;
    const run = async () => Reflect.apply(call, undefined, [{ [misspelt]: undefined }]);
    await expect(run()).rejects.toThrow(message);
  },
);
