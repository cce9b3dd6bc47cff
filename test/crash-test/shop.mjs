// A shop in one file, right or with one planted fault: `node shop.mjs <fault> <folder>`. Its database is files that are only ever
// appended to, one write a line, so that a kill loses nothing that was written.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';

const [fault, folder] = process.argv.slice(2);
const linesOf = (name) => {
  const file = `${folder}/${name}.jsonl`;
  const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
};
const append = (name, line) => appendFileSync(`${folder}/${name}.jsonl`, `${JSON.stringify(line)}\n`);

const seen = new Set(fault === 'seen_in_memory' ? [] : linesOf('paid').map(({ order_id }) => order_id));
const stored = new Set(linesOf('stored').map(({ order_id }) => order_id));
let firstAmount;

if (fault === 'loses_at_sigterm') {
  // The jobs that a crash left are taken up again; after a deploy they count as done.
  const ended = linesOf('clean').map(({ at }) => at);
  for (const job of linesOf('jobs')) if (!ended.some((at) => at > job.at)) void work(job);
  process.once('SIGTERM', () => {
    append('clean', { at: Date.now() });
    process.exit(0);
  });
} else process.once('SIGTERM', () => server.close(() => process.exit(0)));

const server = createServer(async (request, response) => {
  if (request.method !== 'POST') return response.writeHead(404).end();
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const status = await receive(Buffer.concat(chunks), request.headers).catch(() =>
    fault === 'drops_unreadable' ? 200 : 500,
  );
  response.writeHead(status).end();
}).listen(Number(process.env.PORT));

async function receive(body, headers) {
  if (fault !== 'verifies_nothing' && !isAuthentic(body, headers)) return 400;
  const { type, data } = JSON.parse(body);
  if (type !== 'order.paid') return 200;
  if (!/^\d+(\.\d{1,2})?$/.test(data.amount)) {
    if (fault === 'drops_unreadable') throw new Error('What is this amount?');
    append('paid', { order_id: data.order_id, held: true });
    return 200;
  }
  await wait(5); // the warehouse is asked
  switch (fault) {
    case 'responds_first':
      void wait(20).then(() => fulfil(data));
      return 200;
    case 'fulfils_first':
      if (stored.has(data.order_id)) return conflict(data);
      append('paid', data);
      await wait(15); // the e-mail is sent
      stored.add(data.order_id);
      append('stored', data);
      return 200;
    case 'no_unique_key':
      append('paid', data);
      return 200;
    case 'overwrites':
      if (!seen.has(data.order_id)) return fulfil(data);
      append('paid', { ...data, replaces: true });
      return 200;
    case 'two_steps': {
      const isNew = !linesOf('paid').some(({ order_id }) => order_id === data.order_id);
      await wait(10);
      if (!isNew) return conflict(data);
      append('paid', data);
      return 200;
    }
    case 'first_amount':
      firstAmount ??= data.amount;
      return fulfil({ ...data, amount: firstAmount });
    case 'loses_at_sigterm': {
      const job = { ...data, at: Date.now() };
      append('jobs', job);
      void work(job);
      return 200;
    }
    case 'credits_any_order':
    case 'own_amounts': // right: no two orders have one amount
      return fulfil({ ...data, reference: openOrderOf(data.amount) });
    default:
      return fulfil(data);
  }
}

/** Right: looks the order up and writes it without anything in between. */
function fulfil(data) {
  if (seen.has(data.order_id)) return conflict(data);
  seen.add(data.order_id);
  append('paid', data);
  return 200;
}

/** A known order: the same again is done, another amount is kept for a person. */
function conflict(data) {
  const known = linesOf('paid').find(({ order_id }) => order_id === data.order_id);
  if (known && known.amount !== data.amount && !['first_amount'].includes(fault))
    append('paid', { ...data, held: true });
  return 200;
}

async function work({ at: _, ...data }) {
  await wait(60);
  fulfil(data);
}

function openOrderOf(amount) {
  const taken = new Set(linesOf('paid').map(({ reference }) => reference));
  return linesOf('orders').find((order) => order.amount === amount && !taken.has(order.reference))?.reference;
}

function isAuthentic(body, headers) {
  const timestamp = headers['x-service-timestamp'] ?? '';
  const mac = createHmac('sha256', process.env.PAYMENTS_WEBHOOK_SECRET).update(`${timestamp}.`).update(body);
  const given = Buffer.from(String(headers['x-service-signature'] ?? ''), 'hex');
  const right = mac.digest();
  return given.length === right.length && timingSafeEqual(given, right);
}
