// What the contract knows of a store: `npm test` runs it on SQLite, and compat/inbox on PostgreSQL.
import { expect, vi } from 'vitest';
import {
  type CommonInboxOptions,
  type Inbox,
  type InboxDelivery,
  openInbox,
  type PostgresClient,
  type SqliteDatabase,
} from '../../../src/inbox/index.js';
import { connect, noted, type Opened, temporaryFile } from '../inboxes.js';

/** A delivery of either store: `commit()` passes the store's own client, and may be asynchronous. */
export interface ContractDelivery extends Omit<InboxDelivery, 'commit'> {
  commit: (fn: (db: SqliteDatabase | PostgresClient) => unknown) => unknown;
  /** PostgreSQL alone has it. */
  done?: unknown;
}

type ContractOptions = CommonInboxOptions<ContractDelivery>;

/** Where an inbox is: a file, or a schema of a database. It has a table `paid` of the shop's own. */
export interface Place {
  open(options: ContractOptions): Inbox;
  /** As another program: $inbox and $paid are the tables, $past is long ago. */
  run(sql: string): Promise<Record<string, unknown>[]>;
  /** Inside commit(): writes into `paid`. */
  pay(db: SqliteDatabase | PostgresClient): unknown;
  /** The arguments that name it to the command. */
  readonly args: readonly string[];
  /** Where the command finds the driver of the database. */
  readonly cwd: string;
}

export interface Store {
  name: 'SQLite' | 'PostgreSQL';
  newPlace(): Place;
}

export const insertPaid = "INSERT INTO $paid VALUES ('ord_1')";

const sqlite: Store = {
  name: 'SQLite',
  newPlace() {
    const file = temporaryFile();
    const other = connect(file);
    other.exec('CREATE TABLE paid (order_id TEXT)');
    const named = (sql: string) =>
      sql.replace('$inbox', 'payments_inbox').replace('$paid', 'paid').replace('$past', '0');
    return {
      open: (options) => openInbox({ file, ...options }),
      run: async (sql) => other.prepare(named(sql)).all(),
      pay: (db) => 'prepare' in db && db.prepare(named(insertPaid)).run(),
      args: [file],
      cwd: process.cwd(),
    };
  },
};

let used = sqlite;

/** For every test of this worker. */
export function placeInboxesIn(store: Store): void {
  used = store;
}

/** Where a promise cannot be the same, the test says so. */
export function isPostgres(): boolean {
  return used.name === 'PostgreSQL';
}

export function newPlace(): Place {
  return used.newPlace();
}

/** An inbox that notes what happens; closed after the test. */
export function opened(
  { place = newPlace(), ...options }: Partial<ContractOptions> & { place?: Place } = {},
  alone?: { sameProcess?: boolean },
): Opened {
  return noted((noting) => place.open({ ...noting, ...options }), alone);
}

/** Until every delivery is in one of these states, and no function runs. */
export async function settled(inbox: Inbox, states: readonly string[]): Promise<void> {
  await vi.waitFor(
    async () => {
      for (const entry of await inbox.list()) expect(states).toContain(entry.state);
    },
    { timeout: 15_000, interval: 5 },
  );
  await inbox.idle();
}
