import { writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ConfigurationError, openInbox, WebhookConfigError } from '../../src/inbox/index.js';
import { connect, deferCleanup, secret, temporaryFile } from './inboxes.js';

const on = { 'order.paid': () => {} };
const good = { file: ':memory:', secret, on };

function open(options: unknown): unknown {
  try {
    const inbox = Reflect.apply(openInbox, undefined, [options]);
    deferCleanup(() => inbox.close());
    return inbox;
  } catch (error) {
    return error;
  }
}

/** A database of a driver whose statements have this `all`. */
const driver = (all: () => unknown, { setReadBigInts = () => {} }: { setReadBigInts?: unknown } = {}) => ({
  exec() {},
  close() {},
  prepare: () => ({ run() {}, get() {}, all, setReadBigInts }),
});

const pool = { connect: () => Promise.reject(new Error('no database')) };

describe('options of openInbox()', () => {
  it.each<[string, object, RegExp]>([
    ['neither file nor database nor pool', { secret, on }, /pass "file".*"database".* or "pool"/],
    ['two of them', { ...good, database: {} }, /pass one of "file", "database" and "pool"/],
    ['a file and a pool', { ...good, pool }, /pass one of/],
    ['a pool that is none', { secret, on, pool: {} }, /pool must be a Pool of pg/],
    ['a schema without a name', { secret, on, pool, schema: '' }, /schema must be the name/],
    ['a longer schema than PostgreSQL has', { secret, on, pool, schema: 'x'.repeat(64) }, /at most 63/],
    ['one that is longer in bytes', { secret, on, pool, schema: 'é'.repeat(32) }, /at most 63 bytes/],
    ['one that ends the statement', { secret, on, pool, schema: 'x$payments$' }, /name of a schema/],
    ['one of two lines', { secret, on, pool, schema: 'x\ny' }, /name of a schema/],
    ['a schema that is no string', { secret, on, pool, schema: 1 }, /schema must be the name/],
    ['an empty file', { ...good, file: ' ' }, /pass "file"/],
    ['a file that is no string', { ...good, file: Buffer.from('x') }, /pass "file"/],
    [
      'a database that is none',
      { secret, on, database: { exec: () => {} } },
      /must be an open database of node:sqlite, better-sqlite3 or libsql/,
    ],
    ['a database of callbacks', { secret, on, database: driver(() => ({})) }, /must be an open database of/],
    [
      'a database of promises',
      { secret, on, database: driver(async () => [{ one: 1 }]) },
      /must be an open database of/,
    ],
    [
      'a database that reads no numbers as it is told',
      { secret, on, database: driver(() => [], { setReadBigInts: null }) },
      /must be an open database of/,
    ],
    [
      'a database that is null',
      { secret, on, database: null },
      /must be an open database of node:sqlite, better-sqlite3 or libsql/,
    ],
  ])('must not have %s: ConfigurationError', (_form, options, message) => {
    const error = open(options);
    expect(error).toBeInstanceOf(ConfigurationError);
    expect(error).toMatchObject({ message: expect.stringMatching(message) });
  });

  it('must not have a closed database', () => {
    const database = connect(':memory:');
    database.close();
    expect(open({ secret, on, database })).toMatchObject({
      name: 'ConfigurationError',
      message: expect.stringContaining('database is not open'),
    });
  });

  it('must not have a database that was opened on another file: the advice is about the database', () => {
    const file = temporaryFile();
    writeFileSync(file, 'This is no database, and it is longer than the header of one. '.repeat(20));
    const database = connect(file);
    expect(open({ secret, on, database })).toMatchObject({
      name: 'ConfigurationError',
      message: `${JSON.stringify(file)} cannot be used as an inbox: file is not a database. Pass one that was opened on a SQLite file.`,
    });
    database.close();
  });

  it.each<[string, unknown, RegExp]>([
    ['no options', undefined, /openInbox\(\) takes one options object, such as \{ file, secret, on \}\./],
    ['an unknown option', { ...good, files: 'x' }, /files is unknown\. Did you mean file\?/],
    ['another unknown option', { ...good, leaseMS: 1 }, /Did you mean leaseMs\?/],
    ['retry', { ...good, retry: [] }, /Did you mean retries\?/],
    ['accept', { ...good, accept: () => {} }, /accept is unknown/],
    ['no on', { file: ':memory:', secret }, /openInbox\(\): on has no function for "order\.paid"/],
    [
      'no function for order.paid',
      { ...good, on: {} },
      /no function for "order\.paid", so orders would not be/,
    ],
    [
      'an event type that does not exist',
      { ...good, on: { 'order.payed': () => {} } },
      /on\.order\.payed is unknown\. Did you mean order\.paid\?/,
    ],
    [
      'a function that is not one',
      { ...good, on: { 'order.paid': 1 } },
      /on\.order\.paid must be a function/,
    ],
    [
      'a function that is not one, with work: false',
      { ...good, work: false, on: { 'order.paid': 1 } },
      /on\.order\.paid must be a function/,
    ],
    ['an onUnknown that is none', { ...good, onUnknown: 1 }, /onUnknown must be a function/],
    ['an onError that is none', { ...good, onError: 1 }, /onError must be a function/],
    ['a hook of another name', { ...good, hooks: { finished: () => {} } }, /hooks\.finished is unknown/],
    ['a hook that is none', { ...good, hooks: { parked: 1 } }, /hooks\.parked must be a function/],
    ['a tolerance that is none', { ...good, toleranceSeconds: 0 }, /toleranceSeconds/],
    ['a bad scheme', { ...good, scheme: { algorithm: 'md5' } }, /scheme\.algorithm/],
    ['retries that are no array', { ...good, retries: '5s' }, /retries must be an array/],
    ['a wait that is none', { ...good, retries: ['5s', '5 s'] }, /retries\.\d+ .*a duration/],
    [
      'a wait that no date reaches',
      { ...good, retries: ['100000000d'] },
      /retries\.\d+ .* is too long\. Pass at most "366d"/,
    ],
    ['a hole in retries', { ...good, retries: new Array(1) }, /retries\.\d+ .*a duration/],
    ['a negative graceMs', { ...good, graceMs: -1 }, /graceMs must be an integer from 0 to 86400000/],
    ['a graceMs of more than a day', { ...good, graceMs: 86_400_001 }, /graceMs/],
    ['a concurrency of 0', { ...good, concurrency: 0 }, /concurrency must be an integer from 1 to 1000/],
    ['a concurrency over 1000', { ...good, concurrency: 1001 }, /concurrency/],
    ['a part of a concurrency', { ...good, concurrency: 1.5 }, /concurrency/],
    ['a text as leaseMs', { ...good, leaseMs: '60s' }, /leaseMs must be an integer from 100 to 86400000/],
    ['a leaseMs below 100', { ...good, leaseMs: 99 }, /leaseMs/],
    ['a work that is no boolean', { ...good, work: 0 }, /work must be true or false/],
  ])('must not have %s: WebhookConfigError', (_form, options, message) => {
    const error = open(options);
    expect(error).toBeInstanceOf(WebhookConfigError);
    expect(error).toMatchObject({ code: 'invalid_options', message: expect.stringMatching(message) });
  });

  it('must not lack the secret', () => {
    expect(open({ file: ':memory:', on })).toMatchObject({
      name: 'WebhookConfigError',
      code: 'invalid_secret',
    });
  });

  it.each<[string, object]>([
    ['the least', { graceMs: 0, concurrency: 1, leaseMs: 100, retries: [] }],
    ['the most', { graceMs: 86_400_000, concurrency: 1000, leaseMs: 86_400_000, retries: [0, '0s', '90d'] }],
    [
      'undefined',
      { graceMs: undefined, retries: undefined, work: undefined, hooks: undefined, database: undefined },
    ],
    ['a secret that is a function', { secret: () => secret }],
  ])('may have %s', (_form, options) => {
    expect(open({ ...good, graceMs: 0, ...options })).not.toBeInstanceOf(Error);
  });

  it('may lack functions with work: false', () => {
    for (const functions of [{}, { on: {} }, { on }])
      expect(open({ file: ':memory:', secret, work: false, ...functions })).not.toBeInstanceOf(Error);
  });

  it('are checked before a file is made', async () => {
    const file = temporaryFile();
    expect(open({ ...good, file, secret: '' })).toBeInstanceOf(WebhookConfigError);
    const { existsSync } = await import('node:fs');
    expect(existsSync(file)).toBe(false);
  });
});
