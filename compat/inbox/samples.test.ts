// examples/fulfilment/databases/: the inbox with each library, on a real server, fulfilling each order once. And the order book with each.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { PrismaPg } from '@prisma/adapter-pg';
import { CompiledQuery, Kysely, PostgresDialect } from 'kysely';
import { type Inbox, openOrderBook, type PostgresRun } from 'merchant-payments/inbox';
import { Pool } from 'pg';
import postgresJs from 'postgres';
import { type Server, startPgBouncer, startPostgres } from '../lib/servers.js';
import { newDatabase, post, secret, sql } from './database.js';

const folder = fileURLToPath(new URL('../.examples/fulfilment/databases', import.meta.url));
let postgres: Server;

before(async () => {
  postgres = await startPostgres();
  // Generating needs no engine, but the command would download one.
  const env = { ...process.env, PRISMA_SCHEMA_ENGINE_BINARY: '/bin/true', CHECKPOINT_DISABLE: '1' };
  const prisma = fileURLToPath(new URL('../node_modules/.bin/prisma', import.meta.url));
  execFileSync(prisma, ['generate', '--schema', `${folder}/schema.prisma`], { env });
});
after(() => postgres?.stop());

for (const name of ['pg', 'postgres-js', 'drizzle', 'kysely', 'prisma']) {
  test(`${name}.ts has at most twenty lines`, () => {
    assert.ok(readFileSync(`${folder}/${name}.ts`, 'utf8').split('\n').length <= 21);
  });

  test(`${name}.ts fulfils each paid order once, with the delivery in one transaction`, async () => {
    const database = `sample_${name.replace('-', '_')}`;
    await sql(postgres.url, `CREATE DATABASE ${database}`);
    const url = postgres.url.replace(/[^/]*$/, database);
    // PgBouncer, which shares sessions, may lose a statement that one prepared by name.
    await sql(
      url,
      `CREATE FUNCTION none_prepared() RETURNS boolean LANGUAGE sql AS 'SELECT count(*) = 0 FROM pg_prepared_statements';
       CREATE TABLE paid (order_id text PRIMARY KEY, amount numeric NOT NULL CHECK (amount < 100), CHECK (none_prepared()))`,
    );
    Object.assign(process.env, { DATABASE_URL: url, PAYMENTS_WEBHOOK_SECRET: secret });
    const { inbox }: { inbox: Inbox } = await import(`${folder}/${name}.ts`);
    const ids = ['ord_1', 'ord_2', 'ord_3', 'ord_2'];
    for (const id of ids) assert.equal(await post(inbox, id, '19.90'), 200);
    await inbox.idle();
    // The shop's own transaction fails: then the delivery is not done.
    assert.equal(await post(inbox, 'ord_dear', '100.00'), 200);
    await inbox.idle();
    assert.deepEqual(
      (await sql(url, 'SELECT order_id, amount::text FROM paid ORDER BY 1')).map(Object.values),
      ['ord_1', 'ord_2', 'ord_3'].map((id) => [id, '19.90']),
    );
    const { state, attempts, lastError } = (await inbox.get('order.paid:ord_dear')) ?? {};
    assert.deepEqual([state, attempts], ['pending', 1]);
    assert.match(lastError ?? '', /check constraint|Failed query/);
    await inbox.close();
  });
}

/** Runs the shop's transaction with a library; passes the function that executes a statement in it. */
type Transact = (work: (run: PostgresRun) => Promise<void>) => Promise<unknown>;

const libraries: Record<string, (pool: Pool, url: string) => Promise<Transact>> = {
  async kysely(pool) {
    const db = new Kysely({ dialect: new PostgresDialect({ pool }) });
    return (work) =>
      db
        .transaction()
        .execute((tx) => work((text, values) => tx.executeQuery(CompiledQuery.raw(text, values))));
  },
  async prisma(pool) {
    const { PrismaClient } = await import(`${folder}/prisma-client/client.ts`);
    const prisma = new PrismaClient({ adapter: new PrismaPg(pool) });
    type Tx = { $queryRawUnsafe(text: string, ...values: string[]): Promise<unknown[]> };
    return (work) =>
      prisma.$transaction((tx: Tx) => work((text, values) => tx.$queryRawUnsafe(text, ...values)));
  },
  async 'postgres.js'(_pool, url) {
    const db = postgresJs(url, { prepare: false, onnotice: () => {} });
    after(() => db.end());
    return (work) => db.begin((tx) => work((text, values) => tx.unsafe(text, values)));
  },
};

for (const [name, open] of Object.entries(libraries)) {
  for (const way of ['directly', 'behind PgBouncer']) {
    test(`the order book credits in a transaction of ${name}, ${way}, and not where that is rolled back`, async () => {
      const url = await newDatabase(postgres.url);
      const bouncer = way === 'directly' ? undefined : await startPgBouncer(url);
      const pool = new Pool({ connectionString: bouncer?.url ?? url });
      const transact = await open(pool, bouncer?.url ?? url);
      const book = openOrderBook({ pool });
      for (const id of ['A', 'B']) {
        await book.reserve({ id, price: '19.90', currency: 'USD' });
        await book.open(id, { expiresAt: new Date(Date.now() + 30 * 60_000) });
      }
      const credit = (order_id: string, amount: string, fails = false) =>
        transact(async (run) => {
          const paid = await book.credit(run, { order_id, amount, currency: 'USD' });
          assert.deepEqual(
            paid.map(({ id }) => id),
            [amount === '19.90' ? 'A' : 'B'],
          );
          if (fails) throw new Error('the shop failed');
        });
      await assert.rejects(credit('ord_1', '19.90', true), /the shop failed/);
      await credit('ord_1', '19.90');
      await transact(async (run) => {
        await book.cancel('B', run);
        assert.deepEqual(await book.credit(run, { order_id: 'ord_2', amount: '19.89', currency: 'USD' }), []);
        assert.equal((await book.decide('ord_2', 'B', run))[0]?.paymentId, 'ord_2');
      });
      assert.deepEqual(await book.held(), []);
      await pool.end();
      await bouncer?.stop();
    });
  }
}
