import { describe, expect, it, vi } from 'vitest';
import { SqliteStore } from '../../src/inbox/sqlite-store.js';
import { connect, openSqlite, orderPaid, temporaryFile, withResolvers } from './inboxes.js';

it('a database that is open in this process already is worked on by the inbox opened last', async () => {
  vi.spyOn(console, 'warn').mockImplementation(() => {});
  const file = temporaryFile();
  const old = openSqlite({ database: connect(file) });
  const fresh = openSqlite({ database: connect(file) }, { sameProcess: true });
  await old.post(orderPaid('ord_1'));
  await fresh.inbox.idle();
  expect([old.calls, fresh.calls]).toEqual([[], [['ord_1', 1]]]);
});

it('an inbox goes on working after the one opened last was closed, whatever it was doing when that was opened', async () => {
  vi.spyOn(console, 'warn').mockImplementation(() => {});
  const file = temporaryFile();
  const { promise, resolve } = withResolvers<{ claims: []; waitMs: number }>();
  const looking = vi.spyOn(SqliteStore.prototype, 'claimDue').mockReturnValueOnce(promise);
  const old = openSqlite({ file });
  await vi.waitFor(() => expect(looking).toHaveBeenCalled());
  await old.post(orderPaid('ord_1'));
  const fresh = openSqlite({ file }, { sameProcess: true });
  resolve({ claims: [], waitMs: 10_000 });
  await vi.waitFor(() => expect(fresh.calls).toEqual([['ord_1', 1]]));
  await fresh.inbox.close();
  await old.post(orderPaid('ord_2'));
  await vi.waitFor(() => expect(old.calls).toEqual([['ord_2', 1]]));
});

describe.each([
  ['Next.js', 'NEXT_PHASE', 'phase-production-build'],
  ['SvelteKit', 'SVELTEKIT_FORK', 'true'],
])('while %s builds', (_name, variable, value) => {
  it('nothing is worked on, and no timer keeps the build alive; afterwards it is', async () => {
    const file = temporaryFile();
    await openSqlite({ file, work: false }).post(orderPaid('ord_1'));
    vi.stubEnv(variable, value);
    vi.useFakeTimers();
    const building = openSqlite({ file });
    expect(vi.getTimerCount()).toBe(0);
    vi.useRealTimers();
    await new Promise((done) => setTimeout(done, 100));
    for (const inbox of [building.inbox, openSqlite({ file, work: false }).inbox])
      await inbox.drain({ forMs: '10s' });
    expect(await building.inbox.stats()).toMatchObject({ pending: 1, running: 0 });
    expect(building.calls).toEqual([]);
    vi.stubEnv(variable, undefined);
    const serving = openSqlite({ file });
    await serving.inbox.idle();
    expect(serving.calls).toEqual([['ord_1', 1]]);
  });
});
