// The values that openInbox() takes as `database`, by the types of the drivers themselves.
import type Better from 'better-sqlite3';
import type Libsql from 'libsql';
import { type Inbox, openInbox } from 'merchant-payments/inbox';

export const openers: ((given: { better: Better.Database; libsql: Libsql.Database }) => Inbox)[] = [
  ({ better }) =>
    openInbox({
      database: better,
      on: { 'order.paid': (event, { commit }) => commit((db) => db.prepare('').run(event.data.order_id)) },
    }),
  ({ libsql }) => openInbox({ database: libsql, work: false }),
];
