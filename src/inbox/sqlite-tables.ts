import { closeSync, existsSync, openSync } from 'node:fs';
import { resolve } from 'node:path';
import { digestOf } from '../webhooks/delivery.js';
import { type Connection, databaseClass, type SqliteDatabase } from './sqlite.js';
import { knownVersion, probe, tables, tablesVersion } from './tables.js';

/** Where an inbox on SQLite is: a file of its own, or the shop's database. */
export type SqlitePlace = { file: string } | { database: SqliteDatabase };

const created = `${tables({ id: 'integer', counted: '', unique: 'UNIQUE (key)' })}
  ${probe};`;

/** Version 1 had everything in one table, and no digest. */
const fromVersion1 = `DROP INDEX payments_inbox_due;
  DROP INDEX payments_inbox_state;
  DROP TABLE payments_inbox_version;
  ALTER TABLE payments_inbox RENAME TO payments_inbox_1;
  ${created}
  INSERT INTO payments_inbox
    (id, key, state, received_at, attempts, failures, lost, due_at, due_set_at, started_at, finished_at, last_error)
    SELECT id, key, state, received_at, attempts, failures, lost, due_at, iif(due_at IS NULL, NULL, 0),
      iif(state = 'running', received_at, NULL), finished_at, last_error FROM payments_inbox_1;
  INSERT INTO payments_inbox_content (id, event, raw_body, headers)
    SELECT id, event, raw_body, headers FROM payments_inbox_1 WHERE raw_body IS NOT NULL;
  DROP TABLE payments_inbox_1;`;

/** Opens a file, created with mode 600 if there is none. */
export function openFile(file: string): SqliteDatabase {
  const Database = databaseClass();
  const path = file === ':memory:' ? file : resolve(file);
  // SQLite creates its log files with the same mode.
  if (path !== ':memory:' && !existsSync(path)) closeSync(openSync(path, 'a', 0o600));
  return new Database(path);
}

/**
 * Creates the tables where there are none and brings those of version 1 up to date. What is no SQLite database, or comes
 * from a newer version, is left unchanged.
 */
export function setUp(db: Connection, place: SqlitePlace): void {
  const name = JSON.stringify('file' in place ? place.file : 'database');
  const found = readVersion(db, name);
  // What purge() deletes is overwritten.
  if ('file' in place)
    db.database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA secure_delete = ON');
  if (found === tablesVersion) db.database.exec(probe);
  else db.transaction(() => migrate(db, name), 'durably');
}

function migrate(db: Connection, name: string): void {
  // Another process may have been faster.
  const version = readVersion(db, name);
  if (version === undefined) db.database.exec(created);
  if (version !== 1) return;
  db.database.exec(fromVersion1);
  for (const { id, event } of db.all('SELECT id, event FROM payments_inbox_content')) {
    const digest = digestOf(JSON.parse(String(event)));
    db.all('UPDATE payments_inbox SET digest = ? WHERE id = ?', digest, Number(id));
  }
}

/** The version of the tables; `undefined` if there are none. */
export function readVersion(db: Connection, name: string): number | undefined {
  const [found] = db.all("SELECT 1 FROM sqlite_schema WHERE name = 'payments_inbox_version'");
  if (!found) return undefined;
  const [row] = db.all('SELECT max(version) AS version FROM payments_inbox_version');
  return knownVersion(row?.version, name);
}
