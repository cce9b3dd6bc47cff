/** A webhook receiver in Fastify 5. Its scope leaves the body unread; all other routes parse JSON as ever. */
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
  scope.addContentTypeParser('*', (_request, _stream, done) => done(null));
  scope.post('/webhooks', async (request, reply) => {
    reply.hijack();
    await receive(request.raw, reply.raw);
  });
});
app.post<{ Body: { items: string[] } }>('/cart', async (request) => ({ items: request.body.items }));
await app.listen({ port: Number(process.env.PORT ?? 3000) });
