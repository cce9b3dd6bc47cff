import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';

const names = {
  file: fileURLToPath(new URL('calls-of-inbox.ts', import.meta.url)),
  tsconfig: fileURLToPath(new URL('../../tsconfig.json', import.meta.url)),
};
const declared = `
import { openInbox, openOrderBook, type PostgresClient, type SqliteDatabase } from 'merchant-payments/inbox';
interface Connected extends PostgresClient { query(text: string): Promise<{ rows: unknown[]; rowCount: number }> }
declare const pool: { connect(): Promise<Connected>; connect(callback: (client: Connected) => void): void };
declare const pools: (() => typeof pool)[];
declare const open: () => SqliteDatabase;
declare const on: { 'order.paid': () => void };
declare const tx: Connected;
declare const paid: { order_id: string; amount: string; currency: string };
`;

/** Each with a part of what the compiler says of it. */
const mistakes: [call: string, message: string][] = [
  ["openInbox({ file: 'x', on, retry: [] })", "'retry' does not exist in type 'FileInboxOptions'"],
  ['openInbox({ database: open(), on, retry: [] })', "'retry' does not exist in type 'DatabaseInboxOptions'"],
  ['openInbox({ pool, on, retry: [] })', "'retry' does not exist in type 'PostgresInboxOptions<Connected>'"],
  ["openInbox({ file: 'x', on: { 'order.payed': () => {} } })", "''order.payed'' does not exist in type"],
  ["openInbox({ pool, on: { 'order.payed': () => {} } })", "''order.payed'' does not exist in type"],
  ["openInbox({ file: 'x', pool, on })", "Types of property 'pool' are incompatible"],
  ["openInbox({ file: 'x', schema: 'shop', on })", "Types of property 'schema' are incompatible"],
  [
    "openInbox({ file: 'x', on: { 'order.paid': (_, { commit }) => commit(async (db) => { db.exec(''); }) } })",
    'The function of commit() must be synchronous',
  ],
  ["openOrderBook({ file: 'x', mots: '0.50' })", "'mots' does not exist in type"],
  ["openOrderBook({ pool, lateFro: '2h' })", "'lateFro' does not exist in type"],
  ["openOrderBook({ file: 'x', pool })", "Types of property 'pool' are incompatible"],
  [
    "openOrderBook({ pool }).reserve({ id: 1, prize: '19.90', currency: 'USD' })",
    "'prize' does not exist in type 'ReserveParams'",
  ],
  ['openOrderBook({ pool }).credit(open(), paid)', "'SqliteDatabase' is not assignable to"],
  ["openOrderBook({ file: 'x' }).credit(tx, paid)", "'Connected' is not assignable to"],
];

const fine = [
  "openInbox({ file: process.env.FILE ?? 'x', on: { 'order.paid': (event, { commit }) => commit((db) => db.prepare(event.data.order_id).run()) } })",
  "openInbox({ database: open(), on: { 'order.paid': (event, { commit }) => commit((db) => db.prepare(event.data.order_id).run()) } })",
  "openInbox({ pool, on: { 'order.paid': async (event, { commit }) => void (await commit(async (tx) => (await tx.query(event.data.order_id)).rowCount.toFixed())) } })",
  "pools.map((make) => openInbox({ pool: make(), on: { 'order.paid': (event, { commit }) => commit((tx) => tx.query(event.data.order_id).then((result) => result.rowCount.toFixed())) } }))",
  "openOrderBook({ file: process.env.FILE ?? 'x', lateFor: '24h' }).credit(open(), paid).map(({ id }) => id.trim())",
  "openOrderBook({ database: open() }).decide('ord_1', 7, open()).map(({ paymentId }) => paymentId.trim())",
  'openOrderBook({ pool }).credit(tx, paid).then(([one]) => one?.id.trim())',
  'openOrderBook({ pool }).cancel(7n, async () => []).then((paid) => paid.length)',
  "openOrderBook({ pool }).reserve({ id: 'A', price: '19.90', currency: 'USD' }).then(({ amount }) => amount?.trim())",
  'openOrderBook({ pool }).held().then(([one]) => one?.candidates[0]?.expiresAt?.getTime())',
];

/** Returns the compiler's message about each call, without the lines below its first. */
function compileCalls(calls: readonly string[]): string[] {
  const { config } = ts.readConfigFile(names.tsconfig, ts.sys.readFile);
  const root = fileURLToPath(new URL('../..', import.meta.url));
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root);
  const host = ts.createCompilerHost(options);
  const { getSourceFile, fileExists } = host;
  const source = ts.createSourceFile(names.file, declared + calls.join('\n'), ts.ScriptTarget.ES2022, true);
  host.getSourceFile = (name, ...rest) => (name === names.file ? source : getSourceFile(name, ...rest));
  host.fileExists = (name) => name === names.file || fileExists(name);
  const program = ts.createProgram([names.file], options, host);
  const first = declared.split('\n').length - 1;
  const found = calls.map(() => '');
  for (const { start = 0, messageText } of program.getSemanticDiagnostics(source)) {
    const line = source.getLineAndCharacterOfPosition(start).line - first;
    found[line] += `${ts.flattenDiagnosticMessageText(messageText, '\n')}\n`;
  }
  return found;
}

describe('the types of openInbox() and openOrderBook()', () => {
  it('name what is wrong by its own name, and the types of correct calls', () => {
    const calls = [...mistakes.map(([call]) => call), ...fine];
    const found = compileCalls(calls);
    const expected = [
      ...mistakes.map(([, message]) => expect.stringContaining(message)),
      ...fine.map(() => ''),
    ];
    expect(Object.fromEntries(calls.map((call, at) => [call, found[at]]))).toEqual(
      Object.fromEntries(calls.map((call, at) => [call, expected[at]])),
    );
  });
});
