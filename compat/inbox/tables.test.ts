// The tables in PostgreSQL: a schema of their own, who may read them, versions, dumps, and what happens if somebody drops them.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { after, afterEach, before, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { openOrderBook } from 'merchant-payments/inbox';
import { Client, Pool } from 'pg';
import { type Postgres, startPostgres } from '../lib/servers.js';
import { newDatabase, openShop, type Shop, sql } from './database.js';

let postgres: Postgres;
const shops: Shop[] = [];

before(async () => {
  postgres = await startPostgres();
});
afterEach(async () => {
  await Promise.all(shops.splice(0).map((shop) => shop.close()));
});
after(() => postgres?.stop());

function open(...given: Parameters<typeof openShop>): Shop {
  const shop = openShop(...given);
  shops.push(shop);
  return shop;
}

/** The migration that the command prints. */
function migrationOf(schema: string): string {
  const cli = ['node_modules/merchant-payments/dist/cli.js', 'inbox', '--print-schema', '--schema', schema];
  return execFileSync(process.execPath, cli, { encoding: 'utf8' });
}

async function tablesIn(url: string): Promise<unknown[]> {
  const rows = await sql(
    url,
    "SELECT schemaname || '.' || tablename AS name FROM pg_tables WHERE tablename LIKE 'payments%' ORDER BY 1",
  );
  return rows.map(({ name }) => name);
}

const allTables = ['', '_content', '_refused', '_version'].map(
  (name) => `payments_inbox.payments_inbox${name}`,
);

test('the tables have a schema of their own, which a tool that resets public leaves alone', async () => {
  const url = await newDatabase(postgres.url);
  const shop = open(url, { work: false });
  assert.equal(await shop.post('ord_1'), 200);
  assert.deepEqual(await tablesIn(url), allTables);
  await sql(url, 'DROP SCHEMA public CASCADE; CREATE SCHEMA public');
  assert.equal(await shop.post('ord_2'), 200);
  assert.equal((await shop.inbox.stats()).pending, 2);
  assert.deepEqual(shop.errors, []);
});

test('nobody but the owner may use them, whatever default privileges the database has', async () => {
  const url = await newDatabase(postgres.url);
  const role = `anon_${process.pid}`;
  await sql(
    url,
    `CREATE ROLE ${role} LOGIN; CREATE SCHEMA exposed; GRANT USAGE ON SCHEMA exposed TO ${role};
     ALTER DEFAULT PRIVILEGES GRANT ALL ON TABLES TO ${role}, PUBLIC;
     ALTER DEFAULT PRIVILEGES GRANT ALL ON SEQUENCES TO ${role}, PUBLIC;
     ALTER DEFAULT PRIVILEGES GRANT ALL ON SCHEMAS TO ${role}, PUBLIC`,
  );
  for (const schema of ['exposed', 'payments_inbox']) {
    assert.equal(await open(url, { schema, work: false }).post('ord_1'), 200);
    const others = await sql(
      url,
      `SELECT relname, grantee::regrole::text FROM pg_class, aclexplode(relacl)
       WHERE relnamespace = '${schema}'::regnamespace AND grantee <> relowner`,
    );
    assert.deepEqual(others, [], schema);
    for (const statement of ['SELECT * FROM', 'DELETE FROM', 'TRUNCATE', 'INSERT INTO'])
      await assert.rejects(
        sql(url.replace('postgres@', `${role}@`), `${statement} ${schema}.payments_inbox`),
        /permission denied|syntax error/,
      );
    const secured = await sql(
      url,
      `SELECT bool_and(relrowsecurity) AS all FROM pg_class WHERE relnamespace = '${schema}'::regnamespace AND relkind = 'r'`,
    );
    assert.deepEqual(secured, [{ all: true }], 'and should somebody grant it, there is no policy');
  }
});

test('four inboxes that open at once do not block each other', async () => {
  const url = await newDatabase(postgres.url);
  for (let round = 0; round < 5; round++) {
    const group = Array.from({ length: 4 }, () => open(url, { schema: `round ${round % 2}`, work: false }));
    const statuses = await Promise.all([
      ...group.map((shop, number) => shop.post(`ord_${round}_${number}`)),
      sql(url, migrationOf(`round ${round % 2}`)).then(() => 200),
    ]);
    assert.deepEqual(statuses, Array(5).fill(200));
    assert.deepEqual(
      group.flatMap(({ errors }) => errors),
      [],
    );
  }
});

test('tables that somebody dropped are made again at the next delivery, and onError says what is gone', async () => {
  for (const [statement, gone] of [
    [
      'DROP SCHEMA payments_inbox CASCADE',
      'payments_inbox, payments_inbox_content, payments_inbox_refused, payments_inbox_version',
    ],
    ['DROP TABLE payments_inbox.payments_inbox', 'payments_inbox'],
    ['DROP TABLE payments_inbox.payments_inbox_content', 'payments_inbox_content'],
    ['DROP TABLE payments_inbox.payments_inbox_version', undefined],
  ] as const) {
    const url = await newDatabase(postgres.url);
    const shop = open(url, { work: false });
    assert.equal(await shop.post('ord_1'), 200);
    await sql(url, statement);
    assert.deepEqual(await Promise.all(['ord_2', 'ord_3'].map((id) => shop.post(id))), [200, 200], statement);
    assert.equal(
      (await shop.inbox.stats()).pending,
      statement.endsWith('payments_inbox') || statement.includes('SCHEMA') ? 2 : 3,
    );
    const messages = shop.errors.map(String);
    assert.equal(messages.length, gone ? 1 : 0, statement);
    const text = `PaymentsError: Somebody dropped tables of the inbox from schema "payments_inbox": ${gone}. They were made again, empty: `;
    if (gone) assert.ok(messages[0]?.startsWith(text), messages[0]);
  }
});

test('a table that is gone when an inbox is opened is made again, and onError is told', async () => {
  const url = await newDatabase(postgres.url);
  await open(url, { work: false }).post('ord_1');
  await sql(url, 'DROP TABLE payments_inbox.payments_inbox_refused');
  const shop = open(url, { work: false });
  assert.equal((await shop.inbox.stats()).pending, 1);
  assert.match(shop.errors.join(), /dropped tables .*: payments_inbox_refused\. They were made again/);
});

test('tables that a later version extended are used; tables that break this version are refused and not changed', async () => {
  const url = await newDatabase(postgres.url);
  await open(url, { work: false }).inbox.stats();
  await sql(
    url,
    `ALTER TABLE payments_inbox.payments_inbox ADD note text; CREATE INDEX ON payments_inbox.payments_inbox (note);
     INSERT INTO payments_inbox.payments_inbox_version VALUES (2, false)`,
  );
  const earlier = open(url);
  assert.equal(await earlier.post('ord_1'), 200);
  await earlier.inbox.idle();
  assert.deepEqual(await sql(url, 'SELECT * FROM payments_inbox.payments_inbox_version ORDER BY 1'), [
    { version: 1, breaks: false },
    { version: 2, breaks: false },
  ]);
  await sql(url, 'INSERT INTO payments_inbox.payments_inbox_version VALUES (3, true), (4, false)');
  const shop = open(url, { work: false });
  assert.equal(await shop.post('ord_2'), 500);
  assert.equal(
    String(shop.errors[0]),
    'ConfigurationError: Schema "payments_inbox" holds an inbox of version 4, and this package reads version 1: version 3 breaks it. ' +
      'Update merchant-payments. Nothing was changed.',
  );
  assert.deepEqual(await sql(url, 'SELECT key FROM payments_inbox.payments_inbox'), [
    { key: 'order.paid:ord_1' },
  ]);
});

test('tables from a dump of the schema alone are an empty inbox, also for a role that may create nothing', async () => {
  const url = await newDatabase(postgres.url);
  const role = `branch_${process.pid}`;
  await sql(url, `CREATE ROLE ${role} LOGIN`);
  await sql(url, migrationOf('payments_inbox'));
  await open(url, { work: false }).post('ord_1');
  const granted = (migrationOf('payments_inbox').match(/(GRANT|CREATE POLICY) .*;$/gm) ?? []).join('\n');
  await sql(url, granted.replaceAll('your_role', role));
  for (const user of ['postgres', role]) {
    const branch = await newDatabase(postgres.url);
    const text = execFileSync('pg_dump', ['-s', url], { encoding: 'utf8' });
    execFileSync('psql', ['-q', branch], { input: text, stdio: ['pipe', 'ignore', 'ignore'] });
    const shop = open(branch.replace('postgres@', `${user}@`));
    assert.equal(await shop.post('ord_2'), 200, user);
    await shop.inbox.idle();
    assert.equal((await shop.inbox.stats()).done, 1);
    assert.deepEqual(shop.errors, []);
  }
});

test('sequences that are behind their tables, as after logical replication, lose no delivery', async () => {
  const url = await newDatabase(postgres.url);
  const shop = open(url, { work: false });
  for (let number = 0; number < 150; number++) assert.equal(await shop.post(`ord_${number}`), 200);
  const forgedRequest = (number: number) =>
    new Request('https://shop.example', {
      method: 'POST',
      body: `{"number":${number}}`,
      headers: { 'x-service-signature': '00', 'x-service-timestamp': '1' },
    });
  for (let number = 0; number < 3; number++) await shop.inbox.handler(forgedRequest(number));
  await sql(
    url,
    `SELECT setval('payments_inbox.payments_inbox_id_seq', 1), setval('payments_inbox.payments_inbox_refused_id_seq', 1)`,
  );
  assert.deepEqual(await Promise.all(['a', 'b', 'c'].map((id) => shop.post(id))), [200, 200, 200]);
  assert.equal((await shop.inbox.handler(forgedRequest(3))).status, 400);
  assert.deepEqual([(await shop.inbox.stats()).pending, (await shop.inbox.stats()).refused], [153, 4]);
  const [row] = await sql(url, 'SELECT last_value > 150 AS right FROM payments_inbox.payments_inbox_id_seq');
  assert.deepEqual(row, { right: true });
});

test('a role that may create nothing gets an error that names the migration, and works once that has run', async () => {
  const url = await newDatabase(postgres.url);
  const role = `shop_${process.pid}`;
  await sql(url, `CREATE ROLE ${role} LOGIN`);
  const theirs = url.replace('postgres@', `${role}@`);
  const shop = open(theirs, { schema: 'webhooks "of" the shop' });
  assert.equal(await shop.post('ord_1'), 500);
  assert.match(String(shop.errors[0]), /ConfigurationError: .*may not create.*--print-schema/);
  await assert.rejects(shop.inbox.stats(), { name: 'ConfigurationError' });
  const migration = migrationOf('webhooks "of" the shop');
  await sql(url, migration);
  await sql(url, migration); // again: nothing changes
  await sql(
    url,
    (migration.match(/(GRANT|CREATE POLICY) .*;$/gm) ?? []).join('\n').replaceAll('your_role', role),
  );
  assert.equal(await shop.post('ord_1'), 200);
  await shop.inbox.idle();
  assert.equal((await shop.inbox.stats()).done, 1);
  assert.equal(await shop.inbox.purge({ olderThan: 0 }), 1, 'a role that is not the owner purges as well');
});

test('instances that start at once create the tables once', async () => {
  const url = await newDatabase(postgres.url);
  const shops = Array.from({ length: 6 }, () => open(url, { schema: 'new' }));
  assert.deepEqual(
    await Promise.all(shops.map((shop, number) => shop.post(`ord_${number}`))),
    Array(6).fill(200),
  );
  await shops[0]?.inbox.idle();
  assert.equal((await shops[0]?.inbox.stats())?.done, 6);
});

test('another instance that makes the tables, before whichever statement of this one, is no loss of tables', async () => {
  for (let [count, isOver] = [1, false]; !isOver; count++) {
    const url = await newDatabase(postgres.url);
    await sql(url, 'CREATE SCHEMA payments_inbox');
    const pool = new Pool({ connectionString: url });
    let statements = 0;
    pool.on('connect', (client) => {
      const { query } = client;
      Object.assign(client, {
        async query(...given: [text: string]) {
          if (++statements === count) await sql(url, migrationOf('payments_inbox'));
          // From here on, another instance waits for this one.
          isOver ||= statements <= count && given[0].includes('pg_advisory_xact_lock');
          return Reflect.apply(query, client, given);
        },
      });
    });
    const shop = open(url, { pool, work: false });
    for (const id of ['ord_1', 'ord_2', 'ord_3']) assert.equal(await shop.post(id), 200);
    assert.deepEqual(shop.errors, [], `before statement ${count}`);
    assert.ok(count < 20);
  }
});

test('the tables of a schema are made while a transaction makes those of another schema', async () => {
  const url = await newDatabase(postgres.url);
  const other = new Client({ connectionString: url });
  await other.connect();
  try {
    await other.query(`BEGIN; ${migrationOf('other')}`);
    assert.equal(await open(url, { schema: 'own' }).post('ord_1'), 200);
  } finally {
    await other.end();
  }
});

test('an order book says that its tables are missing, and how they are made', async () => {
  const url = await newDatabase(postgres.url);
  const { pool } = open(url, { work: false });
  const book = openOrderBook({ pool });
  assert.deepEqual(await book.held(), []);
  await sql(url, 'DROP TABLE payments_inbox.payments_order_payment');
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
    const crediting = book.credit(client, { order_id: 'ord_1', amount: '19.90', currency: 'USD' });
    await assert.rejects(crediting, {
      name: 'ConfigurationError',
      message:
        /^Tables are missing in schema "payments_inbox": relation .*payment" does not exist\. They are made when /,
    });
  } finally {
    client.release(true);
  }
});

test('the migration may run twice, at once, inside a transaction, and as a role that only owns the schema', async () => {
  const url = await newDatabase(postgres.url);
  const schema = 'it\'s "new"';
  await Promise.all(Array.from({ length: 8 }, () => sql(url, migrationOf(schema))));
  await sql(url, `BEGIN; ${migrationOf('undone')}; ROLLBACK`);
  assert.deepEqual(await sql(url, "SELECT 1 FROM pg_namespace WHERE nspname = 'undone'"), []);
  const role = `migrator_${process.pid}`;
  await sql(url, `CREATE ROLE ${role} LOGIN; CREATE SCHEMA theirs AUTHORIZATION ${role}`);
  await sql(url.replace('postgres@', `${role}@`), migrationOf('theirs'));
  for (const name of [schema, 'theirs']) {
    const shop = open(url, { schema: name });
    assert.equal(await shop.post('ord_1'), 200);
    await shop.inbox.idle();
    assert.equal((await shop.inbox.stats()).done, 1);
  }
});

test('tables of another program, or with other columns, are refused before a delivery is taken, and not changed', async () => {
  for (const [statement, reason] of [
    [
      'CREATE SCHEMA payments_inbox; CREATE TABLE payments_inbox.payments_inbox (id int)',
      'column "due_at" does not exist',
    ],
    [
      'CREATE SCHEMA payments_inbox; CREATE TABLE payments_inbox.payments_inbox_refused (id int)',
      'column "code" does not exist',
    ],
    [
      'ALTER TABLE payments_inbox.payments_inbox RENAME last_error TO failure',
      'column "last_error" does not exist',
    ],
    ['ALTER TABLE payments_inbox.payments_inbox_content DROP encoding', 'column "encoding" does not exist'],
  ] as const) {
    const url = await newDatabase(postgres.url);
    if (!statement.startsWith('CREATE')) await open(url).inbox.stats();
    await sql(url, statement);
    const before = await tablesIn(url);
    const shop = open(url);
    for (let tries = 0; tries < 100 && shop.errors.length === 0; tries++) await wait(20);
    assert.equal(
      String(shop.errors[0]),
      `ConfigurationError: Schema "payments_inbox" has tables named payments_inbox that are not of this package: ${reason}. ` +
        'Rename them, or pass another "schema".',
    );
    assert.equal(await shop.post('ord_1'), 500);
    assert.deepEqual(await tablesIn(url), before);
  }
});
