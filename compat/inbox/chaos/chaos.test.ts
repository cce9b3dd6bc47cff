// Four instances of a shop on one PostgreSQL, and all that goes wrong: kill -9, deploys, frozen processes, connections ended by the
// server, cut in the middle of a commit or forgotten, a server that crashes, restarts, stands still or has no free slot, and a name
// that leads to its read-only copy. A service that never sends again pays 500 orders (CHAOS_ORDERS), some of them twice with other
// amounts, some of them in events that nobody can read. A 500 is a payment lost as well.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { after, before, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { sign } from 'merchant-payments/webhooks';
import { Client } from 'pg';
import { freePort } from '../../../test/helpers/ports.js';
import { randomFrom } from '../../fulfilment/plan.js';
import { type Postgres, startPostgres } from '../../lib/servers.js';
import { type Cutter, startCutter } from './cutter.js';

const seed = Number(process.env.CHAOS_SEED ?? Math.floor(Math.random() * 1e6));
const random = randomFrom(seed);
const secret = 'whsec_of_the_chaos';
const orders = Number(process.env.CHAOS_ORDERS ?? 500);
/** The longest time that a database may be away before a delivery may get 500: storing is tried for eight seconds, and begins at any of them. */
const patienceMs = 5000;
const program = fileURLToPath(new URL('instance.ts', import.meta.url));

/** An event that was sent, and whether one of its deliveries got 200. */
interface Sent {
  id: string;
  amount: string;
  isAccepted: boolean;
}

interface Span {
  from: number;
  to: number;
}

/** When deliveries got 500, from the request to the response. */
const failures: Span[] = [];
/** When the database was away. */
const outages: Span[] = [];

class Instance {
  port = 0;
  ready = false;
  ends = 0;
  /** The output of an instance that ended by itself. */
  crashed: string | undefined;
  #child: ChildProcess | undefined;
  #output = '';
  readonly cutter: Cutter;

  constructor(cutter: Cutter) {
    this.cutter = cutter;
  }

  async start(): Promise<void> {
    this.port ||= await freePort();
    const env = { ...process.env, PORT: `${this.port}`, DATABASE_URL: this.cutter.url };
    const child = spawn(process.execPath, ['--import', 'tsx', program], {
      env: { ...env, PAYMENTS_WEBHOOK_SECRET: secret },
    });
    this.#child = child;
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (this.#output += chunk));
    child.stdout.once('data', () => (this.ready = true));
    child.once('exit', () => {
      if (this.#child === child) this.crashed = this.#output;
      this.ready = false;
    });
  }

  /** Stops the process for a moment. */
  async freeze(work: () => Promise<unknown>): Promise<void> {
    const child = this.#child;
    child?.kill('SIGSTOP');
    await work();
    child?.kill('SIGCONT');
  }

  async end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    const child = this.#child;
    assert.equal(this.crashed, undefined, 'an instance ended by itself');
    if (!child) return;
    this.#child = undefined;
    this.ready = false;
    child.kill(signal);
    const [code] = await once(child, 'exit');
    if (signal === 'SIGTERM') assert.equal(code, 0, `an instance left with ${code}:\n${this.#output}`);
    this.ends++;
  }
}

let postgres: Postgres;
let standby: Postgres;
const shop: Instance[] = [];

before(async () => {
  console.log(`Seed ${seed}. To repeat this run: CHAOS_SEED=${seed} npm run compat inbox`);
  postgres = await startPostgres();
  await sql(
    `CREATE TABLE fulfilments (order_id text, amount numeric); CREATE TABLE takings (amount numeric);
     INSERT INTO takings VALUES (0)`,
  );
  standby = await startPostgres(postgres);
  for (let count = 0; count < 4; count++) shop.push(new Instance(await startCutter(postgres.url)));
  await Promise.all(shop.map((one) => one.start()));
});
after(async () => {
  await Promise.all(shop.map((one) => one.end('SIGKILL').catch(() => undefined)));
  for (const { cutter } of shop) cutter.stop();
  await standby?.stop();
  await postgres?.stop();
});

test('every delivery that got 200 is fulfilled exactly once, or kept for a person', async () => {
  const paid = Array.from({ length: orders }, (_, number) => order(`ord_${seed}_${number}`, 1000 + number));
  const conflicts = paid.slice(0, 20).map(({ id }, number) => order(id, 9000 + number));
  const unreadable = Array.from({ length: 20 }, (_, number) => ({
    ...order(`bad_${seed}_${number}`, 0),
    amount: `${number},50`,
  }));
  const stream = [...paid, ...paid.slice(20, 80), ...conflicts, ...unreadable].sort(() => random() - 0.5);
  const faults = [
    ...Array.from({ length: 12 }, () => kill),
    ...Array.from({ length: 6 }, () => deploy),
    ...Array.from({ length: 6 }, () => terminate),
    ...Array.from({ length: 12 }, () => cut),
    ...Array.from({ length: 4 }, () => freezeProcess),
    ...Array.from({ length: 4 }, () => forget),
    ...Array.from({ length: 4 }, () => failOver),
    crash,
    crash,
    restart,
    restart,
    freezeServer,
    takeSlots,
  ].sort(() => random() - 0.5);

  const waiting = [...stream];
  let isOver = false;
  const sender = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const times = random() < 0.05 ? 3 : 1;
      const replies = await Promise.all(Array.from({ length: times }, () => deliver(next)));
      next.isAccepted ||= replies.includes(200);
      await wait(random() * 60);
    }
  };
  const chaos = async () => {
    for (const fault of faults) {
      await wait(100 + random() * 200);
      await fault(shop[Math.floor(random() * shop.length)] ?? assert.fail());
    }
    isOver = true;
  };
  await Promise.all([chaos(), ...Array.from({ length: 8 }, sender)]);
  assert.ok(isOver);

  for (let tries = 0; tries < 600; tries++) {
    const [row] = await sql(
      "SELECT count(*)::int AS left FROM payments_inbox.payments_inbox WHERE state IN ('pending', 'running')",
    );
    if (row?.left === 0) break;
    await wait(100);
  }
  const fulfilled = await sql(
    'SELECT order_id, array_agg(amount::text) AS amounts FROM fulfilments GROUP BY 1',
  );
  const rows = await sql('SELECT key, state, last_error, lost FROM payments_inbox.payments_inbox');
  const keys = new Map(rows.map(({ key, state }) => [String(key), String(state)]));
  const [takings] = await sql(
    'SELECT amount = (SELECT sum(amount) FROM fulfilments) AS right, amount::text FROM takings',
  );
  const isAllowed = ({ from, to }: Span) =>
    outages.some((outage) => outage.to - outage.from > patienceMs && outage.from < to && outage.to > from);
  const lostTo500 = failures.filter((failure) => !isAllowed(failure));
  const accepted = paid.filter(({ isAccepted }) => isAccepted);
  console.log(
    `${accepted.length} of ${orders} orders got 200, ${fulfilled.length} fulfilled; ` +
      `${shop.reduce((sum, { ends }) => sum + ends, 0)} ends, ${shop.reduce((sum, { cutter }) => sum + cutter.cuts(), 0)} commits cut; ` +
      `${conflicts.filter(({ isAccepted }) => isAccepted).length} conflicts and ${unreadable.filter(({ isAccepted }) => isAccepted).length} unreadable events got 200`,
  );
  const times = new Map(fulfilled.map(({ order_id, amounts }) => [String(order_id), amounts]));
  const conflicting = new Map(conflicts.map((one) => [one.id, one]));
  const lost = accepted.filter(({ id }) => !times.has(id)).map(({ id }) => id);
  const twice = [...times].filter(([, amounts]) => !Array.isArray(amounts) || amounts.length !== 1);
  // Of two amounts, the first to be stored is fulfilled, and the other one is kept beside it.
  const dropped = accepted.filter(({ id, isAccepted }) => {
    const other = conflicting.get(id);
    return (
      isAccepted && other?.isAccepted && ![...keys.keys()].some((key) => key.startsWith(`order.paid:${id}#`))
    );
  });
  const kept = [...keys].filter(([key]) => key.startsWith('invalid:'));
  assert.deepEqual(
    { lost, twice, dropped, lostTo500, takings },
    { lost: [], twice: [], dropped: [], lostTo500: [], takings: { ...takings, right: true } },
  );
  assert.ok(kept.length >= unreadable.filter(({ isAccepted }) => isAccepted).length);
  for (const [key, state] of keys) assert.equal(state, /^invalid:|#/.test(key) ? 'parked' : 'done', key);
  assert.deepEqual(shop.map(({ crashed }) => crashed).filter(Boolean), [], 'no instance ends by itself');
  assert.ok(accepted.length > orders / 2, 'most deliveries have to get through');
});

function order(id: string, cents: number): Sent {
  return { id, amount: (cents / 100).toFixed(2), isAccepted: false };
}

/** To an instance that runs, as a load balancer does; a refused connection carried nothing. */
async function deliver({ id, amount }: Sent): Promise<number | undefined> {
  const body = JSON.stringify({ type: 'order.paid', data: { order_id: id, amount, currency: 'USD' } });
  for (;;) {
    const running = shop.filter(({ ready }) => ready);
    const { port } = running[Math.floor(random() * running.length)] ?? {};
    if (port !== undefined) {
      try {
        const headers = sign({ rawBody: body, secret });
        const from = performance.now();
        const response = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body, headers });
        if (response.status === 500) failures.push({ from, to: performance.now() });
        return response.status;
      } catch (error) {
        const cause = error instanceof Error && error.cause instanceof Error ? error.cause : undefined;
        if (!cause || Reflect.get(cause, 'code') !== 'ECONNREFUSED') return undefined;
      }
    }
    await wait(20);
  }
}

async function kill(one: Instance): Promise<void> {
  await one.end('SIGKILL');
  await one.start();
}

async function deploy(one: Instance): Promise<void> {
  if (!one.ready) return kill(one);
  await one.end('SIGTERM');
  await one.start();
}

async function terminate(): Promise<void> {
  await sql(
    'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname IS NOT NULL',
  );
}

async function cut({ cutter }: Instance): Promise<void> {
  const text = random() < 0.7 ? 'UPDATE takings' : 'INSERT INTO "payments_inbox"';
  cutter.arm(random() < 0.5 ? 'before' : 'after', text);
}

const crash = () => whileAway(() => postgres.crash());
const restart = () => whileAway(() => postgres.restart());

async function freezeServer(): Promise<void> {
  await whileAway(async () => {
    const goOn = postgres.freeze();
    await wait(3000);
    goOn();
  });
}

/** The connections of a process are gone when it goes on. */
async function freezeProcess(one: Instance): Promise<void> {
  await one.freeze(async () => {
    await terminate();
    await wait(300);
  });
}

async function forget({ cutter }: Instance): Promise<void> {
  cutter.forget();
}

/** For a moment, the name leads to the read-only copy. */
async function failOver({ cutter }: Instance): Promise<void> {
  cutter.leadTo(standby.url);
  cutter.cutAll();
  await wait(1500);
  cutter.leadTo(postgres.url);
}

async function takeSlots(): Promise<void> {
  const taken: Client[] = [];
  for (let isFree = true; isFree; ) {
    const client = new Client({ connectionString: postgres.url });
    client.on('error', () => undefined);
    isFree = await client.connect().then(
      () => taken.push(client) < 200,
      () => false,
    );
  }
  await wait(500);
  await Promise.all(taken.map((client) => client.end()));
}

async function whileAway(work: () => Promise<unknown>): Promise<void> {
  const from = performance.now();
  await work();
  outages.push({ from, to: performance.now() });
}

async function sql(text: string): Promise<Record<string, unknown>[]> {
  for (let tries = 0; ; tries++) {
    const client = new Client({ connectionString: postgres.url });
    client.on('error', () => undefined);
    try {
      await client.connect();
      return (await client.query(text)).rows;
    } catch (error) {
      if (tries > 20) throw error;
      await wait(100);
    } finally {
      await client.end().catch(() => undefined);
    }
  }
}
