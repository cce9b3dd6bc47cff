// The part of node:sqlite that is used here; the types of Node 20 lack it.
declare module 'node:sqlite' {
  type Value = null | number | bigint | string | Uint8Array;
  class StatementSync {
    run(...values: Value[]): { changes: number | bigint; lastInsertRowid: number | bigint };
    get(...values: Value[]): Record<string, Value> | undefined;
    all(...values: Value[]): Record<string, Value>[];
  }
  class DatabaseSync {
    constructor(path: string);
    exec(sql: string): void;
    prepare(sql: string): StatementSync;
    close(): void;
  }
}
