import { expect, it, vi } from 'vitest';
import { openInbox } from '../../src/inbox/index.js';
import { deferCleanup, secret } from './inboxes.js';

/** Opens an inbox on a pool with these options, which connects to nothing. */
function open(options: object): void {
  const pool = { options, connect: () => Promise.reject(new Error('no server')) };
  const inbox = openInbox({ pool, secret, on: { 'order.paid': () => {} }, onError: () => {} });
  deferCleanup(() => inbox.close());
}

const url = { connectionString: 'postgres://web:one@db.example:5433/shop' };
const parts = { host: 'db.example', port: 5433, database: 'shop', user: 'web', password: 'two' };

type Pools = [what: string, first: object, second: object];

it.each<Pools>([
  [
    'the same URL with another password',
    url,
    { connectionString: url.connectionString.replace('one', 'two') },
  ],
  ['the parts of a URL', url, parts],
  ['PGHOST, PGPORT, PGDATABASE and PGUSER in place of its options', url, {}],
  ['some of these variables', { ...parts, host: undefined, port: undefined }, url],
])('a second pool with %s is of the same inbox', (_what, first, second) => {
  expect(warningsOf(first, second)).toHaveLength(1);
});

it.each<Pools>([
  ['another host', url, { ...parts, host: 'other.example' }],
  ['another port', url, { ...parts, port: 5432 }],
  ['another database', url, { ...parts, database: 'other' }],
  ['another user', url, { ...parts, user: 'other' }],
  ['a URL that cannot be read', { connectionString: 'shop' }, { connectionString: 'shop' }],
  ['connections of its own kind', { ...parts, stream: () => {} }, { ...parts, stream: () => {} }],
])('a second pool with %s is of another inbox', (_what, first, second) => {
  expect(warningsOf(first, second)).toEqual([]);
});

/** Opens both, and returns the warnings that they are one inbox. */
function warningsOf(first: object, second: object): unknown[] {
  const warn = vi.spyOn(console, 'warn').mockReturnValue();
  vi.stubEnv('PGHOST', 'db.example');
  vi.stubEnv('PGPORT', '5433');
  vi.stubEnv('PGDATABASE', 'shop');
  vi.stubEnv('PGUSER', 'web');
  open(first);
  open(second);
  return warn.mock.calls.filter(([line]) => /is open in this process already/.test(String(line)));
}
