// The cost of `reserve()` and `credit()` of the order book beside 100,000 unpaid orders, by what they cost beside 100: both read by an
// index what the amount in question needs. Needs Node 22.13.
//   node inbox/order-book.mjs [--orders 100000] [--rounds 300] [--only sqlite,postgres] [--package /path/to/dist]
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { machine } from '../lib/measure.mjs';
import { figure, table } from '../lib/table.mjs';
import { startPostgres } from './postgres.mjs';

const { values } = parseArgs({
  options: {
    orders: { type: 'string', default: '100000' },
    rounds: { type: 'string', default: '300' },
    only: { type: 'string', default: 'sqlite,postgres' },
    package: { type: 'string', default: join(import.meta.dirname, '../../dist') },
  },
});
const rounds = Number(values.rounds);
const sizes = [100, Number(values.orders)];
const { openOrderBook } = await import(pathToFileURL(resolve(values.package, 'inbox.js')).href);
const day = 86_400_000;
/** The price of a round's order. Each round has another, so that amounts do not run out. */
const priceOf = (round) => 1000 + round;

/** Yields unpaid orders at the amounts that the rounds ask for, whose checkouts expired weeks ago. */
function* abandonedOrders(count) {
  for (let number = 0; number < count; number++) {
    const amount = (priceOf(number % rounds) - (number % 51) / 100).toFixed(2);
    const at = Date.now() - 30 * day + number * 10;
    yield [`abandoned ${number}`, amount, 'USD', 'open', at, at, at];
  }
}
const columns = '(id, amount, currency, state, created_at, expires_at, payable_until)';

const stores = { sqlite, postgres };
const rows = [];
for (const name of values.only.split(',')) {
  const store = await stores[name]();
  try {
    const books = [];
    for (const size of sizes) books.push(await store.open(size));
    const times = sizes.map(() => ({ reserve: [], credit: [] }));
    for (let round = 0; round < rounds; round++) {
      // Taking turns, so that both see the same machine.
      for (const [at, { book, credit }] of books.entries()) {
        const id = `order ${round}`;
        const wanted = { id, price: priceOf(round).toFixed(2), currency: 'USD' };
        const { amount } = await measure(times[at].reserve, () => book.reserve(wanted));
        await book.open(id, { expiresAt: new Date(Date.now() + day) });
        const paid = await measure(times[at].credit, () =>
          credit({ order_id: `payment ${round}`, amount, currency: 'USD' }),
        );
        if (paid[0]?.id !== id) throw new Error(`${name}: ${id} was not credited`);
      }
    }
    for (const method of ['reserve', 'credit']) {
      const [few, many] = times.map((each) => median(each[method]));
      rows.push([`${name}: ${method}`, few.toFixed(2), many.toFixed(2), (many / few).toFixed(2)]);
    }
  } finally {
    await store.close();
  }
}
console.log(`${machine(process.execPath)}; medians of ${figure(rounds)} rounds, in ms`);
console.log(table(['', ...sizes.map((size) => `${figure(size)} unpaid`), 'ratio'], rows));

async function measure(times, work) {
  const began = performance.now();
  const result = await work();
  times.push(performance.now() - began);
  return result;
}

function median(times) {
  return times.sort((one, other) => one - other)[Math.floor(times.length / 2)];
}

function sqlite() {
  const folder = mkdtempSync(join(tmpdir(), 'bench-book-'));
  const opened = [];
  return {
    async open(size) {
      const database = new DatabaseSync(join(folder, `${size}.sqlite`));
      database.exec('PRAGMA journal_mode = WAL');
      opened.push(database);
      const book = openOrderBook({ database });
      await book.overdue(); // makes the tables
      const insert = database.prepare(`INSERT INTO payments_order ${columns} VALUES (?, ?, ?, ?, ?, ?, ?)`);
      database.exec('BEGIN');
      for (const order of abandonedOrders(size)) insert.run(...order);
      database.exec('COMMIT; ANALYZE');
      const credit = (data) => {
        database.exec('BEGIN IMMEDIATE');
        const paid = book.credit(database, data);
        database.exec('COMMIT');
        return paid;
      };
      return { book, credit };
    },
    async close() {
      for (const database of opened) database.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function postgres() {
  const server = await startPostgres();
  const pool = new pg.Pool({ connectionString: server.url, max: 4 });
  return {
    async open(size) {
      const schema = `book_${size}`;
      const book = openOrderBook({ pool, schema });
      await book.overdue(); // makes the tables
      const orders = [...abandonedOrders(size)];
      while (orders.length > 0) {
        const some = orders.splice(0, 5000);
        const lists = [0, 1, 2, 3, 4, 5, 6].map((at) => some.map((order) => order[at]));
        await pool.query(
          `INSERT INTO ${schema}.payments_order ${columns}
           SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::bigint[], $7::bigint[])`,
          lists,
        );
      }
      await pool.query(`VACUUM ANALYZE ${schema}.payments_order`);
      const credit = async (data) => {
        const client = await pool.connect();
        await client.query('BEGIN');
        const paid = await book.credit(client, data);
        await client.query('COMMIT');
        client.release();
        return paid;
      };
      return { book, credit };
    },
    async close() {
      await pool.end();
      await server.stop();
    },
  };
}
