// Opens orders in a shop with an order book, as its customers do: buys once for each line of standard input, and prints what its
// order book has, in shop.sqlite or in the database of DATABASE_URL.
import { readFileSync } from 'node:fs';

for (const _ of readFileSync(0, 'utf8').trim().split('\n'))
  await fetch(`http://localhost:${process.env.PORT}/buy`, { method: 'POST', redirect: 'manual' });
for (const order of await orders()) console.log(JSON.stringify(order));

async function orders() {
  const select = (table) => `SELECT id AS reference, amount FROM ${table}`;
  if (!process.env.DATABASE_URL) {
    const { DatabaseSync } = await import('node:sqlite');
    return new DatabaseSync('shop.sqlite').prepare(select('payments_order')).all();
  }
  const { Client } = await import('pg');
  const client = new Client({ connectionString: process.env.DATABASE_URL });
  await client.connect();
  const { rows } = await client.query(select('payments_inbox.payments_order'));
  await client.end();
  return rows;
}
