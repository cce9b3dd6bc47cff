// examples/fulfilment/databases/: the inbox with each library, on a real server, fulfilling each order once.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Inbox } from 'merchant-payments/inbox';
import { Client } from 'pg';
import { type Server, startPostgres } from '../lib/servers.js';
import { post, secret } from './database.js';

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

async function sql(url: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}
