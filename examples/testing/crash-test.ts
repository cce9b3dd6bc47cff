// The demo shop in the crash test, with books of its own:
//
//   export SHOP_FILE=$(mktemp)
//   npx merchant-payments crash-test --webhook-path /webhooks --inbox $SHOP_FILE --open "node testing/crash-test.ts open" \
//     --books "node testing/crash-test.ts books" -- node shop/server.ts
//
// On Node 20, put `npx tsx` in place of `node`.
import { text } from 'node:stream/consumers';
import { openDatabase } from '../shop/database.ts';

const { PORT = '' } = process.env; // which the crash test sets
const shop = `http://localhost:${PORT}`;
const database = openDatabase(process.env.SHOP_FILE || 'shop.sqlite');
const print = (sql: string): void => {
  for (const row of database.prepare(sql).all()) console.log(JSON.stringify(row));
};

if (process.argv[2] === 'open') {
  await buyOften();
  print('SELECT id AS reference, amount FROM payments_order');
} else {
  print(`SELECT paid_as AS order_id, amount, id AS reference FROM orders JOIN payments_order USING (id)
    WHERE paid_as IS NOT NULL`);
  for (const { id } of database.prepare("SELECT id FROM payments_order_payment WHERE state = 'held'").all())
    console.log(JSON.stringify({ order_id: id, held: true }));
}

/** Buys once for each line of standard input, the products in turn. Of one product, 51 orders can be open at once. */
async function buyOften(): Promise<void> {
  const page = await (await fetch(shop)).text();
  const forms = [...page.matchAll(/action="([^"]+)"/g)].map(([, action = '']) => new URL(action, shop));
  const lines = (await text(process.stdin)).trim().split('\n');
  for (const number of lines.keys()) {
    const form = forms[number % forms.length];
    if (form) await fetch(form, { method: 'POST', redirect: 'manual' });
  }
}
