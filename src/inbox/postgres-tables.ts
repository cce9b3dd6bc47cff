import { ConfigurationError } from '../errors.js';
import { type PostgresPool, quoted, type Run, transaction } from './postgres.js';
import { knownVersion, probe, tables, tablesVersion } from './tables.js';

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

/** One statement that makes the tables, also for a migration of the shop's own. Running it again changes nothing. */
export function schemaSql(schema = 'public'): string {
  const at = quoted(schema);
  return `-- Tables of the inbox of merchant-payments, version ${tablesVersion}. The shop's role needs afterwards:
-- GRANT USAGE ON SCHEMA ${at} TO your_role;
-- GRANT SELECT, INSERT, UPDATE, DELETE ON ${at}.payments_inbox, ${at}.payments_inbox_content, ${at}.payments_inbox_refused TO your_role;
-- GRANT SELECT ON ${at}.payments_inbox_version TO your_role;
DO $payments$ BEGIN
PERFORM pg_advisory_xact_lock(${lockId});
IF NOT EXISTS (SELECT FROM pg_namespace WHERE nspname = '${schema.replaceAll("'", "''")}') THEN CREATE SCHEMA ${at}; END IF;
${inSchema(created, schema)}
END $payments$;`;
}

/** Names the schema of each table. */
export function inSchema(sql: string, schema: string): string {
  return sql.replace(/(?<!INDEX IF NOT EXISTS )\bpayments_inbox/g, (table) => `${quoted(schema)}.${table}`);
}

/** Makes the tables where there are none, and refuses those of a newer version or of another program. */
export async function openTables({ pool, schema }: PostgresPlace): Promise<void> {
  const at = quoted(schema);
  try {
    await transaction(pool, async (run) => {
      if (!(await isCurrent(run, at))) await run(schemaSql(schema));
      await run(inSchema(probe, schema));
    });
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const code: unknown = Reflect.get(error, 'code');
    if (code === '42703' || code === '42P01')
      throw new ConfigurationError(
        `Schema ${at} has tables named payments_inbox that are not of this package: ${error.message}. Rename them, or pass ` +
          'another "schema".',
      );
    if (code !== '42501') throw error;
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
