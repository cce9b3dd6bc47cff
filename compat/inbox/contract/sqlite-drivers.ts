// Puts the contract of the inbox on a SQLite driver of the shop's own: the package that INBOX_DRIVER names, as `database`.
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import {
  openInbox,
  openOrderBook,
  type SqliteDatabase,
  type SqliteStatement,
} from '../../../src/inbox/index.js';
import {
  insertPaid,
  killable,
  nameTables,
  placeInboxesIn,
  withinSqlite,
} from '../../../test/inbox/contract/places.js';
import { deferCleanup, temporaryFile } from '../../../test/inbox/inboxes.js';

interface Database extends SqliteDatabase {
  prepare(sql: string): SqliteStatement & { reader: boolean };
}
const Driver: new (file: string) => Database = createRequire(import.meta.url)(
  process.env.INBOX_DRIVER ?? 'better-sqlite3',
);

function connect(file: string): Database {
  const database = new Driver(file);
  deferCleanup(() => database.close());
  database.exec('PRAGMA busy_timeout = 5000');
  return database;
}

placeInboxesIn({
  name: 'SQLite',
  newPlace() {
    const file = temporaryFile();
    const other = connect(file);
    other.exec('PRAGMA journal_mode = WAL; CREATE TABLE paid (order_id TEXT)');
    return {
      open: (options) => openInbox({ database: connect(file), ...options }),
      openBook: (options, dies = () => {}) => {
        const book = openOrderBook({ database: killable(connect(file), dies), ...options });
        return { ...book, runWithin: withinSqlite(book, () => connect(file)) };
      },
      run: async (sql) => {
        const statement = other.prepare(nameTables(sql));
        if (statement.reader) return statement.all();
        statement.run();
        return [];
      },
      pay: (db) => 'prepare' in db && db.prepare(nameTables(insertPaid)).run(),
      args: [file],
      cwd: fileURLToPath(new URL('../..', import.meta.url)),
    };
  },
});
