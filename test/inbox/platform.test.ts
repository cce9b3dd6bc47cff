import { expect, it, vi } from 'vitest';
import { ConfigurationError, type Inbox, openInbox } from '../../src/inbox/index.js';
import { secret } from './inboxes.js';

const message =
  'An inbox in a file needs node:sqlite, which this runtime does not have. Use Node 22.13 or later, pass "database", an open ' +
  'one of better-sqlite3, or "pool" for PostgreSQL, or store deliveries in a queue of yours with the option `accept` of ' +
  'handler() and nodeHandler().';

it.each<[string, unknown]>([
  ['no process', undefined],
  ['a process without getBuiltinModule', {}],
  ['no node:sqlite', { getBuiltinModule: () => undefined }],
  ['a node:sqlite without DatabaseSync', { getBuiltinModule: () => ({}) }],
])('a platform with %s is refused, and the error names what works there', (_what, process) => {
  vi.stubGlobal('process', process);
  let thrown: unknown;
  let inbox: Inbox | undefined;
  try {
    inbox = openInbox({ file: ':memory:', secret, on: { 'order.paid': () => {} } });
  } catch (error) {
    thrown = error;
  }
  vi.unstubAllGlobals();
  expect(inbox).toBeUndefined();
  expect(thrown).toBeInstanceOf(ConfigurationError);
  expect(thrown).toMatchObject({ message });
});
