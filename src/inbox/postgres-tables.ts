import { ConfigurationError } from '../errors.js';
import { type PostgresPool, quoted, type Run, transaction } from './postgres.js';
import { knownVersion, tables, tablesVersion } from './tables.js';

/** Where the tables are. */
export interface PostgresPlace {
  pool: PostgresPool;
  schema: string;
}

// An ordinary index could not hold a long key.
const created = tables({
  id: 'bigint',
  counted: 'GENERATED ALWAYS AS IDENTITY',
  unique: 'EXCLUDE USING hash (key WITH =)',
});

/** The advisory lock held while tables are created: a random number, which no other program is likely to lock. */
const lockId = 7_263_549_180_021;

/** The statements that make the tables, for a migration of the shop's own. Running them again changes nothing. */
export function schemaSql(schema = 'public'): string {
  const at = quoted(schema);
  return `-- Tables of the inbox of merchant-payments, version ${tablesVersion}. The shop's role needs afterwards:
-- GRANT USAGE ON SCHEMA ${at} TO …;
-- GRANT SELECT, INSERT, UPDATE, DELETE ON ${at}.payments_inbox, ${at}.payments_inbox_content, ${at}.payments_inbox_refused TO …;
-- GRANT SELECT ON ${at}.payments_inbox_version TO …;
BEGIN;
SELECT pg_advisory_xact_lock(${lockId});
CREATE SCHEMA IF NOT EXISTS ${at};
${inSchema(created, schema)}
COMMIT;`;
}

/** Names the schema of each table. */
export function inSchema(sql: string, schema: string): string {
  return sql.replace(/(?<!INDEX IF NOT EXISTS )\bpayments_inbox/g, (table) => `${quoted(schema)}.${table}`);
}

/** Makes the tables where there are none, and refuses those of a newer version. */
export async function openTables({ pool, schema }: PostgresPlace): Promise<void> {
  const at = quoted(schema);
  try {
    await transaction(pool, async (run) => {
      if (await isCurrent(run, at)) return;
      await run(`SELECT pg_advisory_xact_lock(${lockId})`);
      // Another instance may have been faster.
      if (await isCurrent(run, at)) return;
      const [found] = await run('SELECT 1 FROM pg_namespace WHERE nspname = $1', [schema]);
      if (!found) await run(`CREATE SCHEMA ${at}`);
      await run(inSchema(created, schema));
    });
  } catch (error) {
    if (!(error instanceof Error) || Reflect.get(error, 'code') !== '42501') throw error;
    throw new ConfigurationError(
      `The role of the pool may not create the tables of the inbox in schema ${at}: ${error.message}. ` +
        'Run what "merchant-payments inbox --print-schema" prints as a role that may.',
    );
  }
}

/** Whether the tables exist, in this version. */
export async function isCurrent(run: Run, at: string): Promise<boolean> {
  const table = `${at}.payments_inbox_version`;
  const [found] = await run('SELECT to_regclass($1)::text AS name', [table]);
  if (!found?.name) return false;
  const [row] = await run(`SELECT max(version)::text AS version FROM ${table}`);
  return knownVersion(row?.version, `Schema ${at}`) === tablesVersion;
}
