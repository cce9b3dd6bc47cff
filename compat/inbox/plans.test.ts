// The plans of the inbox's statements beside 200,000 deliveries that are done.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Postgres, startPostgres } from '../lib/servers.js';
import { newDatabase, openShop, sql } from './database.js';

let postgres: Postgres;
before(async () => {
  postgres = await startPostgres();
});
after(() => postgres?.stop());

/** Makes copies of the one delivery that is done. */
const copies = `WITH copied AS (
    INSERT INTO payments_inbox.payments_inbox (key, digest, state, received_at, attempts, finished_at)
      SELECT key || n, digest, state, received_at, attempts, finished_at
      FROM payments_inbox.payments_inbox, generate_series(1, 200000) AS n RETURNING id
  )
  INSERT INTO payments_inbox.payments_inbox_content
    SELECT copied.id, event, raw_body, encoding, headers FROM copied, payments_inbox.payments_inbox_content`;

test('what stores, claims, renews and settles a delivery uses an index beside 200,000 that are done', async () => {
  const url = await newDatabase(postgres.url);
  const first = openShop(url);
  assert.equal(await first.post('ord_first'), 200);
  for (let state = ''; state !== 'done'; ) ({ state = '' } = (await first.inbox.list())[0] ?? {});
  await first.close();
  await sql(url, copies);
  await sql(url, 'ANALYZE');
  const statements: string[] = [];
  const shop = openShop(url, {
    leaseMs: 100,
    on: {
      'order.paid': async ({ data }, { commit }) => {
        if (data.order_id === 'ord_fails') throw new Error('no stock');
        await new Promise((resolve) => setTimeout(resolve, 200));
        await commit(() => {});
      },
    },
  });
  shop.pool.on('connect', (client) => {
    const { query } = client;
    client.query = (...given: unknown[]) => {
      statements.push(String(given[0]));
      return Reflect.apply(query, client, given);
    };
  });
  for (const id of ['ord_1', 'ord_fails', 'ord_1']) assert.equal(await shop.post(id), 200);
  await shop.inbox.idle();
  await shop.close();
  const plans: string[] = [];
  for (const text of statements.flatMap((sent) => sent.split(';')))
    if (text.includes('.payments_inbox')) {
      const plan = await sql(url, `EXPLAIN ${text}`);
      plans.push([text, ...plan.map(Object.values)].join('\n'));
    }
  for (const plan of plans) assert.doesNotMatch(plan, /Seq Scan on payments_inbox(?:_content)? /);
  for (const [text, index] of [
    ['stored AS', 'payments_inbox_key'],
    ['digest, event FROM', 'payments_inbox_key'],
    ['min(due_at)', 'payments_inbox_due(?:_set)?'],
    ['due AS MATERIALIZED', 'payments_inbox_due(?:_set)?'],
    ["SET state = 'done'", 'payments_inbox_pkey'],
    ["SET state = 'pending'", 'payments_inbox_pkey'],
    ['SET due_at', 'payments_inbox_pkey'],
  ] as const) {
    const [plan] = plans.filter((each) => each.includes(text));
    assert.match(plan ?? '', new RegExp(`Index (?:Only )?Scan using ${index} `), text);
  }
});
