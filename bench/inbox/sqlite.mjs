// The inbox in SQLite beside a transaction by hand: how many deliveries are stored and fulfilled a second, each durable before the next
// step. By hand: one transaction stores the delivery, another one writes the shop's row and marks the delivery. Needs Node 22.13.
//   node inbox/sqlite.mjs [--orders 1000] [--rounds 7]
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { parseArgs } from 'node:util';
import { machine } from '../lib/measure.mjs';
import { figure, table } from '../lib/table.mjs';
import { delivery, openInbox, secret } from './work.mjs';

const { values } = parseArgs({
  options: {
    orders: { type: 'string', default: '1000' },
    rounds: { type: 'string', default: '7' },
  },
});
const [orders, rounds] = [Number(values.orders), Number(values.rounds)];
const folder = mkdtempSync(join(tmpdir(), 'bench-sqlite-'));
const stores = { 'by hand': byHand(), inbox: inbox() };
const rates = { 'by hand': [], inbox: [] };
for (let round = 0; round < rounds; round++)
  for (const name of round % 2 ? ['inbox', 'by hand'] : ['by hand', 'inbox']) {
    const startedAt = performance.now();
    await stores[name].take(Array.from({ length: orders }, (_, number) => delivery(`${round}_${number}`)));
    rates[name].push(orders / ((performance.now() - startedAt) / 1000));
  }
for (const store of Object.values(stores)) await store.close();
rmSync(folder, { recursive: true });
const median = (numbers) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)];
const ratios = rates.inbox.map((rate, round) => rate / rates['by hand'][round]);
console.log(
  `${machine(process.execPath)}; ${figure(orders)} deliveries, medians of ${figure(rounds)} rounds`,
);
console.log(
  table(
    ['', 'stored and fulfilled a second', 'ratio'],
    [
      ['by hand', figure(median(rates['by hand'])), figure(1, 2)],
      ['inbox', figure(median(rates.inbox)), figure(median(ratios), 2)],
    ],
  ),
);

function shop(name) {
  const file = join(folder, `${name}.sqlite`);
  const database = new DatabaseSync(file);
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE paid (order_id TEXT)');
  return { file, database };
}

function byHand() {
  const { database } = shop('by-hand');
  database.exec('CREATE TABLE deliveries (key TEXT PRIMARY KEY, body TEXT, headers TEXT, state TEXT)');
  const store = database.prepare("INSERT OR IGNORE INTO deliveries VALUES (?, ?, ?, 'pending')");
  const fulfil = database.prepare('INSERT INTO paid VALUES (?)');
  const mark = database.prepare("UPDATE deliveries SET state = 'done' WHERE key = ? AND state = 'pending'");
  return {
    async take(deliveries) {
      for (const { key, rawBody, headers } of deliveries) store.run(key, rawBody, JSON.stringify(headers));
      for (const { key, rawBody } of deliveries) {
        database.exec('BEGIN IMMEDIATE');
        if (mark.run(key).changes === 1) fulfil.run(JSON.parse(rawBody).data.order_id);
        database.exec('COMMIT');
      }
    },
    close: () => database.close(),
  };
}

function inbox() {
  const { file, database } = shop('inbox');
  const opened = openInbox({
    file,
    secret,
    on: {
      'order.paid': ({ data }, { commit }) =>
        commit((db) => db.prepare('INSERT INTO paid VALUES (?)').run(data.order_id)),
    },
  });
  return {
    async take(deliveries) {
      await Promise.all(deliveries.map((each) => opened.accept(each)));
      await opened.idle();
    },
    async close() {
      await opened.close();
      database.close();
    },
  };
}
