// The contract's interface to a store: `npm test` runs it on SQLite, and compat/inbox on PostgreSQL.
import { expect, vi } from 'vitest';
import {
  type CommonInboxOptions,
  type GivenDatabase,
  type Inbox,
  type InboxDelivery,
  type OrderBook,
  type OrderBookOptions,
  openInbox,
  openOrderBook,
  type PaidOrder,
  type PostgresClient,
  type SqliteDatabase,
} from '../../../src/inbox/index.js';
import { connect, deferCleanup, type OpenedInbox, openAndRecord, temporaryFile } from '../inboxes.js';

/** A delivery of either store: `commit()` passes the store's own client, and may be asynchronous. */
export interface ContractDelivery extends Omit<InboxDelivery, 'commit'> {
  commit: (fn: (db: SqliteDatabase | PostgresClient) => unknown) => unknown;
  /** PostgreSQL alone has it. */
  done?: unknown;
}

type ContractOptions = CommonInboxOptions<ContractDelivery>;

/** Options of an order book of either store. */
export type BookOptions = Omit<OrderBookOptions, 'file' | 'database' | 'pool' | 'schema'>;

/** The methods of an order book that write in a transaction of the shop. */
export interface BoundBook {
  credit(data: { order_id: string; amount: string; currency: string }, receivedAt?: Date): PaidOrders;
  decide(paymentId: string, orderId: string): PaidOrders;
  cancel(orderId: string): PaidOrders;
  returned(orderId: string): PaidOrders;
}
type PaidOrders = PaidOrder[] | Promise<PaidOrder[]>;

/** An order book of either store. */
export interface ContractBook extends Pick<OrderBook, 'reserve' | 'open' | 'held' | 'dismiss' | 'overdue'> {
  cancel(orderId: string): Promise<void>;
  returned(orderId: string): Promise<void>;
  decide(paymentId: string, orderId: string): Promise<PaidOrder[]>;
  /** Runs `work` in a transaction of the shop's. `killAt`: its process dies before that statement of the book. */
  runWithin<Result>(work: (book: BoundBook) => Result | Promise<Result>, killAt?: number): Promise<Result>;
}

/** The place of an inbox: a file, or a schema of a database. It has a table `paid` of the shop's own. */
export interface Place {
  open(options: ContractOptions): Inbox;
  /** Opens an order book. `dies` is called before each statement of its own transactions: if it throws, the process died there. */
  openBook(options?: BookOptions, dies?: () => void): ContractBook;
  /** Runs SQL as another program does: $inbox, $paid, $order and $order_payment are the tables, $past is long ago. */
  run(sql: string): Promise<Record<string, unknown>[]>;
  /** Inside commit(): writes into `paid`. */
  pay(db: SqliteDatabase | PostgresClient): unknown;
  /** The arguments that name it to the command. */
  readonly args: readonly string[];
  /** The folder in which the command finds the driver of the database. */
  readonly cwd: string;
}

export interface Store {
  name: 'SQLite' | 'PostgreSQL';
  newPlace(): Place;
}

export const insertPaid = "INSERT INTO $paid VALUES ('ord_1')";

/** Returns a statement with the names that the tables have in SQLite. */
export const nameTables = (sql: string): string =>
  sql
    .replace(/\$(order\w*)/g, 'payments_$1')
    .replace('$inbox', 'payments_inbox')
    .replace('$paid', 'paid')
    .replace('$past', '0');

const sqlite: Store = {
  name: 'SQLite',
  newPlace() {
    const file = temporaryFile();
    const other = connect(file);
    other.exec('CREATE TABLE paid (order_id TEXT)');
    return {
      open: (options) => openInbox({ file, ...options }),
      openBook: (options, dies) => {
        const book = openOrderBook(
          dies ? { database: killable(connect(file), dies), ...options } : { file, ...options },
        );
        deferCleanup(() => book.close());
        return { ...book, runWithin: withinSqlite(book, () => connect(file)) };
      },
      run: async (sql) => other.prepare(nameTables(sql)).all(),
      pay: (db) => 'prepare' in db && db.prepare(nameTables(insertPaid)).run(),
      args: [file],
      cwd: process.cwd(),
    };
  },
};

/** Runs the shop's transactions on a connection of their own. */
export function withinSqlite(
  { credit, decide, cancel, returned }: OrderBook,
  connectAgain: () => SqliteDatabase | GivenDatabase,
): ContractBook['runWithin'] {
  return async (work, killAt) => {
    const database = connectAgain();
    const dies = deathAt(killAt);
    const transaction = killable(database, dies);
    database.exec('BEGIN IMMEDIATE');
    try {
      const result = await work({
        credit: (data, receivedAt) => credit(transaction, data, { receivedAt }),
        decide: (paymentId, orderId) => decide(paymentId, orderId, transaction),
        cancel: (orderId) => cancel(orderId, transaction),
        returned: (orderId) => returned(orderId, transaction),
      });
      dies();
      database.exec('COMMIT');
      return result;
    } catch (error) {
      // Closing rolls back, but not in libsql.
      database.exec('ROLLBACK');
      throw error;
    } finally {
      database.close();
    }
  };
}

/** Returns a database that calls `dies` before each statement that returns rows. */
export function killable<Database extends SqliteDatabase | GivenDatabase>(
  database: Database,
  die: () => void,
): Database {
  return new Proxy(database, {
    get(target, name) {
      const found: unknown = Reflect.get(target, name, target);
      if (typeof found !== 'function') return found;
      if (name !== 'prepare') return found.bind(target);
      return (sql: string) => withDeath(Reflect.apply(found, target, [sql]), die);
    },
  });
}

/** A statement whose rows a dying process does not get. */
function withDeath(statement: object, dies: () => void): object {
  return new Proxy(statement, {
    get(target, name) {
      const found: unknown = Reflect.get(target, name, target);
      if (typeof found !== 'function') return found;
      return (...values: unknown[]) => {
        if (name === 'all') dies();
        return Reflect.apply(found, target, values);
      };
    },
  });
}

/** Returns a function that throws when it is called for the nth time. */
export function deathAt(count: number | undefined): () => void {
  let calls = 0;
  return () => {
    if (++calls === count) throw new Error('killed');
  };
}

let used = sqlite;

/** For every test of this worker. */
export function placeInboxesIn(store: Store): void {
  used = store;
}

/** True on PostgreSQL; for a test whose promise differs between the stores. */
export function isPostgres(): boolean {
  return used.name === 'PostgreSQL';
}

export function newPlace(): Place {
  return used.newPlace();
}

/** An inbox that notes what happens; closed after the test. */
export function openAt(
  { place = newPlace(), ...options }: Partial<ContractOptions> & { place?: Place } = {},
  alone?: { sameProcess?: boolean },
): OpenedInbox {
  return openAndRecord((noting) => place.open({ ...noting, ...options }), alone);
}

/** Resolves when every delivery is in one of these states, and no function runs. */
export async function waitForStates(inbox: Inbox, states: readonly string[]): Promise<void> {
  await vi.waitFor(
    async () => {
      for (const entry of await inbox.list()) expect(states).toContain(entry.state);
    },
    { timeout: 15_000, interval: 5 },
  );
  await inbox.idle();
}
