// What a webhook delivery costs, body as Buffer: verified and parsed, and the check alone.
//
//   node --expose-gc webhook/verify.mjs [--rounds 9]
//
// "check alone" is verify() less the parsing of the same body in the same round. Its floor is createHmac with a cached
// key object, two updates and no copy of the body.
import { createHmac, createSecretKey, timingSafeEqual } from 'node:crypto';
import { parseArgs } from 'node:util';
import { webhooks as polar } from '@polar-sh/sdk/2026-10';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import Stripe from 'stripe';
import { Webhook as Svix } from 'svix';
import { verify } from '../../dist/webhooks.js';
import { inTurn, machine, median, noise, ratio, typical } from '../lib/measure.mjs';
import { figure, table } from '../lib/table.mjs';

const { values: options } = parseArgs({ options: { rounds: { type: 'string', default: '9' } } });
const secret = `whsec_${Buffer.from('0123456789abcdef0123456789abcdef').toString('base64')}`;
const sizes = [
  { name: '300 B', bytes: 300, times: 4000 },
  { name: '2 KB', bytes: 2048, times: 3000 },
  { name: '100 KB', bytes: 102_400, times: 120 },
  { name: '1 MB', bytes: 1_048_576, times: 12 },
];

console.log(
  `${machine(process.execPath)}; ${options.rounds} rounds; time against stripe's, check against the floor.`,
);
for (const { name, bytes, times } of sizes) {
  const contenders = Object.entries(contendersFor(delivery(bytes))).map(([peer, call]) => ({ peer, call }));
  const samples = await inTurn(contenders, ({ call }) => timed(call, times), {
    rounds: Number(options.rounds),
  });
  const of = (peer) => samples.get(contenders.find((contender) => contender.peer === peer));
  const rows = [...samples].map(([{ peer }, own]) => [
    peer,
    figure(typical(own, 'us'), 2),
    figure(ratio(own, of('stripe constructEvent'), 'us'), 2),
    figure(noise(own, 'us')),
  ]);
  const check = of('ours: verify').map(({ us }, round) => us - of('parsing alone')[round].us);
  console.log(`\n${name}\n`);
  console.log(table(['', 'µs', '× stripe', '± %'], rows));
  const floor = of('floor: createHmac(KeyObject)');
  console.log(
    `\nour check alone: ${figure(median(check), 2)} µs, ` +
      `${figure(median(check.map((us, round) => us / floor[round].us)), 2)} × the floor`,
  );
}

/** Microseconds a call; only a contender that is asynchronous is awaited. */
async function timed(call, times) {
  globalThis.gc?.();
  const waits = call() instanceof Promise;
  const began = process.hrtime.bigint();
  if (waits) for (let run = 0; run < times; run++) await call();
  else for (let run = 0; run < times; run++) call();
  return { us: Number(process.hrtime.bigint() - began) / 1000 / times };
}

/** An order.paid event of about so many bytes, filled with the lines of its order. */
function delivery(bytes) {
  const event = {
    id: 'evt_01JH8ZQ4X9VT3M5B7N2C',
    type: 'order.paid',
    object: 'event',
    data: { order_id: 'ord_01JH8ZQ4X9VT3M5B7N2C', amount: '29.90', currency: 'USD', lines: [] },
  };
  const line = (number) => ({
    sku: `WD-${String(number).padStart(6, '0')}`,
    name: 'Walnut desk, oiled',
    price: '29.90',
  });
  const left = bytes - JSON.stringify(event).length;
  const length = Math.floor(left / (JSON.stringify(line(0)).length + 1));
  event.data.lines = Array.from({ length }, (_, number) => line(number));
  return Buffer.from(JSON.stringify(event).padEnd(bytes));
}

function contendersFor(rawBody) {
  const seconds = Math.floor(Date.now() / 1000);
  const timestamp = String(seconds);
  const id = 'msg_2KWPBgLlAfxdpx2AI54pPJ85f4W';
  const key = createSecretKey(Buffer.from(secret));
  const mac = createHmac('sha256', secret).update(`${timestamp}.`).update(rawBody).digest('hex');
  const headers = {
    host: 'shop.example',
    accept: '*/*',
    'content-type': 'application/json',
    'content-length': String(rawBody.byteLength),
    'user-agent': 'service',
    'x-service-signature': mac,
    'x-service-timestamp': timestamp,
  };
  const stripeHeader = `t=${timestamp},v1=${mac}`;
  const standard = new StandardWebhook(secret);
  const svix = new Svix(secret);
  const signature = standard.sign(id, new Date(seconds * 1000), rawBody);
  const standardHeaders = {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signature,
  };
  const svixHeaders = { 'svix-id': id, 'svix-timestamp': timestamp, 'svix-signature': signature };
  return {
    'ours: verify': () => verify({ rawBody, headers, secret }),
    'stripe constructEvent': () => Stripe.webhooks.constructEvent(rawBody, stripeHeader, secret),
    standardwebhooks: () => standard.verify(rawBody, standardHeaders),
    svix: () => svix.verify(rawBody, svixHeaders),
    polar: () => polar.validateEvent(rawBody, standardHeaders, secret),
    'parsing alone': () => JSON.parse(rawBody.toString()),
    'floor: createHmac(KeyObject)': () => {
      const expected = createHmac('sha256', key).update(`${timestamp}.`).update(rawBody).digest();
      if (!timingSafeEqual(expected, Buffer.from(mac, 'hex'))) throw new Error('the floor does not match');
    },
  };
}
