import { accessSync, closeSync, constants, openSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { PaymentsError } from '../errors.js';
import { type Inbox, openInbox } from '../inbox/open-inbox.js';
import { type OrderBook, openOrderBook } from '../inbox/order-book.js';
import { type BookPlace, PostgresBook, SqliteBook } from '../inbox/order-place.js';
import { orderTables } from '../inbox/order-tables.js';
import type { PaidOrder } from '../inbox/orders.js';
import { type PostgresPool, quoteName } from '../inbox/postgres.js';
import { lockTimeout, PostgresStore } from '../inbox/postgres-store.js';
import { defaultSchema, findTables } from '../inbox/postgres-tables.js';
import { Connection, findDatabaseClass, isSqliteDatabase, type SqliteDatabase } from '../inbox/sqlite.js';
import { SqliteStore } from '../inbox/sqlite-store.js';
import { hasTables } from '../inbox/sqlite-tables.js';
import type { InboxStore } from '../inbox/store.js';
import { inboxTables, type TableSet } from '../inbox/tables.js';
import { hasMethods } from '../input/functions.js';
import { webhookSecret } from './signing.js';
import { CommandError, codeOf, refuseUnless, warn } from './terminal.js';

/** Matches a malformed URL of PostgreSQL (quoted, after a name, without scheme or slashes, or as keywords), which is never a file. */
const almostUrl = /:\/\/|^\W*postgres\w*:|:[^/:\\]*@|\bpassword\s*=/i;

/** True if a place is a URL of PostgreSQL. Throws if it is almost one. It may hold a password, so the message does not quote it. */
function isUrl(place: string): boolean {
  if (/^postgres(?:ql)?:\/\//i.test(place)) {
    const remedy = 'Set DATABASE_URL to this URL, or leave the password out and set PGPASSWORD.';
    refuseUnless(
      !showsPassword(place),
      `The password is visible to every user in the list of processes. ${remedy}`,
    );
    return true;
  }
  const remedy = 'Pass the URL without quotes, and no name before it: postgres://user@host/database';
  refuseUnless(!almostUrl.test(place), `This is neither a file nor a URL of PostgreSQL. ${remedy}`);
  return false;
}

/** True if a URL with a password was passed as an argument of this process. */
function showsPassword(url: string): boolean {
  const [, authority = ''] = /^\w+:\/\/([^/?#]*)@/.exec(url) ?? [];
  return authority.includes(':') && process.argv.some((argument) => argument.includes(url));
}

type Place = { pool: OpenPool; schema: string | undefined } | { database: SqliteDatabase };

/** Opens the inbox in a file, or in the database that a URL names, and closes it after `work`. */
export function withInbox<Result>(
  given: string,
  schema: string | undefined,
  work: (inbox: Inbox) => Promise<Result>,
): Promise<Result> {
  return withPlace(given, schema, async (place) => {
    const inbox = openInbox({ ...place, secret: webhookSecret, work: false });
    return work(inbox).finally(inbox.close);
  });
}

/** Opens the order book in a file, or in the database that a URL names, and closes it after `work`. */
export function withOrderBook<Result>(
  given: string,
  schema: string | undefined,
  work: (book: Pick<OrderBook, 'held' | 'dismiss'> & Deciding) => Promise<Result>,
): Promise<Result> {
  const openBook = (place: Place) =>
    'pool' in place ? work(openOrderBook(place)) : work(openOrderBook(place));
  return withPlace(given, schema, openBook, { set: orderTables });
}

interface Deciding {
  decide(paymentId: string, orderId: string): Promise<PaidOrder[]>;
}

/** The tables in one place. */
export interface Tables {
  store: InboxStore;
  /** True if there is an order book. */
  hasBook(): Promise<boolean>;
  /** Opens the tables of the order book, which makes them if there are none. */
  openBook(): BookPlace;
}

/** Opens only the tables in a place, and closes them after `work`. `create` makes the tables of an inbox if there are none. */
export function withTables<Result>(
  given: string,
  schema: string | undefined,
  work: (tables: Tables) => Promise<Result>,
  create = false,
): Promise<Result> {
  return withPlace(given, schema, (place) => work(tablesIn(place)), { create });
}

function tablesIn(place: Place): Tables {
  if ('pool' in place) {
    const inPostgres = { pool: place.pool, schema: place.schema ?? defaultSchema };
    return {
      store: new PostgresStore(inPostgres, warnOf),
      hasBook: async () => (await findTables(inPostgres, orderTables)).missing.length === 0,
      openBook: () => new PostgresBook(inPostgres),
    };
  }
  return {
    store: new SqliteStore(place),
    hasBook: async () => hasTables(new Connection(place.database), orderTables, 'The file') !== undefined,
    openBook: () => new SqliteBook(place),
  };
}

const warnOf = (error: unknown) => warn(error instanceof Error ? error.message : String(error));

/** Connects to a file, or to the database that a URL names, and disconnects after `work`. */
async function withPlace<Result>(
  given: string,
  schema: string | undefined,
  work: (place: Place) => Promise<Result>,
  { create = false, set = inboxTables }: { create?: boolean; set?: TableSet } = {},
): Promise<Result> {
  const name = given.trim();
  const pool = isUrl(name) ? poolOf(name) : undefined;
  refuseUnless(pool || schema === undefined, 'A file has no schema. Leave --schema out.');
  let database: SqliteDatabase | undefined;
  try {
    if (pool) {
      if (!create) await checkSchema(pool, schema ?? defaultSchema, set);
      return await work({ pool, schema });
    }
    if (create) createFile(name);
    checkAccess(name);
    // The option `file` would turn on a write-ahead log, which the shop's own database may not have, so a database is passed.
    database = openDatabase(resolve(name));
    if (!create) await checkVersion(database, JSON.stringify(name), set);
    return await work({ database });
  } catch (error) {
    const remedy = 'Try again, or look for a function that hangs in commit() or done().';
    if (codeOf(error) === lockTimeout)
      throw new CommandError(`Another transaction holds what this needs. ${remedy}`);
    const isOurs = error instanceof PaymentsError || error instanceof CommandError;
    if (isOurs || !(pool || /SQLITE/.test(codeOf(error) ?? ''))) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new CommandError(`${pool ? 'The database' : JSON.stringify(name)} cannot be used: ${reason}.`);
  } finally {
    database?.close();
    await pool?.end();
  }
}

/** Creates a file that only its owner may read, as openInbox() does, if there is none. */
function createFile(name: string): void {
  try {
    closeSync(openSync(name, 'a', 0o600));
  } catch (error) {
    throw new CommandError(`${JSON.stringify(name)} cannot be made (${codeOf(error)}).`);
  }
}

/** Throws if a schema does not hold the tables, because opening them would create them. */
async function checkSchema(pool: PostgresPool, schema: string, set: TableSet): Promise<void> {
  if ((await findTables({ pool, schema }, set)).missing.length === 0) return;
  throw new CommandError(
    `Schema ${quoteName(schema)} holds ${noneOf(set)}. Pass the schema of ${openers[set.name]}.`,
  );
}

/** Throws if this user may not read and write the file. A user who can only read would leave a log that the server cannot write. */
function checkAccess(file: string): void {
  const name = JSON.stringify(file);
  try {
    accessSync(file, constants.R_OK | constants.W_OK);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') throw new CommandError(`${name} does not exist.`);
    const remedy = 'Run the command as the user of your server.';
    throw new CommandError(`This user may not read and write ${name}. ${remedy}`);
  }
}

/** Returns words such as "no inbox". */
function noneOf({ holds }: TableSet): string {
  return holds.replace(/^an? /, 'no ');
}

/** The function that opens each set of tables, for messages. */
const openers: Readonly<Record<string, string>> = {
  [inboxTables.name]: 'openInbox()',
  [orderTables.name]: 'openOrderBook()',
};

/** Throws if a file does not hold the tables, in a version that this package can read. Changes no table. */
async function checkVersion(database: SqliteDatabase, name: string, set: TableSet): Promise<void> {
  const db = new Connection(database);
  const isMade = await db.runWhenFree(() => hasTables(db, set, name));
  if (isMade === undefined)
    throw new CommandError(`${name} holds ${noneOf(set)}. Pass the file of ${openers[set.name]}.`);
  // secure_delete overwrites the rows that purge() deletes, as in the inbox's own file.
  database.exec('PRAGMA secure_delete = ON');
}

/** Opens a file with `node:sqlite`, or with the shop's own better-sqlite3 on a Node without it. */
function openDatabase(file: string): SqliteDatabase {
  const Database: unknown = findDatabaseClass() ?? packageOfShop('better-sqlite3');
  const database: unknown = typeof Database === 'function' && Reflect.construct(Database, [file]);
  if (isSqliteDatabase(database)) return database;
  throw new CommandError(
    `The inbox in a file needs node:sqlite, which Node ${process.version} does not have. Run the command with Node 22.13 or ` +
      'later, such as with: npx --package=node@24 -- merchant-payments inbox …, or in a folder that has better-sqlite3.',
  );
}

/** Loads a package that is installed where the command runs; `undefined` if it cannot be loaded. */
function packageOfShop(name: string): unknown {
  try {
    return createRequire(join(process.cwd(), 'package.json'))(name);
  } catch {
    return undefined;
  }
}

type OpenPool = PostgresPool & { end(): Promise<void> };

/** Creates a pool of the shop's own `pg`, which also reads PGPASSWORD and names no password in its errors. */
function poolOf(connectionString: string): OpenPool {
  const pg = packageOfShop('pg');
  if (pg === undefined) {
    const remedy = 'Run the command in the folder of your shop, or run: npm install pg';
    throw new CommandError(`The package "pg" is not installed in this folder. ${remedy}`);
  }
  const Pool: unknown = typeof pg === 'object' && pg !== null && Reflect.get(pg, 'Pool');
  const pool: unknown = typeof Pool === 'function' && Reflect.construct(Pool, [{ connectionString, max: 2 }]);
  if (hasMethods<OpenPool>(pool, 'connect', 'end')) return pool;
  throw new CommandError('The package "pg" in this folder has no Pool. Update it: npm install pg@8');
}
