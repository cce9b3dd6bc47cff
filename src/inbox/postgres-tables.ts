import { ConfigurationError } from '../errors.js';
import { type PostgresPool, quoted, type Run, transaction } from './postgres.js';

/** Version of the tables. Raise it with every change to them. */
const version = 1;

/** Of the lock that is held while tables are made: any number that nobody else uses. */
const lockId = 7_263_549_180_021;

/** The statements that make the tables, for a migration of the shop's own. Running them again changes nothing. */
export function schemaSql(schema = 'public'): string {
  const at = quoted(schema);
  return `-- Tables of the inbox of merchant-payments, version ${version}. The shop's role needs afterwards:
-- GRANT USAGE ON SCHEMA ${at} TO …; GRANT SELECT, INSERT, UPDATE, DELETE ON ${at}.payments_inbox, ${at}.payments_inbox_refused TO …;
-- GRANT SELECT ON ${at}.payments_inbox_version TO …;
BEGIN;
SELECT pg_advisory_xact_lock(${lockId});
CREATE SCHEMA IF NOT EXISTS ${at};
${tables(at)}
COMMIT;`;
}

function tables(at: string): string {
  return `CREATE TABLE IF NOT EXISTS ${at}.payments_inbox (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  key_hash text NOT NULL UNIQUE, -- SHA-256 of the key, which may be longer than an index can hold
  key text NOT NULL,
  digest text NOT NULL,
  state text NOT NULL,
  delivery json, -- null once it was purged
  received_at timestamptz NOT NULL,
  attempts integer NOT NULL DEFAULT 0,
  failures integer NOT NULL DEFAULT 0,
  lost integer NOT NULL DEFAULT 0,
  due_at timestamptz,
  wait interval, -- what made due_at: tells a clock that was wrong
  started_at timestamptz,
  finished_at timestamptz,
  last_error text
);
CREATE INDEX IF NOT EXISTS payments_inbox_due ON ${at}.payments_inbox (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX IF NOT EXISTS payments_inbox_parked ON ${at}.payments_inbox (id) WHERE state = 'parked';
CREATE INDEX IF NOT EXISTS payments_inbox_finished ON ${at}.payments_inbox (finished_at) WHERE delivery IS NOT NULL;
CREATE TABLE IF NOT EXISTS ${at}.payments_inbox_refused (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  refusal json NOT NULL
);
CREATE TABLE IF NOT EXISTS ${at}.payments_inbox_version (version integer NOT NULL UNIQUE);
INSERT INTO ${at}.payments_inbox_version VALUES (${version}) ON CONFLICT DO NOTHING;`;
}

/** Makes the tables where there are none, and refuses those of a newer version. */
export async function openTables(pool: PostgresPool, schema: string, create: boolean): Promise<void> {
  const at = quoted(schema);
  if (await transaction(pool, (run) => isCurrent(run, at))) return;
  if (!create) throw new ConfigurationError(`Schema ${at} holds no inbox. Pass the schema of openInbox().`);
  try {
    await transaction(pool, async (run) => {
      await run(`SELECT pg_advisory_xact_lock(${lockId})`);
      // Another instance may have been faster.
      if (await isCurrent(run, at)) return;
      const [found] = await run('SELECT 1 FROM pg_namespace WHERE nspname = $1', schema);
      if (!found) await run(`CREATE SCHEMA ${at}`);
      for (const statement of tables(at).split(/;\n/)) await run(statement);
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
async function isCurrent(run: Run, at: string): Promise<boolean> {
  const table = `${at}.payments_inbox_version`;
  const [found] = await run('SELECT to_regclass($1)::text AS name', table);
  if (!found?.name) return false;
  const [row] = await run(`SELECT max(version)::text AS version FROM ${table}`);
  if (Number(row?.version) === version) return true;
  throw new ConfigurationError(
    `Schema ${at} holds an inbox of version ${String(row?.version)}, and this package reads version ${version}. ` +
      'Update merchant-payments. Nothing was changed.',
  );
}
