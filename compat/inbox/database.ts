// A database of its own for each test, and an inbox in it that notes what happens.
import { type Inbox, openInbox, type PostgresInboxOptions } from 'merchant-payments/inbox';
import { sign } from 'merchant-payments/webhooks';
import { Client, Pool, type PoolClient, type PoolConfig } from 'pg';

export const secret = 'whsec_of_the_inbox';

let databases = 0;

/** Creates a database on the server that a URL names; returns its own URL. */
export async function newDatabase(url: string): Promise<string> {
  const name = `test_${process.pid}_${++databases}`;
  await sql(url, `CREATE DATABASE ${name}`);
  return url.replace(/[^/]*$/, name);
}

export async function sql(url: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

export interface Shop {
  pool: Pool;
  inbox: Inbox;
  errors: unknown[];
  post(id: string, amount?: string): Promise<number>;
  close(): Promise<void>;
}

export function openShop(
  url: string,
  options: Partial<Omit<PostgresInboxOptions<PoolClient>, 'pool'>> & {
    pool?: Pool;
    config?: PoolConfig;
    sameProcess?: boolean;
  } = {},
): Shop {
  const { config, sameProcess = false, ...own } = options;
  // Each is as alone as in a process of its own.
  if (!sameProcess) Reflect.deleteProperty(globalThis, Symbol.for('merchant-payments.inbox'));
  const pool = own.pool ?? new Pool({ connectionString: url, ...config });
  const errors: unknown[] = [];
  const inbox = openInbox({
    secret,
    retries: ['20ms', '20ms'],
    graceMs: 0,
    onError: (error) => errors.push(error),
    on: { 'order.paid': () => undefined },
    ...own,
    pool,
  });
  return {
    pool,
    inbox,
    errors,
    post: (id, amount = '19.90') => post(inbox, id, amount),
    close: async () => {
      await inbox.close();
      if (!pool.ending) await pool.end(); // several shops may share it
    },
  };
}

/** Delivers a paid order, and returns the status of the response. */
export async function post(inbox: Inbox, order_id: string, amount: string): Promise<number> {
  const body = JSON.stringify({ type: 'order.paid', data: { order_id, amount, currency: 'USD' } });
  const headers = sign({ rawBody: body, secret });
  const response = await inbox.handler(
    new Request('https://shop.example', { method: 'POST', body, headers }),
  );
  return response.status;
}
