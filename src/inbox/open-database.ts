import { closeSync, existsSync, openSync } from 'node:fs';
import { resolve } from 'node:path';
import { ConfigurationError } from '../errors.js';
import { databaseClass, isLocked, type SqliteDatabase, transaction } from './sqlite.js';

/** Version of the tables. Raise it with every change to them. */
const version = 1;

const tables = `
  CREATE TABLE payments_inbox (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    state TEXT NOT NULL,
    type TEXT NOT NULL,
    event TEXT,
    raw_body TEXT,
    headers TEXT,
    received_at INTEGER NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    failures INTEGER NOT NULL DEFAULT 0,
    lost INTEGER NOT NULL DEFAULT 0,
    due_at INTEGER,
    last_error TEXT,
    finished_at INTEGER
  ) STRICT;
  CREATE INDEX payments_inbox_due ON payments_inbox (due_at) WHERE due_at IS NOT NULL;
  CREATE INDEX payments_inbox_state ON payments_inbox (state, received_at);
  CREATE TABLE payments_inbox_version (version INTEGER NOT NULL) STRICT;
  INSERT INTO payments_inbox_version VALUES (${version});
`;

/** How long a call waits, blocking this thread, while another process holds the file. */
const busyTimeoutMs = 1000;
const setupTimeoutMs = 10_000;

/** Opens the file of an inbox. A file that is no SQLite database, or comes from a newer version, is left unchanged. */
export function openFile(file: string, { create }: { create: boolean }): SqliteDatabase {
  const Database = databaseClass();
  const path = file === ':memory:' ? file : resolve(file);
  let database: SqliteDatabase | undefined;
  try {
    if (path !== ':memory:' && !existsSync(path)) {
      if (!create) throw new ConfigurationError(`${JSON.stringify(file)} does not exist.`);
      // SQLite creates its log files with the same mode.
      closeSync(openSync(path, 'a', 0o600));
    }
    database = new Database(path);
    setUp(database, file, create);
    return database;
  } catch (error) {
    database?.close();
    if (error instanceof ConfigurationError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new ConfigurationError(
      `${JSON.stringify(file)} cannot be used as an inbox: ${reason}. Pass a file that can be written, in a folder that exists.`,
    );
  }
}

function setUp(database: SqliteDatabase, file: string, create: boolean): void {
  patiently(() => {
    // Nothing is written before the version is known.
    if (!checkVersion(database, file) && !create)
      throw new ConfigurationError(`${JSON.stringify(file)} holds no inbox. Pass the file of openInbox().`);
    // What purge() deletes is overwritten.
    database.exec(
      `PRAGMA busy_timeout = ${busyTimeoutMs}; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA secure_delete = ON`,
    );
  });
  createTables(database, file);
}

/** Creates the tables in a database that has none, and refuses those of a newer version. */
export function createTables(database: SqliteDatabase, name: string): void {
  patiently(() => {
    if (checkVersion(database, name)) return;
    transaction(database, () => {
      // Another process may have been faster.
      if (!checkVersion(database, name)) database.exec(tables);
    });
  });
}

/** Whether the tables exist, in this version. */
function checkVersion(database: SqliteDatabase, name: string): boolean {
  const found = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'payments_inbox_version'").get();
  if (found === undefined) return false;
  const row = database.prepare('SELECT version FROM payments_inbox_version').get();
  if (Number(row?.version) === version) return true;
  throw new ConfigurationError(
    `${JSON.stringify(name)} holds an inbox of version ${String(row?.version)}, and this package reads version ${version}. ` +
      'Update merchant-payments. The file was not changed.',
  );
}

/** Several processes may start at once, and SQLite does not wait when the journal mode changes. */
function patiently(work: () => void): void {
  const until = Date.now() + setupTimeoutMs;
  for (;;) {
    try {
      work();
      return;
    } catch (error) {
      if (!isLocked(error) || Date.now() >= until) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
    }
  }
}
