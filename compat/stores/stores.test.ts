// The claims of examples/webhooks on two machines at once, against a real Redis and a real PostgreSQL.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createSandbox, type Sandbox, type SandboxEvent } from 'merchant-payments/sandbox';
import { Client } from 'pg';
import { createClient } from 'redis';
import { type Receiver, start } from '../lib/receiver.js';
import { type Server, startPostgres, startRedis } from '../lib/servers.js';

const secret = 'whsec_of_the_stores';
let sandbox: Sandbox;
let redis: Server;
let postgres: Server;
const started: Receiver[] = [];

before(async () => {
  sandbox = createSandbox({ webhookSecret: secret, webhooks: 'manual' });
  // In turn: were one of two to fail at once, nobody would stop the other.
  redis = await startRedis();
  postgres = await startPostgres();
});
after(async () => {
  await Promise.all(started.map((receiver) => receiver.stop()));
  await Promise.all([redis?.stop(), postgres?.stop(), sandbox.close()]);
});

async function machine(name: string): Promise<Receiver> {
  const environment = { PAYMENTS_WEBHOOK_SECRET: secret, REDIS_URL: redis.url, DATABASE_URL: postgres.url };
  const receiver = await start(name, environment);
  started.push(receiver);
  return receiver;
}

async function paid(): Promise<SandboxEvent> {
  return (await sandbox.trigger('order.paid')).event;
}

async function deliver(event: SandboxEvent, receiver: Receiver): Promise<number> {
  sandbox.setWebhook(receiver.url);
  return (await fetch(await sandbox.signedRequest(event))).status;
}

function timesFulfilled(event: SandboxEvent, receivers: Receiver[]): number {
  return receivers.flatMap((receiver) => receiver.fulfilled()).filter((id) => id === event.data.order_id)
    .length;
}

for (const name of ['redis-claim.ts', 'postgres-claim.ts']) {
  test(`${name}: two machines fulfil an order once, whoever gets it first and how often`, async () => {
    const machines = [await machine(name), await machine(name)];
    const [one, two] = machines;
    assert.ok(one && two);

    const event = await paid();
    assert.equal(await deliver(event, one), 200);
    assert.equal(await deliver(event, two), 200);
    assert.equal(await deliver(event, one), 200);
    assert.equal(timesFulfilled(event, machines), 1);

    for (let round = 0; round < 10; round++) {
      const raced = await paid();
      const to = [one, two, one, two, one, two];
      const statuses = await Promise.all(to.map((receiver) => deliver(raced, receiver)));
      assert.ok(statuses.includes(200), `${statuses}`);
      assert.ok(
        statuses.every((status) => status === 200 || status === 409),
        `${statuses}`,
      );
      assert.equal(timesFulfilled(raced, machines), 1);
      assert.equal(await deliver(raced, one), 200);
      assert.equal(await deliver(raced, two), 200);
      assert.equal(timesFulfilled(raced, machines), 1);
    }

    const restarted = await machine(name);
    assert.equal(await deliver(event, restarted), 200);
    assert.equal(timesFulfilled(event, [...machines, restarted]), 1);
  });
}

test('redis-claim.ts: 409 while another machine holds the claim, 200 once that claim is gone', async () => {
  const receiver = await machine('redis-claim.ts');
  const event = await paid();
  const key = `order.paid:${event.data.order_id}`;
  const store = createClient({ url: redis.url });
  await store.connect();
  await store.set(key, 'another machine');
  assert.equal(await deliver(event, receiver), 409);
  await store.del(key);
  assert.equal(await deliver(event, receiver), 200);
  assert.equal(await store.get(key), 'finished');
  assert.ok((await store.pTTL(key)) > 0);
  await store.close();
  assert.equal(timesFulfilled(event, [receiver]), 1);
});

test('postgres-claim.ts: waits for a machine in the middle of the order, and fulfils if that one fails', async () => {
  const receiver = await machine('postgres-claim.ts');
  const other = new Client({ connectionString: postgres.url });
  await other.connect();
  for (const [outcome, times] of [
    ['ROLLBACK', 1],
    ['COMMIT', 0],
  ] as const) {
    const event = await paid();
    await other.query('BEGIN');
    await other.query('INSERT INTO fulfilments VALUES ($1, 1, $2)', [event.data.order_id, 'USD']);
    const answer = deliver(event, receiver);
    await waiting(other);
    assert.equal(timesFulfilled(event, [receiver]), 0);
    await other.query(outcome);
    assert.equal(await answer, 200);
    assert.equal(timesFulfilled(event, [receiver]), times);
  }
  await other.end();
});

/** Until another session waits for a lock. */
async function waiting(client: Client): Promise<void> {
  for (;;) {
    const { rows } = await client.query("SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'");
    if (rows.length > 0) return;
  }
}

test('a store that is down: 500, and nothing is fulfilled', async () => {
  const receiver = await machine('redis-claim.ts');
  await redis.stop();
  const event = await paid();
  assert.equal(await deliver(event, receiver), 500);
  assert.equal(timesFulfilled(event, [receiver]), 0);
});
