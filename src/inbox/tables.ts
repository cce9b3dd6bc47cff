import { ConfigurationError } from '../errors.js';

/** The types of columns, as a database writes them. */
export interface ColumnTypes {
  /** The type of an id. */
  id: string;
  /** The words after the type of an id that counts up. */
  counted: string;
  /** Lets a column of a table hold a text of any length once. */
  unique(table: string, column: string): string;
}

/** Tables that belong together and have one version, in SQLite and in PostgreSQL. */
export interface TableSet {
  /** The beginning of the names of the tables, and of no names of another set. */
  name: string;
  /** The content of the tables as errors name it, such as "an inbox". */
  holds: string;
  /** The version of the tables. Raise it with every change, which then has a row in the version table. */
  version: number;
  /** Returns SQL that creates what is missing, and adds the row of each change: `breaks` is true if earlier versions of this package cannot go on. */
  create(types: ColumnTypes): string;
}

/** The tables of an inbox. The content of a delivery has a table of its own, so that `purge()` frees whole pages, which SQLite uses again. */
export const inboxTables: TableSet = {
  name: 'payments_inbox',
  holds: 'an inbox',
  version: 1,
  create: ({ id, counted, unique }) => `CREATE TABLE IF NOT EXISTS payments_inbox (
  id ${id} ${counted} PRIMARY KEY,
  key text NOT NULL,
  digest text,
  state text NOT NULL,
  received_at bigint NOT NULL, -- each time in milliseconds
  attempts integer NOT NULL DEFAULT 0,
  failures integer NOT NULL DEFAULT 0,
  lost integer NOT NULL DEFAULT 0,
  claim text, -- which statement claimed it last
  forced integer NOT NULL DEFAULT 0, -- the last attempt from whose function retry() took the delivery
  due_at bigint,
  due_set_at bigint, -- when due_at was set: tells a clock that was wrong
  started_at bigint,
  finished_at bigint,
  last_error text,
  ${unique('payments_inbox', 'key')}
);
CREATE INDEX IF NOT EXISTS payments_inbox_due ON payments_inbox (due_at, id) WHERE due_at IS NOT NULL;
CREATE INDEX IF NOT EXISTS payments_inbox_due_set ON payments_inbox (due_set_at) WHERE due_at IS NOT NULL;
CREATE INDEX IF NOT EXISTS payments_inbox_state ON payments_inbox (state, id) WHERE due_at IS NULL;
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
  encoding text,
  body_hash text UNIQUE, -- the same bytes again are counted
  times integer NOT NULL DEFAULT 1,
  last_at bigint, -- of the last time, as the next one
  last_headers text
);
CREATE TABLE IF NOT EXISTS payments_inbox_version (
  version integer PRIMARY KEY,
  breaks boolean NOT NULL
);
INSERT INTO payments_inbox_version VALUES (1, false) ON CONFLICT DO NOTHING;`,
};

/** Returns the tables of a set, each with its columns. */
export function tablesOf(set: TableSet): [table: string, columns: string][] {
  const text = set.create({ id: '', counted: '', unique: () => '' });
  return [...text.matchAll(/EXISTS (\w+) \(\n(.*?)\n\)/gs)].map(([, table = '', columns = '']) => [
    table,
    (columns.match(/^ *[a-z_]+/gm) ?? []).join(),
  ]);
}

/** Returns SQL that fails if one of the tables lacks a column: the table may be of another program. */
export function probeOf(set: TableSet): string {
  return tablesOf(set)
    .map(([table, columns]) => `SELECT ${columns} FROM ${table} WHERE false`)
    .join('; ');
}

/** Returns SQL that reads the highest version of the tables, and the highest one that breaks this version of the package. Each may be null. */
export function versionsOf({ name, version }: TableSet): string {
  return `SELECT max(version) AS version, max(CASE WHEN breaks AND version > ${version} THEN version END) AS breaking
    FROM ${name}_version`;
}

/** True if the tables have all that this version needs. Throws if a later version of the package has made tables with which this one cannot go on. */
export function isCurrent(set: TableSet, versions: Readonly<Record<string, unknown>> = {}, where: string) {
  const { version, breaking } = versions;
  if (breaking === null || breaking === undefined) return Number(version ?? 0) >= set.version;
  throw new ConfigurationError(
    `${where} holds ${set.holds} of version ${String(version)}, and this package reads version ${set.version}: version ` +
      `${String(breaking)} breaks it. Update merchant-payments. Nothing was changed.`,
  );
}
