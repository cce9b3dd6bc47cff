import { once } from 'node:events';
import { createServer } from 'node:http';
import { PaymentsClient, type Product } from 'merchant-payments';
import { createSandbox, type Sandbox, type SandboxOptions } from 'merchant-payments/sandbox';
import { afterEach, beforeEach } from 'vitest';

/** A listening sandbox and, on another origin, the shop that customers come back to. */
export interface Shop {
  sandbox: Sandbox;
  client: PaymentsClient;
  product: Product;
  origin: string;
  /** Paths that were asked for, in order. */
  visited: string[];
  /** Answers of the webhook route, which is `/webhooks`. */
  webhook: { status: number; body: string };
  /** A checkout of the product that leads back to `/ok` and `/cart`; its url. */
  checkout(params?: object): Promise<string>;
}

export function useShop(options: SandboxOptions = {}): () => Shop {
  let shop: Shop | undefined;
  let close: () => Promise<unknown>;

  beforeEach(async () => {
    const visited: string[] = [];
    const webhook = { status: 200, body: 'ok' };
    const server = createServer((request, response) => {
      const url = request.url ?? '';
      request.resume();
      if (url === '/webhooks') {
        response.writeHead(webhook.status, { 'content-type': 'application/json' }).end(webhook.body);
        return;
      }
      if (url !== '/favicon.ico') visited.push(url);
      response
        .writeHead(200, { 'content-type': 'text/html' })
        .end('<!doctype html><title>Shop</title><h1>Shop</h1>');
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    if (typeof address !== 'object' || address === null) throw new Error('no port');
    const origin = `http://127.0.0.1:${address.port}`;
    const sandbox = await createSandbox({ merchantName: 'North & Pine', ...options }).listen();
    const client = new PaymentsClient(sandbox.clientOptions);
    const product = await client.products.create({ name: 'Handmade mug', price: '19.90' });
    close = async () => {
      await sandbox.close();
      server.closeAllConnections();
      server.close();
    };
    shop = {
      sandbox,
      client,
      product,
      origin,
      visited,
      webhook,
      checkout: async (params = {}) => {
        const { url } = await client.checkouts.create({
          productId: product.id,
          successUrl: `${origin}/ok`,
          cancelUrl: `${origin}/cart`,
          ...params,
        });
        return url;
      },
    };
  });
  afterEach(() => close());

  return () => {
    if (!shop) throw new Error('The shop opens before each test.');
    return shop;
  };
}
