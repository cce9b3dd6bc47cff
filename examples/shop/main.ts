/**
 * A small shop and the sandbox beside it, to click through: `npm start`.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { PaymentsClient } from 'merchant-payments';
import { createSandbox } from 'merchant-payments/sandbox';
import { createShop } from './shop.js';

const port = Number(process.env.PORT ?? 3000);
const shopUrl = `http://127.0.0.1:${port}`;

// Three seconds between payment and webhook, so that you see the order wait and then turn paid.
const sandbox = createSandbox({
  merchantName: 'North & Pine',
  webhook: `${shopUrl}/webhooks`,
  webhooks: { delay: '3s' },
});
try {
  await sandbox.listen({ port: Number(process.env.SANDBOX_PORT ?? 4380) });
  const shop = createShop({
    payments: new PaymentsClient(sandbox.clientOptions),
    webhookSecret: sandbox.webhookSecret,
    shopUrl,
    dashboardUrl: sandbox.url,
  });
  await once(createServer(shop.handle).listen(port, '127.0.0.1'), 'listening');
  await shop.stock();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  console.error('PORT and SANDBOX_PORT choose other ports.');
  process.exit(1);
}
// A sandbox in your own process has no timer: this one does what falls due.
setInterval(() => sandbox.advanceTime(0), 250);

console.log(`
  Shop       ${shopUrl}
  Dashboard  ${sandbox.url}

  Buy something, pay with a test card, and watch the order turn paid. Ctrl-C ends both.
`);
