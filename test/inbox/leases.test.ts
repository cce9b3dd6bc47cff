import { describe, expect, it, vi } from 'vitest';
import { connect, openSqlite, orderPaid, temporaryFile } from './inboxes.js';

/** The tests of several processes on both stores are in contract/. */
describe('a delivery that two processes take up at the same moment', () => {
  it('is left to the faster one', async () => {
    const file = temporaryFile();
    const web = openSqlite({ file, work: false });
    await web.post(orderPaid('ord_1'));
    const faster = connect(file);
    const database = connect(file);
    let lost = 0;
    const { calls, errors } = openSqlite({
      database: {
        prepare: (sql) => database.prepare(sql),
        close: () => database.close(),
        exec(sql) {
          // Between the look for what is due and the claim.
          if (sql === 'BEGIN IMMEDIATE' && lost++ === 0)
            faster.exec("UPDATE payments_inbox SET state = 'running', attempts = 1, due_at = due_at + 60000");
          database.exec(sql);
        },
      },
    });
    await vi.waitFor(() => expect(lost).toBe(1));
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect([calls, errors]).toEqual([[], []]);
    expect(await web.inbox.get('order.paid:ord_1')).toMatchObject({ state: 'running', attempts: 1 });
  });
});
