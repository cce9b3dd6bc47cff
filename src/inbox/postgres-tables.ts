import { ConfigurationError } from '../errors.js';
import { escapeUnit } from '../input/visible.js';
import { orderTables } from './order-tables.js';
import { errorCode, type PostgresPool, quoteName, type Run } from './postgres.js';
import { storingResponseMs, transaction } from './postgres-connections.js';
import { now, type Row, type Statement } from './sql.js';
import {
  type ColumnTypes,
  inboxTables,
  isCurrent,
  probeOf,
  type TableSet,
  tablesOf,
  versionsOf,
} from './tables.js';

/** The place of tables in PostgreSQL. */
export interface PostgresPlace {
  pool: PostgresPool;
  schema: string;
}

/** A schema of its own, because tools that push the shop's tables drop tables from `public` that they do not know. */
export const defaultSchema = 'payments_inbox';

// The constraint has a hash index, because an ordinary one could not hold a long key.
const columnTypes: ColumnTypes = {
  id: 'bigint',
  counted: 'GENERATED ALWAYS AS IDENTITY',
  unique: (table, column) => `CONSTRAINT ${table}_${column} EXCLUDE USING hash (${column} WITH =)`,
};

/** The tables that `inbox --print-schema` prints. */
const tableSets: readonly TableSet[] = [inboxTables, orderTables];

/** The class of the advisory lock that is held while the tables of a schema are made: a random number, which no other program is likely to lock. */
const lockClass = 635_491_802;

/** Returns one statement that makes tables, also for a migration of the shop. Running it again changes nothing. */
export function schemaSql(schema = defaultSchema, sets = tableSets): string {
  const at = quoteName(schema);
  const name = `'${schema.replaceAll("'", "''")}'`;
  const isNew = `relnamespace = to_regnamespace(quote_ident(${name}))
    AND (${sets.map((set) => `starts_with(relname, '${set.name}')`).join(' OR ')}) AND relname <> ALL (known)`;
  return `-- Tables of merchant-payments: ${sets.map((set) => `${set.name}, version ${set.version}`).join('; ')}. A role that does not own them needs afterwards:
-- GRANT USAGE ON SCHEMA ${at} TO your_role;
${sets.flatMap((set) => grants(set, at)).join('\n')}
DO $payments$ DECLARE known name[]; item record; BEGIN
PERFORM pg_advisory_xact_lock(${lockClass}, hashtext(${name}));
IF NOT EXISTS (SELECT FROM pg_namespace WHERE nspname = ${name}) THEN
  CREATE SCHEMA ${at};
  FOR item IN SELECT DISTINCT CASE grantee WHEN 0 THEN 'PUBLIC' ELSE grantee::regrole::text END AS role
    FROM pg_namespace, aclexplode(nspacl) WHERE nspname = ${name} AND grantee <> nspowner LOOP
    EXECUTE format('REVOKE ALL ON SCHEMA %I FROM %s', ${name}, item.role);
  END LOOP;
END IF;
known := ARRAY(SELECT relname FROM pg_class WHERE relnamespace = to_regnamespace(quote_ident(${name})));
${sets.map((set) => inSchema(set.create(columnTypes), schema)).join('\n')}
-- Payments are for the owner alone, whatever default privileges say: row level security does not stop TRUNCATE.
FOR item IN SELECT DISTINCT CASE relkind WHEN 'S' THEN 'SEQUENCE' ELSE 'TABLE' END AS kind, pg_class.oid::regclass AS name,
  CASE grantee WHEN 0 THEN 'PUBLIC' ELSE grantee::regrole::text END AS role
  FROM pg_class, aclexplode(relacl) WHERE ${isNew} AND relkind IN ('r', 'S') AND grantee <> relowner LOOP
  EXECUTE format('REVOKE ALL ON %s %s FROM %s', item.kind, item.name, item.role);
END LOOP;
-- A table that was there keeps its setting: to alter it would wait for those who use it, and they for this.
FOR item IN SELECT oid::regclass AS name FROM pg_class WHERE ${isNew} AND relkind = 'r' LOOP
  EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', item.name);
END LOOP;
END $payments$;`;
}

function grants(set: TableSet, at: string): string[] {
  const names = tablesOf(set).map(([table]) => table);
  const written = names.filter((table) => table !== `${set.name}_version`);
  const qualify = (tables: string[]) => tables.map((table) => `${at}.${table}`).join(', ');
  const sequences = countedIn(set).map((table) => `${table}_id_seq`);
  return [
    `-- GRANT SELECT, INSERT, UPDATE, DELETE ON ${qualify(written)} TO your_role;`,
    `-- GRANT SELECT ON ${at}.${set.name}_version TO your_role;`,
    ...(sequences.length > 0
      ? [`-- GRANT USAGE, UPDATE ON SEQUENCE ${qualify(sequences)} TO your_role;`]
      : []),
    ...names.map((table) => `-- CREATE POLICY your_role ON ${at}.${table} TO your_role USING (true);`),
  ];
}

/** Returns the tables whose ids count up. */
function countedIn(set: TableSet): string[] {
  const text = set.create({ ...columnTypes, counted: 'counted' });
  return [...text.matchAll(/EXISTS (\w+) \(\s+id bigint counted/g)].map(([, table = '']) => table);
}

/** Advances sequences that are behind their tables, as logical replication leaves them. */
export async function advanceIds({ pool, schema }: PostgresPlace, set: TableSet): Promise<void> {
  await transaction(pool, async (run) => {
    for (const table of countedIn(set)) {
      const name = `${quoteName(schema)}.${table}`;
      const sequence = `pg_get_serial_sequence('${name.replaceAll("'", "''")}', 'id')`;
      await run(`SELECT setval(${sequence}, greatest(nextval(${sequence}), (SELECT max(id) FROM ${name})))`);
    }
  });
}

/** Names tables with their schema. */
export function inSchema(sql: string, schema: string): string {
  const tables = /(?<!INDEX IF NOT EXISTS |CONSTRAINT )\bpayments_[a-z]\w*/g;
  return sql.replace(tables, (table) => `${quoteName(schema)}.${table}`);
}

/** Returns the tables of a set that are missing, and `isComplete`, which is true if the set has all that this version needs. */
export async function findTables({ pool, schema }: PostgresPlace, set: TableSet) {
  const at = quoteName(schema);
  const names = tablesOf(set).map(([table]) => table);
  const find = async (run: Run) => {
    // One statement sees all that another transaction makes, or nothing of it.
    const found = await run(
      `SELECT relname::text AS name FROM pg_class JOIN pg_namespace ON relnamespace = pg_namespace.oid
      WHERE nspname = $1 AND relname IN (${names.map((name) => `'${name}'`).join(', ')})`,
      [schema],
    );
    const missing = names.filter((name) => !found.some((row) => row.name === name));
    if (missing.includes(`${set.name}_version`)) return { missing, isComplete: false };
    const [versions] = await run(inSchema(versionsOf(set), schema));
    return { missing, isComplete: isCurrent(set, versions, `Schema ${at}`) && missing.length === 0 };
  };
  return transaction(pool, find, storingResponseMs);
}

/** Makes the tables that are missing, and returns their names. Refuses tables of a later version that breaks this one, or of another program. */
export async function openTables(place: PostgresPlace, set: TableSet): Promise<string[]> {
  const { pool, schema } = place;
  const probe = inSchema(probeOf(set), schema);
  try {
    const { missing, isComplete } = await findTables(place, set);
    const look = (run: Run) => run(probe);
    const make = async (run: Run) => {
      await run(schemaSql(schema, [set]));
      await look(run);
    };
    // A delivery waits for this: only what makes tables may take longer, for it waits for others that do.
    const opened = isComplete ? transaction(pool, look, storingResponseMs) : transaction(pool, make);
    await opened.catch((error: unknown) => {
      if (errorCode(error) !== forbidden || missing.length > 0) throw error;
      // Tables from a dump without data have no version, and a role that may create nothing can use them.
      return transaction(pool, look, storingResponseMs);
    });
    return missing;
  } catch (error) {
    throw explainError(error, schema);
  }
}

const forbidden = '42501';
/** The codes of PostgreSQL if there is no table, or no schema, of that name. */
export const tableIsGone = ['42P01', '3F000'];

/** Returns an error that says what one of PostgreSQL means for the tables; any other error as it is. */
export function explainError(error: unknown, schema: string): unknown {
  if (!(error instanceof Error)) return error;
  const at = quoteName(schema);
  const code = errorCode(error);
  if (tableIsGone.includes(String(code)))
    return new ConfigurationError(
      `Tables are missing in schema ${at}: ${error.message}. They are made when an inbox or an order book is opened, or by what ` +
        '"merchant-payments inbox --print-schema" prints.',
    );
  if (code === '42703')
    return new ConfigurationError(
      `Schema ${at} has tables named payments_inbox that are not of this package: ${error.message}. Rename them, or pass ` +
        'another "schema".',
    );
  if (code !== forbidden) return error;
  return new ConfigurationError(
    `The role of the pool may not create or use the tables of the inbox in schema ${at}: ${error.message}. Run what ` +
      '"merchant-payments inbox --print-schema" prints as a role that may, with the GRANTs and policies in its comments.',
  );
}

const clock = '(extract(epoch FROM now()) * 1000)::bigint';

/** Returns a statement with the placeholders of PostgreSQL, and its values as text that any database takes. Numbers become part of the statement. */
export function toPostgres(schema: string, statement: Statement): [text: string, values: string[]] {
  const given: string[] = [];
  return [writeValues(schema, statement, (value) => `$${given.push(value)}`), given];
}

/**
 * Returns a statement with its values as literals, because only statements without values can be sent at once with the settings of
 * their transaction. The text of a literal is ASCII, and an E string has the same escapes whatever the settings of the server.
 */
export function toLiterals(schema: string, statement: Statement): string {
  return writeValues(schema, statement, (value) => `E'${value.replace(/['\\]/g, '$&$&')}'`);
}

function writeValues(schema: string, { text, values }: Statement, write: (value: string) => string): string {
  // The values are written after the names of tables, which may also be in a value.
  const [first = '', ...rest] = text.split('?').map((part) => inSchema(part, schema));
  return rest.reduce((before, part, index) => {
    const value = values[index] ?? null;
    const written = value === now ? clock : typeof value === 'string' ? write(toAscii(value)) : `(${value})`;
    return before + written + part;
  }, first);
}

/** Returns a value in ASCII: text of PostgreSQL has no NUL, and the database may have another encoding than UTF-8. */
function toAscii(value: string): string {
  return value.replace(/[\\\0\u007f-\uffff]/g, escapeUnit);
}

/** Returns a row with the text that `toPostgres()` was given. */
export function decodeRow(row: Row): Row {
  const text = (value: string) =>
    value.replace(/\\u(....)/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name, typeof value === 'string' ? text(value) : value]),
  );
}
