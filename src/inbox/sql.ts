export type SqlValue = string | number | null;

/** A row as a database returned it: how numbers are parsed is up to the shop's connection. */
export type Row = Readonly<Record<string, unknown>>;

/** The current time in milliseconds: of the server's clock in PostgreSQL, of this machine's in SQLite. */
export const now = Symbol('now');

type Parameter = SqlValue | typeof now;

/** One statement. Each database replaces `?` by what it takes. */
export interface Statement {
  text: string;
  values: Parameter[];
}

/** Returns SQL with values in it: another statement becomes part of the text, an array a list. */
export function sql(
  [first = '', ...rest]: TemplateStringsArray,
  ...given: (Parameter | Statement | number[])[]
): Statement {
  const statement: Statement = { text: first, values: [] };
  for (const [index, value] of given.entries()) {
    const isStatement = typeof value === 'object' && value !== null && 'text' in value;
    const values: Parameter[] = Array.isArray(value) ? value : isStatement ? value.values : [value];
    statement.text += (isStatement ? value.text : values.map(() => '?').join()) + rest[index];
    statement.values.push(...values);
  }
  return statement;
}

/** Returns SQL as it is, such as a literal. */
export function raw(text: string): Statement {
  return { text, values: [] };
}

/** The durability of a write: with `durably`, it is on the disk when it is over. A claim and its renewal need not be, because they end by themselves. */
export type Durability = 'durably' | 'quickly';

/** Statements that belong together, each yielded for its rows: SQLite runs all in one turn, PostgreSQL awaits each. */
export type Work<Result> = Generator<Statement, Result, Row[]>;
