import { ConfigurationError } from '../errors.js';

/** Version of the tables. Raise it with every change to them. */
export const tablesVersion = 2;

/** What a delivery contains has a table of its own: `purge()` then frees whole pages, which SQLite uses again. */
export function tables({ id, counted, unique }: Record<'id' | 'counted' | 'unique', string>): string {
  return `CREATE TABLE IF NOT EXISTS payments_inbox (
  id ${id} ${counted} PRIMARY KEY,
  key text NOT NULL,
  digest text,
  state text NOT NULL,
  received_at bigint NOT NULL, -- each time in milliseconds
  attempts integer NOT NULL DEFAULT 0,
  failures integer NOT NULL DEFAULT 0,
  lost integer NOT NULL DEFAULT 0,
  due_at bigint,
  due_set_at bigint, -- when due_at was set: tells a clock that was wrong
  started_at bigint,
  finished_at bigint,
  last_error text,
  ${unique}
);
CREATE INDEX IF NOT EXISTS payments_inbox_due ON payments_inbox (due_at, id) WHERE due_at IS NOT NULL;
CREATE INDEX IF NOT EXISTS payments_inbox_due_set ON payments_inbox (due_set_at) WHERE due_at IS NOT NULL;
CREATE INDEX IF NOT EXISTS payments_inbox_state ON payments_inbox (state);
CREATE TABLE IF NOT EXISTS payments_inbox_content (
  id ${id} PRIMARY KEY,
  event text NOT NULL,
  raw_body text NOT NULL,
  encoding text,
  headers text NOT NULL
);
CREATE TABLE IF NOT EXISTS payments_inbox_refused (
  id ${id} ${counted} PRIMARY KEY,
  code text NOT NULL,
  received_at bigint NOT NULL,
  bytes integer NOT NULL,
  headers text NOT NULL,
  raw_body text NOT NULL,
  encoding text
);
CREATE TABLE IF NOT EXISTS payments_inbox_version (version integer NOT NULL UNIQUE);
INSERT INTO payments_inbox_version VALUES (${tablesVersion}) ON CONFLICT DO NOTHING;`;
}

/** Fails where one of the tables lacks a column: it may be of another program. */
export const probe = [...tables({ id: '', counted: '', unique: '' }).matchAll(/EXISTS (\w+) \(\n(.*?)\n\)/gs)]
  .map(([, table, columns]) => `SELECT ${columns?.match(/^ *[a-z_]+/gm)?.join()} FROM ${table} WHERE false`)
  .join('; ');

export function knownVersion(found: unknown, where: string): number {
  const version = Number(found);
  if (version >= 1 && version <= tablesVersion) return version;
  throw new ConfigurationError(
    `${where} holds an inbox of version ${String(found)}, and this package reads version ${tablesVersion}. ` +
      'Update merchant-payments. Nothing was changed.',
  );
}
