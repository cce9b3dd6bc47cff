import { InvalidParamsError } from 'merchant-payments';
import { describe, expect, it } from 'vitest';
import {
  drainParams,
  listParams,
  purgeParams,
  readDelivery,
  readDeliveryKey,
  refusedParams,
  retryOptions,
} from '../../src/inbox/params.js';
import { readParams } from '../../src/input/read.js';
import { openSqlite } from './inboxes.js';

/** Runs a reader with what its type forbids. */
function errorOf(read: (...args: never[]) => unknown, ...args: unknown[]) {
  const run = () => Reflect.apply(read, undefined, args);
  expect(run).toThrow(InvalidParamsError);
  try {
    run();
  } catch (error) {
    return error;
  }
}

const readList = (params: unknown) => readParams('inbox.list', listParams, params);
const readAge = (olderThan: unknown) => readParams('inbox.purge', purgeParams, { olderThan }).olderThan;

const noKey = 'must be the key of a delivery, such as "order.paid:ord_1001".';

describe('list()', () => {
  it('lists 100 entries of every state by default', () => {
    expect(readList({})).toEqual({ state: undefined, limit: 100, after: undefined });
  });

  it.each([
    { state: 'parked', limit: 1, after: 'order.paid:ord_1' },
    { state: 'discarded', limit: 1000, after: undefined },
  ] as const)('takes %j', (params) => {
    expect(readList(params)).toEqual(params);
  });

  it.each([
    [{ state: 'lost' }, 'state must be "pending", "running", "done", "parked" or "discarded", got a string.'],
    [{ limit: 0 }, 'limit must be an integer from 1 to 1000, got the number 0.'],
    [{ limit: 1001 }, 'limit must be an integer from 1 to 1000, got the number 1001.'],
    [{ limit: 1.5 }, 'limit must be an integer from 1 to 1000, got the number 1.5.'],
    [{ limit: '5' }, 'limit must be an integer from 1 to 1000, got a string.'],
    [{ stat: 'parked' }, 'stat is unknown. Did you mean state?'],
    [{ after: '' }, `after ${noKey}`],
    [{ after: 5 }, `after ${noKey}`],
  ])('refuses %j', (params, problem) => {
    expect(errorOf(readList, params)).toMatchObject({
      operation: 'inbox.list',
      outcome: 'not_sent',
      message: `inbox.list: ${problem}`,
    });
  });
});

describe('a key', () => {
  it('is a string', () => {
    expect(readDeliveryKey('retry', 'order.paid:ord_1')).toBe('order.paid:ord_1');
  });

  it.each(['', undefined, null, 5, ['a']])('is not %j', (key) => {
    expect(errorOf(readDeliveryKey, 'retry', key)).toMatchObject({ message: `inbox.retry: key ${noKey}` });
  });
});

describe('purge()', () => {
  it.each([
    ['90d', { ageMs: 7_776_000_000 }],
    [250, { ageMs: 250 }],
    [new Date(5), new Date(5)],
  ] as const)('takes %s', (olderThan, before) => {
    expect(readAge(olderThan)).toEqual(before);
  });

  it.each(['old', undefined, -1, new Date(Number.NaN)])('refuses %s', (olderThan) => {
    expect(errorOf(readAge, olderThan)).toMatchObject({
      message: 'inbox.purge: olderThan must be a duration such as "90d", or a valid Date.',
    });
  });
});

it.each([
  ['retry', retryOptions, { forced: true }, 'forced is unknown. Did you mean force?'],
  ['retry', retryOptions, { force: 'yes' }, 'force must be true or false, got a string.'],
  ['drain', drainParams, { forMs: '5s', limit: 1 }, 'limit is unknown. Known are forMs.'],
  ['drain', drainParams, {}, 'forMs is missing. Pass a duration such as "30s", "5m", "2h" or "1d".'],
  ['refused', refusedParams, { limt: 1 }, 'limt is unknown. Did you mean limit?'],
  ['purge', purgeParams, { olderThan: '90d', dry: true }, 'dry is unknown. Known are olderThan.'],
])('%s() refuses what it does not know', (method, schema, params, problem) => {
  expect(errorOf(readParams, `inbox.${method}`, schema, params)).toMatchObject({
    message: `inbox.${method}: ${problem}`,
  });
});

describe('accept()', () => {
  const delivery = {
    key: 'order.paid:ord_1',
    event: { type: 'order.paid', data: { order_id: 'ord_1', amount: '19.90', currency: 'USD' } },
    rawBody: '{"price":"5 €"}',
    headers: {},
    receivedAt: '2026-01-01T00:00:00.000Z',
  } as const;

  it('takes a delivery, without what else it has', () => {
    const digest = expect.stringMatching(/^[0-9a-f]{16}$/);
    expect(readDelivery({ ...delivery, ...{ more: 1 } })).toEqual({ ...delivery, digest });
  });

  it('takes an event of a type that this version does not know', () => {
    const event = { type: 'unknown', originalType: 'order.refunded', data: {} } as const;
    expect(readDelivery({ ...delivery, event })).toMatchObject({ ...delivery, event });
  });

  it.each([
    [null, 'params must be a delivery.'],
    [undefined, 'params must be a delivery.'],
    ['a', 'params must be a delivery.'],
    [{ ...delivery, key: '' }, `key ${noKey}`],
    [{ ...delivery, event: undefined }, 'event must be an event of verify().'],
    [{ ...delivery, event: null }, 'event must be an event of verify().'],
    [{ ...delivery, event: { type: 5 } }, 'event must be an event of verify().'],
    [{ ...delivery, event: { type: 'unknown' } }, 'event must be an event of verify().'],
    [{ ...delivery, rawBody: Buffer.from('{}') }, 'rawBody must be a string, got an object.'],
    [{ ...delivery, headers: null }, 'headers must be an object.'],
    [{ ...delivery, headers: 'a: b' }, 'headers must be an object.'],
    [{ ...delivery, receivedAt: new Date() }, 'receivedAt must be ISO 8601 with a zone.'],
    [{ ...delivery, receivedAt: '2026-01-01T00:00:00' }, 'receivedAt must be ISO 8601 with a zone.'],
  ])('refuses %j', (given, problem) => {
    expect(errorOf(readDelivery, given)).toMatchObject({ message: `inbox.accept: ${problem}` });
  });
});

it('an inbox refuses every method while Object.prototype has a field of its own', async () => {
  const { inbox } = openSqlite();
  Reflect.set(Object.prototype, 'state', 'parked');
  const listing = inbox.list().catch((error: unknown) => error);
  Reflect.deleteProperty(Object.prototype, 'state');
  expect(await listing).toMatchObject({
    name: 'ConfigurationError',
    message: expect.stringContaining('Object.prototype has the field "state"'),
  });
});
