import { createRequire } from 'node:module';
import { ConfigurationError, type SqliteDatabase } from 'merchant-payments/inbox';

type Database = new (file: string) => SqliteDatabase;
interface Load {
  (name: 'node:sqlite'): { DatabaseSync: Database };
  (name: 'libsql'): Database;
}
/** Looks from the folder of the process, so that a bundler does not bundle what only Node 20 needs. */
const load: Load = createRequire(`${process.cwd()}/package.json`);

/** Opens a SQLite file, or `:memory:`, with Node's own SQLite; on Node 20, which has none, with the package `libsql`. */
export function openDatabase(file: string): SqliteDatabase {
  const database = new (databaseClass())(file);
  database.exec('PRAGMA busy_timeout = 5000');
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
  return database;
}

function databaseClass(): Database {
  if (process.getBuiltinModule('node:sqlite')) return load('node:sqlite').DatabaseSync;
  try {
    return load('libsql');
  } catch {
    throw new ConfigurationError(
      'The shop keeps its orders in SQLite, which Node has from 22.13 on. On Node 20, run: npm install libsql',
    );
  }
}
