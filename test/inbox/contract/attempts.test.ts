import { describe, expect, it, vi } from 'vitest';
import { orderPaid, withResolvers } from '../inboxes.js';
import { type ContractDelivery, openAt } from './places.js';

describe('a function that never ends', () => {
  it('has failed after attemptMs: its signal is aborted, its slot is free, and it can no longer commit', async () => {
    const attempts: { id: string; signal: AbortSignal; commit: ContractDelivery['commit'] }[] = [];
    const { inbox, post, errors, hookCalls } = openAt({
      concurrency: 1,
      attemptMs: '50ms',
      retries: [],
      on: {
        'order.paid': ({ data }, { signal, commit }) => {
          attempts.push({ id: data.order_id, signal, commit });
          if (data.order_id === 'stuck') return withResolvers().promise;
        },
      },
    });
    await post(orderPaid('stuck'));
    await post(orderPaid('next'));
    await vi.waitFor(async () => expect(await inbox.stats()).toMatchObject({ done: 1, parked: 1 }));
    expect(attempts.map(({ id, signal }) => [id, signal.aborted])).toEqual([
      ['stuck', true],
      ['next', false],
    ]);
    await expect(async () => attempts[0]?.commit(() => {})).rejects.toThrow('after the attempt had ended');
    expect((await inbox.get('order.paid:stuck'))?.lastError).toContain('had not finished after 50 ms');
    expect(errors).toHaveLength(1);
    expect(hookCalls.map(([name]) => name)).toContain('failed');
  });

  it('shows in oldestRunningMs', async () => {
    const { inbox, post } = openAt({ on: { 'order.paid': () => withResolvers().promise } });
    expect(await inbox.stats()).toMatchObject({ oldestRunningMs: null });
    await post(orderPaid('stuck'));
    await vi.waitFor(async () => expect((await inbox.stats()).oldestRunningMs).toBeGreaterThan(20));
  });

  it('loses its delivery to retry() with force: the delivery runs again at once, and the first function cannot commit', async () => {
    const attempts: { attempt: number; commit: ContractDelivery['commit'] }[] = [];
    const { inbox, post } = openAt({
      concurrency: 1,
      on: { 'order.paid': (_event, given) => attempts.push(given) === 1 && withResolvers().promise },
    });
    await post(orderPaid('ord_1'));
    await vi.waitFor(() => expect(attempts).toHaveLength(1));
    expect(await inbox.retry('order.paid:ord_1')).toBe(false);
    expect(await inbox.retry('order.paid:ord_1', { force: true })).toBe(true);
    await inbox.idle();
    expect(attempts.map(({ attempt }) => attempt)).toEqual([1, 2]);
    await expect(async () => attempts[0]?.commit(() => {})).rejects.toThrow('after the attempt had ended');
    expect(await inbox.get('order.paid:ord_1')).toMatchObject({ state: 'done', attempts: 2 });
  });

  it('is left alone by force once it is done: onError is not told', async () => {
    const { promise, resolve } = withResolvers();
    const { inbox, post, errors, hookCalls } = openAt({
      on: {
        'order.paid': async (_event, { commit }) => {
          await commit(() => {});
          return promise;
        },
      },
    });
    await post(orderPaid('ord_1'));
    await vi.waitFor(async () => expect(await inbox.stats()).toMatchObject({ done: 1 }));
    await vi.waitFor(async () => expect(await inbox.retry('order.paid:ord_1', { force: true })).toBe(false));
    resolve();
    await inbox.idle();
    expect(errors).toEqual([]);
    expect(hookCalls.at(-1)?.[0]).toBe('done');
  });

  it.each([0, 1, 3, 6])('taken by force, cannot commit %i microtasks later', async (microtasks) => {
    const refused: unknown[] = [];
    const { inbox, post, errors } = openAt({
      on: {
        'order.paid': async (_event, { key, attempt, commit }) => {
          if (attempt > 1) return;
          await Promise.resolve();
          const taken = inbox.retry(key, { force: true });
          for (let one = 0; one < microtasks; one++) await undefined;
          try {
            await commit(() => {});
          } catch (error) {
            refused.push(error);
          }
          await taken;
        },
      },
    });
    await post(orderPaid('ord_1'));
    await vi.waitFor(async () => expect(await inbox.stats()).toMatchObject({ done: 1 }));
    expect(refused).toEqual([expect.objectContaining({ message: expect.stringContaining('had ended') })]);
    expect(await inbox.get('order.paid:ord_1')).toMatchObject({ attempts: 2 });
    expect(errors).toEqual([]);
  });

  it.each([0, '8d', 'soon', Number.NaN])('must not have attemptMs %s', (attemptMs) => {
    expect(() => Reflect.apply(openAt, undefined, [{ attemptMs }])).toThrow(/attemptMs .* Pass /);
  });
});

describe('what a function returns', () => {
  const observable = { subscribe: () => {}, pipe: () => {} };
  it.each<[string, () => unknown]>([
    ['a function', () => () => {}],
    ['an async function', () => async () => {}],
    ['a generator', () => (function* () {})()],
    ['an async generator', () => (async function* () {})()],
    ['an observable', () => observable],
    ['a query builder', async () => ({ execute: () => {}, compile: () => {} })],
    ['functions in an array', () => [() => {}]],
    ['promises in an array', () => [1, 2].map(async () => {})],
    ['a promise that rejects, in an array', () => [[Promise.reject(new Error('no stock'))]]],
  ])('parks the delivery at once if it is %s, which may not have run', async (_what, result) => {
    const { inbox, post, hookCalls } = openAt({ on: { 'order.paid': result } });
    await post(orderPaid('ord_1'));
    await inbox.idle();
    const lastError = expect.stringContaining(
      'Your function returned a function, a generator, a query, a statement or promises in an array, which may not have run. ' +
        'Execute and await it, or return nothing.',
    );
    expect(await inbox.list()).toMatchObject([{ state: 'parked', attempts: 1, lastError }]);
    expect(hookCalls.map(([name]) => name)).toEqual(['received', 'started', 'failed', 'parked']);
  });

  it.each<[string, () => unknown]>([
    ['a row', () => ({ id: 1, next: 2, execute: true })],
    ['rows', async () => [{ id: 1 }, [2], null]],
    // biome-ignore lint/suspicious/noThenProperty: as stubs of remote calls are
    ['a promise that is a function', () => Object.assign(() => {}, { then: (done: () => void) => done() })],
  ])('does not matter if it is %s', async (_what, result) => {
    const { inbox, post } = openAt({ on: { 'order.paid': result } });
    await post(orderPaid('ord_1'));
    await inbox.idle();
    expect(await inbox.list()).toMatchObject([{ state: 'done', attempts: 1 }]);
  });
});

describe('a commit() that nobody awaits', () => {
  it.each([0, 1, 2, 3, 4, 5])(
    'counts, or is refused, %i microtasks after its function has returned',
    async (microtasks) => {
      const begun: Promise<string>[] = [];
      const { inbox, post, errors, hookCalls } = openAt({
        on: {
          'order.paid': (_event, { commit }) => {
            const commitLate = async () => {
              for (let one = 0; one < microtasks; one++) await undefined;
              await commit(() => {});
              return 'committed';
            };
            begun.push(commitLate().catch((error: Error) => error.message));
          },
        },
      });
      await post(orderPaid('ord_1'));
      await vi.waitFor(() => expect(hookCalls.filter(([name]) => name === 'done')).toHaveLength(1));
      await inbox.idle();
      const outcome = await begun[0];
      const isRefused = outcome !== 'committed';
      if (isRefused) expect(outcome).toMatch(/^commit\(\) came after the attempt had ended\. Nothing/);
      await vi.waitFor(async () =>
        expect(await inbox.stats()).toMatchObject(isRefused ? { parked: 1 } : { done: 1 }),
      );
      await vi.waitFor(() => expect(errors).toHaveLength(isRefused ? 1 : 0));
    },
  );
});
