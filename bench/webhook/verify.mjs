// The cost of a webhook delivery, body as Buffer: verified and parsed, and the check alone.
//
//   node --expose-gc webhook/verify.mjs [--rounds 9]
//
// "check alone" is verify() less what parsing the same body adds to the floor in the same round, of a body that is one
// long text: that is parsed fast enough to be subtracted. The floor is createHmac with a cached key object, two updates
// and no copy. Parsing after it takes longer than parsing alone does in a loop of its own, so that is not subtracted.
import { createHmac, createSecretKey, timingSafeEqual } from 'node:crypto';
import { parseArgs } from 'node:util';
import { webhooks as polar } from '@polar-sh/sdk/2026-10';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import Stripe from 'stripe';
import { Webhook as Svix } from 'svix';
import { verify } from '../../dist/webhooks.js';
import { machine, median, noise, ratio, sampleInTurn, typical } from '../lib/measure.mjs';
import { figure, table } from '../lib/table.mjs';
import { timeCall } from '../lib/time-call.mjs';

const { values: options } = parseArgs({ options: { rounds: { type: 'string', default: '9' } } });
const secret = `whsec_${Buffer.from('0123456789abcdef0123456789abcdef').toString('base64')}`;
const ours = 'ours: verify';
const floor = 'floor: createHmac(KeyObject)';
const floorAndParsing = 'floor, and JSON.parse';
const sizes = [
  { name: '300 B', bytes: 300, batch: 500 },
  { name: '2 KB', bytes: 2048, batch: 300 },
  { name: '100 KB', bytes: 102_400, batch: 20 },
  { name: '1 MB', bytes: 1_048_576, batch: 2 },
];

console.log(
  `${machine(process.execPath)}; ${options.rounds} rounds; time against stripe's, check against the floor.`,
);
for (const { name, bytes, batch } of sizes) {
  const events = await measure(contendersFor(delivery(bytes, lines)), batch);
  const rows = events.names.map((peer) => [
    peer,
    figure(typical(events.of(peer), 'us'), 2),
    figure(ratio(events.of(peer), events.of('stripe constructEvent'), 'us'), 2),
    figure(noise(events.of(peer), 'us')),
  ]);
  console.log(`\n${name}\n`);
  console.log(table(['', 'µs', '× stripe', '± %'], rows));

  const calls = contendersFor(delivery(bytes, text));
  const needed = Object.fromEntries([ours, floor, floorAndParsing].map((name) => [name, calls[name]]));
  const texts = await measure(needed, batch);
  const check = texts
    .of(ours)
    .map(({ us }, round) => us - (texts.of(floorAndParsing)[round].us - texts.of(floor)[round].us));
  console.log(
    `\nour check alone: ${figure(median(check), 2)} µs, ` +
      `${figure(median(check.map((us, round) => us / texts.of(floor)[round].us)), 2)} × the floor`,
  );
}

/** Takes samples of each contender in turn. */
async function measure(calls, batch) {
  const contenders = Object.entries(calls).map(([peer, call]) => ({ peer, call }));
  const samples = await sampleInTurn(contenders, ({ call }) => timeCall(call, batch), {
    rounds: Number(options.rounds),
  });
  return {
    names: contenders.map(({ peer }) => peer),
    of: (name) => samples.get(contenders.find(({ peer }) => peer === name)),
  };
}

/** An order.paid event of so many bytes, filled up by `filling`. */
function delivery(bytes, filling) {
  const event = {
    id: 'evt_01JH8ZQ4X9VT3M5B7N2C',
    type: 'order.paid',
    object: 'event',
    data: { order_id: 'ord_01JH8ZQ4X9VT3M5B7N2C', amount: '29.90', currency: 'USD', lines: [] },
  };
  event.data.lines = filling(bytes - JSON.stringify(event).length);
  return Buffer.from(JSON.stringify(event).padEnd(bytes));
}

/** The lines of an order. */
function lines(bytes) {
  const line = (number) => ({
    sku: `WD-${String(number).padStart(6, '0')}`,
    name: 'Walnut desk, oiled',
    price: '29.90',
  });
  const length = Math.floor(bytes / (JSON.stringify(line(0)).length + 1));
  return Array.from({ length }, (_, number) => line(number));
}

/** One long text. */
function text(bytes) {
  return ['x'.repeat(bytes - 2)];
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
  const checkMac = () => {
    const expected = createHmac('sha256', key).update(`${timestamp}.`).update(rawBody).digest();
    if (!timingSafeEqual(expected, Buffer.from(mac, 'hex'))) throw new Error('the floor does not match');
  };
  const svixHeaders = { 'svix-id': id, 'svix-timestamp': timestamp, 'svix-signature': signature };
  return {
    [ours]: () => verify({ rawBody, headers, secret }),
    'stripe constructEvent': () => Stripe.webhooks.constructEvent(rawBody, stripeHeader, secret),
    standardwebhooks: () => standard.verify(rawBody, standardHeaders),
    svix: () => svix.verify(rawBody, svixHeaders),
    polar: () => polar.validateEvent(rawBody, standardHeaders, secret),
    [floor]: checkMac,
    [floorAndParsing]: () => {
      checkMac();
      return JSON.parse(rawBody.toString());
    },
  };
}
