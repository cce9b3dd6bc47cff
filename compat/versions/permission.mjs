// Runs as docs/security.md says of Node's permission model, with leave to write in the first folder of its arguments alone.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { openInbox } from 'merchant-payments/inbox';
import { sign } from 'merchant-payments/webhooks';

const [allowed, other] = process.argv.slice(2);
const secret = 'whsec_of_this_test';
const rawBody = '{"type":"order.paid","data":{"order_id":"ord_1","amount":"19.90","currency":"USD"}}';
const fulfilled = Promise.withResolvers();
const inbox = openInbox({
  file: `${allowed}/orders.sqlite`,
  secret,
  on: { 'order.paid': fulfilled.resolve },
});
const request = { method: 'POST', headers: { ...sign({ rawBody, secret }) }, body: rawBody };
const response = await inbox.handler(new Request('http://shop.example/webhooks', request));
assert.equal(response.status, 200);
await fulfilled.promise;
await inbox.close();

assert.throws(() => writeFileSync(`${other}/note.txt`, ''), { code: 'ERR_ACCESS_DENIED' });
const database = new DatabaseSync(`${other}/note.sqlite`); // node:sqlite asks for no leave
database.exec('CREATE TABLE note (text TEXT)');
database.close();
