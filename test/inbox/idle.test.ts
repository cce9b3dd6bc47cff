import { describe, expect, it, vi } from 'vitest';
import type { SqliteDatabase } from '../../src/inbox/index.js';
import { connect, openSqlite, orderPaid } from './inboxes.js';

/** A database that counts the statements that it runs. */
function countQueries() {
  const database = connect(':memory:');
  let count = 0;
  const counted: SqliteDatabase = {
    get isTransaction() {
      return database.isTransaction === true;
    },
    exec(sql) {
      count++;
      database.exec(sql);
    },
    prepare(sql) {
      const statement = database.prepare(sql);
      const tell = <Values extends unknown[], Result>(run: (...values: Values) => Result) => {
        return (...values: Values) => {
          count++;
          return run(...values);
        };
      };
      return {
        run: tell((...values) => statement.run(...values)),
        get: tell((...values) => statement.get(...values)),
        all: tell((...values) => statement.all(...values)),
        setReadBigInts: (enabled) => statement.setReadBigInts?.(enabled),
      };
    },
    close: () => database.close(),
  };
  return { counted, ran: () => count };
}

/** One that failed, and whose next attempt is far away. */
const laterDelivery = `
  INSERT INTO payments_inbox (key, state, received_at, due_at, due_set_at)
  VALUES ('order.paid:ord_1', 'pending', 0, 9000000000000, 0)`;

describe('an inbox with nothing to do', () => {
  it('runs at most eight statements a second, and none with work: false', async () => {
    vi.useFakeTimers();
    try {
      for (const [work, most] of [
        [true, 482],
        [false, 0],
      ] as const) {
        const { counted, ran } = countQueries();
        const { inbox, errors } = openSqlite({ database: counted, work });
        counted.exec(laterDelivery);
        const before = ran();
        await vi.advanceTimersByTimeAsync(60_000);
        expect(ran() - before).toBeLessThanOrEqual(most);
        expect(errors).toEqual([]);
        await inbox.close();
      }
    } finally {
      vi.useRealTimers();
    }
  });

  it('reads only, so that the file stays as it is', async () => {
    const database = connect(':memory:');
    const { inbox, post } = openSqlite({
      database,
      on: { 'order.paid': () => Promise.reject(new Error('x')) },
    });
    await post(orderPaid('ord_1'));
    await inbox.idle();
    const changes = () => database.prepare('SELECT total_changes() AS count').get()?.count;
    const before = changes();
    await new Promise((resolve) => setTimeout(resolve, 600));
    expect(changes()).toBe(before);
  });

  it('has no timer left once it is closed', async () => {
    vi.useFakeTimers();
    try {
      const { inbox } = openSqlite();
      await vi.advanceTimersByTimeAsync(1000);
      expect(vi.getTimerCount()).toBe(1);
      await inbox.close();
      expect(vi.getTimerCount()).toBe(0);
      const storing = openSqlite({ work: false });
      expect(vi.getTimerCount()).toBe(0);
      await storing.inbox.close();
    } finally {
      vi.useRealTimers();
    }
  });
});
