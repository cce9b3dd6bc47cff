// A shop without an inbox: it fulfils inside the request, in one transaction with a unique key, and keeps the rest for a person.
import express from 'express';
import { verify, WebhookPayloadError } from 'merchant-payments/webhooks';
import { Pool } from 'pg';

const pool = new Pool({ connectionString: process.env.DATABASE_URL });
await pool.query(`SELECT pg_advisory_xact_lock(1);
  CREATE TABLE IF NOT EXISTS paid (order_id text PRIMARY KEY, amount text NOT NULL);
  CREATE TABLE IF NOT EXISTS held (order_id text, body text NOT NULL)`);

const app = express();
app.post('/webhooks', express.raw({ type: '*/*' }), async (request, response) => {
  const rawBody = request.body;
  const hold = (orderId) => pool.query('INSERT INTO held VALUES ($1, $2)', [orderId, rawBody.toString()]);
  try {
    const event = verify({ rawBody, headers: request.headers, secret: process.env.PAYMENTS_WEBHOOK_SECRET });
    if (event.type === 'order.paid') {
      const { order_id, amount } = event.data;
      const insert = 'INSERT INTO paid VALUES ($1, $2) ON CONFLICT DO NOTHING';
      const { rowCount } = await pool.query(insert, [order_id, amount]);
      const same = 'SELECT FROM paid WHERE order_id = $1 AND amount = $2';
      if (rowCount === 0 && (await pool.query(same, [order_id, amount])).rowCount === 0) await hold(order_id);
    }
    response.sendStatus(200);
  } catch (error) {
    if (error instanceof WebhookPayloadError) {
      await hold(JSON.parse(rawBody).data.order_id);
      return response.sendStatus(200);
    }
    response.sendStatus(error.httpStatus ?? 500);
  }
});
const server = app.listen(Number(process.env.PORT));
process.once('SIGTERM', () => server.close(() => process.exit(0)));
