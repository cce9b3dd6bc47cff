// Puts the contract of the inbox on PostgreSQL: each test gets schemas of its own in the database of INBOX_DATABASE_URL.
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { Pool } from 'pg';
import { afterAll, beforeEach } from 'vitest';
import { openInbox } from '../../../src/inbox/index.js';
import { insertPaid, placeInboxesIn } from '../../../test/inbox/contract/places.js';

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
    const named = (sql: string) =>
      sql
        .replace('$inbox', `"${schema}".payments_inbox`)
        .replace('$paid', `"${schema}".paid`)
        .replace('$past', '0');
    return {
      open: (options) => openInbox({ pool, schema, ...options }),
      run: async (sql) => (await pool.query(named(sql))).rows,
      pay: (db) => 'query' in db && db.query(named(insertPaid)),
      args: [url, '--schema', schema],
      cwd: fileURLToPath(new URL('../..', import.meta.url)),
    };
  },
});
