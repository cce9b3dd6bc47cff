// Puts the contract of the inbox on PostgreSQL: each test gets schemas of its own in the database of INBOX_DATABASE_URL.
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { Pool, type PoolClient } from 'pg';
import { afterAll, beforeEach } from 'vitest';
import { type OrderBook, openInbox, openOrderBook, type PoolOf } from '../../../src/inbox/index.js';
import {
  type ContractBook,
  deathAt,
  insertPaid,
  placeInboxesIn,
} from '../../../test/inbox/contract/places.js';

const url = process.env.INBOX_DATABASE_URL ?? '';
// An idle connection has no timer: tests count those of the inbox.
const pool = new Pool({ connectionString: url, max: 10, idleTimeoutMillis: 0 });
afterAll(() => pool.end());

const schemas: string[] = [];
beforeEach(async () => {
  while (schemas.length < 3) {
    const schema = `place ${randomUUID()}`;
    await pool.query(`CREATE SCHEMA "${schema}"; CREATE TABLE "${schema}".paid (order_id text)`);
    schemas.push(schema);
  }
});

placeInboxesIn({
  name: 'PostgreSQL',
  newPlace() {
    const schema = schemas.pop();
    if (schema === undefined) throw new Error('A test takes three places at most.');
    const nameTables = (sql: string) =>
      sql
        .replace(/\$(order\w*)/g, `"${schema}".payments_$1`)
        .replace('$inbox', `"${schema}".payments_inbox`)
        .replace('$paid', `"${schema}".paid`)
        .replace('$past', '0');
    return {
      open: (options) => openInbox({ pool, schema, ...options }),
      openBook: (options, dies) => {
        const book = openOrderBook({ pool: dies ? mortalPool(dies) : pool, schema, ...options });
        return { ...book, runWithin: withinPostgres(book) };
      },
      run: async (sql) => (await pool.query(nameTables(sql))).rows,
      pay: (db) => 'query' in db && db.query(nameTables(insertPaid)),
      args: [url, '--schema', schema],
      cwd: fileURLToPath(new URL('../..', import.meta.url)),
    };
  },
});

/** A pool whose connections call `dies` before each statement. */
function mortalPool(dies: () => void): PoolOf<PoolClient> {
  return {
    async connect() {
      const client = await pool.connect();
      return new Proxy(client, {
        get(target, name) {
          if (name === 'query') dies();
          const found: unknown = Reflect.get(target, name, target);
          return typeof found === 'function' ? found.bind(target) : found;
        },
      });
    },
  };
}

function withinPostgres({
  credit,
  decide,
  cancel,
  returned,
}: OrderBook<PoolClient>): ContractBook['runWithin'] {
  return async (work, killAt) => {
    const client = await pool.connect();
    const dies = deathAt(killAt);
    const run = (sql: string, values: string[]) => {
      dies();
      return client.query(sql, values);
    };
    let isOver = false;
    try {
      await client.query('BEGIN');
      const result = await work({
        credit: (data, receivedAt) => credit(run, data, { receivedAt }),
        decide: (paymentId, orderId) => decide(paymentId, orderId, run),
        cancel: (orderId) => cancel(orderId, client),
        returned: (orderId) => returned(orderId, client),
      });
      dies();
      await client.query('COMMIT');
      isOver = true;
      return result;
    } finally {
      client.release(!isOver);
    }
  };
}
