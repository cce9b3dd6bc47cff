// Run: MYSQL_URL=mysql://… PAYMENTS_WEBHOOK_SECRET=… node mysql.ts [web|worker|parked|retry|recover '{…}']
/**
 * Several instances and MySQL 8 or MariaDB 10.6: the webhook stores each delivery in a table before it responds 200, and a
 * worker fulfils in the transaction that marks it done. Without an argument, one process does both. `parked` lists what
 * needs a person; `retry` runs it again. What was refused is kept too: once you know how the service signs, `recover` with
 * that scheme stores what is authentic.
 *
 * Needs Node 22.18 or later, and `npm install merchant-payments mysql2`.
 */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Delivery,
  nodeHandler,
  type RefusedDelivery,
  recover,
  verify,
} from 'merchant-payments/webhooks';
import { createPool, type PoolConnection, type ResultSetHeader, type RowDataPacket } from 'mysql2/promise';

const [role = 'both', scheme = '{}'] = process.argv.slice(2);
const secret = process.env.PAYMENTS_WEBHOOK_SECRET;
const pool = createPool({
  uri: process.env.MYSQL_URL ?? 'mysql://localhost/shop',
  charset: 'utf8mb4',
  timezone: 'Z',
});
for (const table of [
  `webhook_inbox (
    id BIGINT AUTO_INCREMENT PRIMARY KEY, content BINARY(32) NOT NULL UNIQUE, delivery MEDIUMTEXT NOT NULL,
    state ENUM('pending', 'done', 'parked') NOT NULL, attempts INT NOT NULL DEFAULT 0,
    due_at DATETIME(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3), last_error TEXT, INDEX (state, due_at))`,
  'webhook_refused (id BIGINT AUTO_INCREMENT PRIMARY KEY, delivery MEDIUMTEXT NOT NULL)',
  // Binary, so that ids in other letter cases are other orders.
  `fulfilments (order_id VARBINARY(255) PRIMARY KEY, amount DECIMAL(30, 10) NOT NULL, currency CHAR(3) NOT NULL)`,
  `takings (currency CHAR(3) PRIMARY KEY, amount DECIMAL(30, 10) NOT NULL)`,
])
  await pool.query(`CREATE TABLE IF NOT EXISTS ${table} ENGINE = InnoDB DEFAULT CHARSET = utf8mb4`);

/** The wait of a delivery after each failure; after the last one it is parked. */
const waits = ['5 SECOND', '30 SECOND', '2 MINUTE', '10 MINUTE', '1 HOUR', '6 HOUR'];
let stopping = false;
const server = role === 'web' || role === 'both' ? listen() : undefined;
const working = role === 'worker' || role === 'both' ? [work(), work(), work(), work()] : [];
if (working.length > 0) console.log('Working');
process.once('SIGTERM', () => void shutDown());

if (role === 'parked')
  for (const row of await rows("SELECT delivery, last_error FROM webhook_inbox WHERE state = 'parked'"))
    console.log(row.delivery, row.last_error);
if (role === 'retry') {
  const retry =
    "UPDATE webhook_inbox SET state = 'pending', attempts = 0, due_at = NOW(3) WHERE state = 'parked'";
  const [{ affectedRows }] = await pool.execute<ResultSetHeader>(retry);
  console.log('To be tried again:', affectedRows);
}
if (role === 'recover') {
  let recovered = 0;
  for (const { id, delivery } of await rows('SELECT id, delivery FROM webhook_refused ORDER BY id')) {
    const record = JSON.parse(delivery) as RefusedDelivery;
    for (const authentic of recover([record], { secret, scheme: JSON.parse(scheme) as object })) {
      await store(authentic);
      await pool.execute('DELETE FROM webhook_refused WHERE id = ?', [id]);
      recovered++;
    }
  }
  console.log('Recovered:', recovered);
}
if (!server && working.length === 0) await shutDown();

function listen(): Server {
  const receive = nodeHandler({
    secret,
    accept: store,
    refused: async (refused) => {
      const keep = 'INSERT INTO webhook_refused (delivery) VALUES (?)';
      const [{ insertId }] = await pool.execute<ResultSetHeader>(keep, [JSON.stringify(refused)]);
      // Anybody can send these. The first hundred and the last thousand stay.
      await pool.execute('DELETE FROM webhook_refused WHERE id > 100 AND id <= ?', [insertId - 1000]);
    },
  });
  const port = process.env.PORT ?? '3036';
  return createServer((request, response) => {
    if (request.url === '/webhooks') {
      void receive(request, response);
      return;
    }
    response.writeHead(404).end();
  }).listen(Number(port), () => {
    console.log(`Listening on http://localhost:${port}/webhooks`);
  });
}

/** Once a content: one order with another amount is another row. What this version cannot read waits for a person. */
async function store(delivery: Delivery): Promise<void> {
  const { key, digest, event } = delivery;
  const problem =
    event.type === 'unknown' ? (event.problem ?? `No code handles ${event.originalType}.`) : null;
  await pool.execute(
    `INSERT INTO webhook_inbox (content, delivery, state, last_error) VALUES (UNHEX(SHA2(?, 256)), ?, ?, ?)
     ON DUPLICATE KEY UPDATE id = id`,
    [`${key}#${digest}`, JSON.stringify(delivery), problem === null ? 'pending' : 'parked', problem],
  );
}

/** Works on one delivery after the other. */
async function work(): Promise<void> {
  while (!stopping) {
    const worked = await workOnce().catch((error: unknown) => {
      console.error(error); // the database is away, say
    });
    if (!worked) await sleep(500);
  }
}

/** Fulfils what is due first; `false` if nothing is. A process that dies leaves it as it was: its transaction ends. */
async function workOnce(): Promise<boolean> {
  const connection = await pool.getConnection();
  try {
    // Under the default level, the lock of this row would hold up the storing of new ones.
    await connection.query('SET TRANSACTION ISOLATION LEVEL READ COMMITTED');
    await connection.beginTransaction();
    const [[row]] = await connection.query<RowDataPacket[]>(
      `SELECT id, attempts, delivery FROM webhook_inbox WHERE state = 'pending' AND due_at <= NOW(3)
       ORDER BY due_at, id LIMIT 1 FOR UPDATE SKIP LOCKED`,
    );
    if (row) {
      await connection.query('SAVEPOINT before_fulfilment');
      const settle = 'UPDATE webhook_inbox SET state = ?, last_error = ?, attempts = attempts + 1';
      try {
        const problem = await fulfil(connection, JSON.parse(String(row.delivery)) as Delivery);
        await connection.execute(`${settle} WHERE id = ?`, [
          problem ? 'parked' : 'done',
          problem ?? null,
          row.id,
        ]);
      } catch (error) {
        await connection.query('ROLLBACK TO SAVEPOINT before_fulfilment');
        const wait = waits[Number(row.attempts)];
        const dueAt = wait ? `NOW(3) + INTERVAL ${wait}` : 'due_at';
        const state = wait ? 'pending' : 'parked';
        await connection.execute(`${settle}, due_at = ${dueAt} WHERE id = ?`, [state, String(error), row.id]);
      }
    }
    await connection.commit();
    connection.release();
    return row !== undefined;
  } catch (error) {
    connection.destroy(); // and with it the transaction
    throw error;
  }
}

/** Fulfils in the transaction of the delivery; returns why a person has to decide, if so. */
async function fulfil(connection: PoolConnection, delivery: Delivery): Promise<string | undefined> {
  // The event is read again if the version that stored the delivery could not read it.
  const event = delivery.event.type === 'order.paid' ? delivery.event : verify({ ...delivery, secret });
  if (event.type !== 'order.paid') return `No code handles ${event.originalType}.`;
  const { order_id, amount, currency } = event.data;
  const [[known]] = await connection.execute<RowDataPacket[]>(
    'SELECT amount = CAST(? AS DECIMAL(30, 10)) AND currency = ? AS same FROM fulfilments WHERE order_id = ?',
    [amount, currency, order_id],
  );
  if (known)
    return known.same
      ? undefined
      : `${order_id} was fulfilled already, with another amount than ${amount} ${currency}.`;
  // Two workers with one order: its key lets one of them pass, and the other one tries again.
  await connection.execute('INSERT INTO fulfilments VALUES (?, ?, ?)', [order_id, amount, currency]);
  // In your shop: find the order that this pays for (merchant-payments/matching), and mark it as paid, here.
  await connection.execute(
    'INSERT INTO takings VALUES (?, ?) ON DUPLICATE KEY UPDATE amount = amount + VALUES(amount)',
    [currency, amount],
  );
  return undefined;
}

async function rows(sql: string): Promise<{ id: number; delivery: string; last_error: string }[]> {
  const [found] =
    await pool.query<(RowDataPacket & { id: number; delivery: string; last_error: string })[]>(sql);
  return found;
}

/** Stores and answers the deliveries that have come, and lets running functions finish. */
async function shutDown(): Promise<void> {
  stopping = true;
  if (server) {
    setTimeout(() => {
      server.closeAllConnections();
    }, 10_000).unref();
    await once(server.close(), 'close');
  }
  await Promise.all(working);
  await pool.end();
}
