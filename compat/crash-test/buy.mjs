// Opens orders in examples/fulfilment/sqlite-inbox.ts as its customers do: buys once for each line of standard input, and prints what
// its order book has.
import { readFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';

for (const _ of readFileSync(0, 'utf8').trim().split('\n'))
  await fetch(`http://localhost:${process.env.PORT}/buy`, { method: 'POST', redirect: 'manual' });
const orders = new DatabaseSync('shop.sqlite').prepare('SELECT id AS reference, amount FROM payments_order');
for (const order of orders.all()) console.log(JSON.stringify(order));
