/**
 * The whole integration on this machine in one run: product, checkout, payment page, webhook, balance. No money
 * moves, and nothing leaves the machine.
 *
 *     node quickstart.ts            plays the customer too     (Node 20: npx tsx quickstart.ts)
 *     node quickstart.ts --open     waits for you to pay in the browser
 *
 * In a clone of the repository: `npm run quickstart`, and `npm run quickstart -- --open`.
 */
import { EventEmitter, once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { inspect, parseArgs } from 'node:util';
import { PaymentsClient, type WebhookEvent, WebhookVerificationError, webhooks } from 'merchant-payments';
import { createSandbox } from 'merchant-payments/sandbox';
import { openInBrowser, payInBrowser } from './quickstart-customer.ts';

const { values: flags } = parseArgs({ options: { open: { type: 'boolean', default: false } } });
const startedAt = performance.now();
const secret = 'whsec_of_the_quickstart';

// Your server: it takes the webhook's raw bytes and believes nothing before they are verified.
const received: WebhookEvent[] = [];
const browser = new EventEmitter();
const shop = createServer((request, response) => {
  const [path = ''] = (request.url ?? '').split('?');
  if (path === '/webhooks') void receive(request, response);
  else response.end('Thank you. Back to your terminal.', () => browser.emit(path));
}).listen(0, '127.0.0.1');
await once(shop, 'listening');
const shopUrl = `http://127.0.0.1:${String((shop.address() as AddressInfo).port)}`;

// The service, on a local port.
const sandbox = await createSandbox({ webhook: `${shopUrl}/webhooks`, webhookSecret: secret }).listen();
say(`The sandbox is the service at ${sandbox.url}, and your shop listens at ${shopUrl}.`);

const payments = new PaymentsClient({ apiKey: sandbox.apiKey, baseUrl: sandbox.url });

const product = await payments.products.create({ name: 'Handmade mug', price: '19.90' });
step(`payments.products.create({ name: 'Handmade mug', price: '19.90' })`, product);

const checkout = await payments.checkouts.create({
  productId: product.id,
  successUrl: `${shopUrl}/thanks`,
  cancelUrl: `${shopUrl}/cart`,
});
step('payments.checkouts.create({ productId: product.id, successUrl, cancelUrl })', { url: checkout.url });

const returned = flags.open ? once(browser, '/thanks') : undefined;
if (flags.open) {
  openInBrowser(checkout.url);
  say(`Pay on the page that opens, or open it yourself: ${checkout.url}`);
} else {
  const returnUrl = await payInBrowser(checkout.url);
  step('The customer opens the url, pays with a test card, and is sent back', { returnUrl });
}
await sandbox.waitForEvent((event) => event.state === 'delivered', {
  timeoutMs: flags.open ? 30 * 60_000 : 4_000,
});
step('webhooks.verify({ rawBody, headers, secret })', received[0]);

if (checkout.id) {
  const { amount, currency, expiresAt } = await payments.checkouts.retrieve(checkout.id);
  step('payments.checkouts.retrieve(checkout.id)', { amount, currency, expiresAt });
}
step('payments.balance.retrieve()', await payments.balance.retrieve());

// The payment page is open until it has sent the customer back to the shop.
await returned;
await sandbox.close();
shop.close();
shop.closeAllConnections();
say(
  `Done in ${((performance.now() - startedAt) / 1000).toFixed(1)} s. Next: npm start opens a small shop, and README.md tells the rest.`,
);

async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
  try {
    const rawBody = Buffer.concat(await request.toArray());
    received.push(webhooks.verify({ rawBody, headers: request.headers, secret }));
    response.writeHead(200).end();
  } catch (error) {
    console.error(error);
    response.writeHead(error instanceof WebhookVerificationError ? 400 : 500).end();
  }
}

function say(text: string): void {
  console.log(`\n${text}`);
}

/** Prints a call and what it gave. */
function step(call: string, result: unknown): void {
  say(call);
  console.log(inspect(result, { colors: process.stdout.isTTY, depth: 4 }).replaceAll(/^/gm, '  '));
}
