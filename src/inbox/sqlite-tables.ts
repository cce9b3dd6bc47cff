import { closeSync, existsSync, openSync } from 'node:fs';
import { resolve } from 'node:path';
import { ConfigurationError } from '../errors.js';
import { digestOf } from '../webhooks/delivery.js';
import { type Connection, databaseClass, type SqliteDatabase } from './sqlite.js';
import { tables, tablesVersion } from './tables.js';

const created = tables({ id: 'integer', counted: '', unique: 'UNIQUE (key)' });

/** Version 1 had everything in one table, and no digest. */
const fromVersion1 = `
  INSERT INTO payments_inbox
    (id, key, state, received_at, attempts, failures, lost, due_at, due_set_at, started_at, finished_at, last_error)
    SELECT id, key, state, received_at, attempts, failures, lost, due_at, iif(due_at IS NULL, NULL, 0),
      iif(state = 'running', received_at, NULL), finished_at, last_error FROM payments_inbox_1;
  INSERT INTO payments_inbox_content (id, event, raw_body, headers)
    SELECT id, event, raw_body, headers FROM payments_inbox_1 WHERE raw_body IS NOT NULL;
  DROP TABLE payments_inbox_1;
`;

/** Opens a file, created with mode 600 if it may be. */
export function openFile(file: string, { create }: { create: boolean }): SqliteDatabase {
  const Database = databaseClass();
  const path = file === ':memory:' ? file : resolve(file);
  if (path !== ':memory:' && !existsSync(path)) {
    if (!create) throw new ConfigurationError(`${JSON.stringify(file)} does not exist.`);
    // SQLite creates its log files with the same mode.
    closeSync(openSync(path, 'a', 0o600));
  }
  return new Database(path);
}

/** Readies a file of the inbox's own. One that is no SQLite database, or comes from a newer version, is left unchanged. */
export function setUpFile(connection: Connection, file: string, { create }: { create: boolean }): void {
  const found = readVersion(connection, file);
  if (!create && found !== tablesVersion) {
    throw new ConfigurationError(
      found === undefined
        ? `${JSON.stringify(file)} holds no inbox. Pass the file of openInbox().`
        : `${JSON.stringify(file)} holds an inbox of version ${found}. Start your server with this version of ` +
            'merchant-payments once, which brings it up to date.',
    );
  }
  // What purge() deletes is overwritten.
  connection.database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA secure_delete = ON');
  setUpTables(connection, file);
}

/** Creates the tables in a database that has none, brings those of version 1 up to date, refuses those of a newer one. */
export function setUpTables(connection: Connection, name: string): void {
  connection.journalMode();
  if (readVersion(connection, name) === tablesVersion) return;
  connection.transaction(
    () => {
      // Another process may have been faster.
      const found = readVersion(connection, name);
      if (found === undefined) connection.database.exec(created);
      if (found === 1) migrate(connection);
    },
    { durable: true },
  );
}

function migrate(connection: Connection): void {
  connection.database.exec(`
    DROP INDEX payments_inbox_due; DROP INDEX payments_inbox_state; DROP TABLE payments_inbox_version;
    ALTER TABLE payments_inbox RENAME TO payments_inbox_1; ${created} ${fromVersion1}`);
  for (const { id, event } of connection.all('SELECT id, event FROM payments_inbox_content')) {
    const digest = digestOf(JSON.parse(String(event)));
    connection.all('UPDATE payments_inbox SET digest = ? WHERE id = ?', digest, Number(id));
  }
}

/** The version of the tables; `undefined` if there are none. */
function readVersion({ database }: Connection, name: string): number | undefined {
  const found = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'payments_inbox_version'").get();
  if (found === undefined) return undefined;
  const [value] = Object.values(database.prepare('SELECT version FROM payments_inbox_version').get() ?? {});
  if (value === 1 || value === tablesVersion) return value;
  throw new ConfigurationError(
    `${JSON.stringify(name)} holds an inbox of version ${String(value)}, and this package reads version ${tablesVersion}. ` +
      'Update merchant-payments. The file was not changed.',
  );
}
