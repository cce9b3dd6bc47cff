import { statSync } from 'node:fs';
import { ConfigurationError } from '../errors.js';
import type { SqliteDatabase } from './sqlite.js';

/**
 * Returns a check that throws once the file, or the log beside it, was deleted or replaced. SQLite goes on writing into a
 * deleted file, and what it writes is gone when the process ends.
 */
export function fileInPlace(database: SqliteDatabase): () => void {
  // Empty in memory, where nothing is found at first nor later.
  const path = String(database.prepare('PRAGMA database_list').get()?.file ?? '');
  const opened = identityOf(path);
  return () => {
    const hasLog = database.prepare('PRAGMA journal_mode').get()?.journal_mode === 'wal';
    if (identityOf(path) === opened && (!hasLog || identityOf(`${path}-wal`) !== undefined)) return;
    throw new ConfigurationError(
      `${JSON.stringify(path)} was deleted or replaced while the inbox was open, so what is stored would be lost. ` +
        'Restore the file with its -wal, or restart the process on a new one.',
    );
  };
}

function identityOf(path: string): string | undefined {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found && `${found.dev}:${found.ino}`;
}
