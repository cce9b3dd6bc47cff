// The inbox on Neon's own driver, which speaks PostgreSQL's protocol over a WebSocket.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { after, before, test } from 'node:test';
import { neonConfig, Pool } from '@neondatabase/serverless';
import { openInbox, openOrderBook } from 'merchant-payments/inbox';
import { WebSocket, WebSocketServer } from 'ws';
import { type Postgres, startPostgres } from '../lib/servers.js';
import { newDatabase, post, secret, sql } from './database.js';

let postgres: Postgres;
let proxy: WebSocketServer;

before(async () => {
  postgres = await startPostgres();
  proxy = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  proxy.on('connection', (socket, { url }) => {
    const [host = '', port] = new URL(url ?? '', 'ws://proxy').searchParams.get('address')?.split(':') ?? [];
    const database = connect(Number(port), host);
    database.on('data', (data) => socket.send(data)).on('close', () => socket.close());
    database.on('error', () => {}); // a server that stops resets what is open; the end follows
    socket.on('message', (data: Buffer) => database.write(data)).on('close', () => database.destroy());
  });
  await once(proxy, 'listening');
  const { port } = Object(proxy.address());
  Object.assign(neonConfig, {
    webSocketConstructor: WebSocket,
    wsProxy: (host: string, to: number) => `127.0.0.1:${port}/v2?address=${host}:${to}`,
    useSecureWebSocket: false,
    pipelineConnect: false,
  });
});
after(async () => {
  proxy?.close();
  await postgres?.stop();
});

test('an inbox and an order book on a Pool of @neondatabase/serverless fulfil each paid order once', async () => {
  const url = await newDatabase(postgres.url);
  await sql(url, 'CREATE TABLE paid (order_id text)');
  const pool = new Pool({ connectionString: url });
  pool.on('error', () => {});
  const book = openOrderBook({ pool });
  await book.reserve({ id: 'A', price: '19.90', currency: 'USD' });
  await book.open('A', { expiresAt: new Date('2100-01-01') });
  const failing = new Set(['ord_2']);
  const inbox = openInbox({
    pool,
    secret,
    retries: ['20ms'],
    on: {
      'order.paid': async ({ data }, { commit }) =>
        commit(async (tx) => {
          for (const { id } of await book.credit(tx, data))
            await tx.query('INSERT INTO paid VALUES ($1)', [id]);
          await tx.query('INSERT INTO paid VALUES ($1)', [data.order_id]);
          if (failing.delete(data.order_id)) throw new Error('no stock');
        }),
    },
  });
  for (const id of ['ord_1', 'ord_2', 'ord_1']) assert.equal(await post(inbox, id, '19.90'), 200);
  for (let tries = 0; tries < 500 && (await inbox.stats()).done < 2; tries++) await inbox.idle();
  assert.equal(await post(inbox, 'ord_1', '90.00'), 200);
  assert.deepEqual(
    (await sql(url, 'SELECT order_id FROM paid ORDER BY 1')).map(({ order_id }) => order_id),
    ['A', 'ord_1', 'ord_2'],
  );
  assert.deepEqual(
    (await inbox.list()).map(({ state }) => state),
    ['parked', 'done', 'done'],
  );
  await inbox.close();
  await pool.end();
});
