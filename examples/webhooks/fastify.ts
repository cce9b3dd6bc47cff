/**
 * A webhook receiver in Fastify 5: `npm install fastify`. Its scope leaves the body unread; other routes parse JSON.
 *
 *     npx merchant-payments exec --webhook-url http://localhost:3005/webhooks -- node webhooks/fastify.ts
 *
 * On Node 20, put `npx tsx` in place of `node`.
 */
import Fastify from 'fastify';
import { nodeHandler } from 'merchant-payments/webhooks';

const receive = nodeHandler({
  secret: process.env.PAYMENTS_WEBHOOK_SECRET,
  on: {
    'order.paid': async ({ data }) => {
      // Compare amount and currency with your own order before you ship anything.
      console.log(`fulfil ${data.order_id}: ${data.amount} ${data.currency}`);
    },
  },
});

const app = Fastify();
app.register(async (scope) => {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser('*', (_request, _stream, done) => {
    done(null);
  });
  scope.post('/webhooks', receive);
});
app.post<{ Body: { items: string[] } }>('/cart', async (request) => ({ items: request.body.items }));
const port = process.env.PORT ?? '3005';
await app.listen({ port: Number(port) });
console.log(`Waiting for webhooks on http://localhost:${port}/webhooks`);
