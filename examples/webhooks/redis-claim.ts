/** Several machines, one order each: the claim lives in Redis. REDIS_URL names the server. */
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { nodeHandler } from 'merchant-payments/webhooks';
import { createClient } from 'redis';

// Without the queue a Redis that is down is answered 500 at once, and the sender tries again.
const redis = createClient({
  url: process.env.REDIS_URL ?? 'redis://127.0.0.1:6379',
  disableOfflineQueue: true,
});
redis.on('error', console.error);
await redis.connect();

const machine = randomUUID();
// Longer than the handler ever takes: a machine that dies gives its claim up by itself.
const lease = { type: 'PX', value: 10 * 60_000 } as const;
const month = { type: 'PX', value: 30 * 24 * 3_600_000 } as const;
const releaseOwn = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end";

const receive = nodeHandler({
  secret: process.env.PAYMENTS_WEBHOOK_SECRET,
  claim: async (key) => {
    const reply = await redis.set(key, machine, { condition: 'NX', expiration: lease });
    if (reply === 'OK') return true;
    return (await redis.get(key)) === 'finished' ? 'finished' : false;
  },
  finish: (key) => redis.set(key, 'finished', { expiration: month }),
  release: (key) => redis.eval(releaseOwn, { keys: [key], arguments: [machine] }),
  on: {
    'order.paid': async ({ data }) => {
      // Compare amount and currency with your own order before you ship anything.
      console.log(`fulfil ${data.order_id}: ${data.amount} ${data.currency}`);
    },
  },
});

createServer((request, response) => void receive(request, response)).listen(Number(process.env.PORT ?? 3000));
