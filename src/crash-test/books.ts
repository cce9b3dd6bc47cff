import { setTimeout as wait } from 'node:timers/promises';
import { isObject } from '../input/object.js';
import type { OpenOrder } from './plan.js';
import { runShell } from './shell.js';

/** One line of the merchant's books: a fulfilment, or what the shop keeps for a person. */
export interface BookLine {
  readonly orderId: string;
  /** A decimal without needless zeros, or the text that the shop has in its place. Absent only if the line is held. */
  readonly amount?: string | undefined;
  readonly reference?: string | undefined;
  readonly isHeld: boolean;
}

/** The error for a line that is neither in columns nor JSON. */
export class LineError extends Error {
  readonly code: 'books_unreadable' | 'open_unreadable';
  readonly line: number;

  constructor(code: LineError['code'], line: number, text: string) {
    const shown = JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);
    super(
      code === 'books_unreadable'
        ? `Line ${line} of the books is ${shown}. Print order_id,amount or {"order_id":"…","amount":"…"}, without a header.`
        : `Line ${line} of what --open printed is ${shown}. Print reference,amount or {"reference":"…","amount":"…"} for each order, or nothing.`,
    );
    this.code = code;
    this.line = line;
  }
}

/** Reads what the books command printed: a line for each fulfilment, as CSV, separated by tabs, or as JSON. */
export function readBooks(output: string): BookLine[] {
  return readLines(output, 'books_unreadable', (text) => (isJson(text) ? fromJson(text) : fromColumns(text)));
}

/** Reads what the `--open` command printed: a line for each order that it has opened. */
export function readOpened(output: string): OpenOrder[] {
  return readLines(output, 'open_unreadable', (text) => {
    const [name, given] = isJson(text) ? fieldsOf(text, 'reference', 'amount') : columnsOf(text);
    const [reference, amount] = [textOf(name), plainAmount(given)];
    return reference === undefined || amount === undefined ? undefined : { reference, amount };
  });
}

function readLines<Line>(
  output: string,
  code: LineError['code'],
  read: (text: string) => Line | undefined,
): Line[] {
  return output.split(/\r?\n/).flatMap((text, index) => {
    if (text.trim() === '') return [];
    const line = read(text);
    if (line === undefined) throw new LineError(code, index + 1, text);
    return [line];
  });
}

const isJson = (text: string): boolean => text.trimStart().startsWith('{');

const quietMs = 2000;

/** Reads the books again and again until they are complete and unchanged for two seconds, or the time is over. */
export async function readSettledBooks(
  read: () => Promise<BookLine[]>,
  isComplete: (books: readonly BookLine[]) => boolean,
  settleMs: number,
  signal: AbortSignal,
): Promise<BookLine[]> {
  const startedAt = performance.now();
  let books = await read();
  let changedAt = startedAt;
  for (;;) {
    const now = performance.now();
    if (signal.aborted || now - startedAt >= settleMs) return books;
    if (isComplete(books) && now - changedAt >= quietMs) return books;
    await wait(200, undefined, { signal }).catch(() => {});
    const next = await read();
    if (JSON.stringify(next) !== JSON.stringify(books)) changedAt = performance.now();
    books = next;
  }
}

/** The error for a books command that failed. */
export class BooksCommandError extends Error {}

/** Runs the books command and reads what it prints. */
export async function runBooks(
  command: string,
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<BookLine[]> {
  const { code, output, errors } = await runShell(command, env, { signal });
  if (code !== 0) throw new BooksCommandError(`The books command ended with ${code}: ${errors || output}`);
  return readBooks(output);
}

/** Returns a decimal amount with at least two decimals and no other needless zeros; `undefined` if it is no decimal. */
export function plainAmount(amount: unknown): string | undefined {
  const [, whole, fraction = ''] = /^(\d+)(?:\.(\d+))?$/.exec(String(amount)) ?? [];
  if (whole === undefined) return undefined;
  let digits = fraction;
  while (digits.length > 2 && digits.endsWith('0')) digits = digits.slice(0, -1);
  return `${whole.replace(/^0+(?=\d)/, '')}.${digits.padEnd(2, '0')}`;
}

/** Returns an amount as it is compared. A text with a digit that is no decimal, such as `11,90`, stays as it is. */
function amountOf(given: unknown): string | undefined {
  const text = typeof given === 'number' ? String(given) : given;
  return typeof text === 'string' && /\d/.test(text) ? (plainAmount(text) ?? text) : undefined;
}

function fromJson(text: string): BookLine | undefined {
  const [orderId, given, reference, held = false] = fieldsOf(text, 'order_id', 'amount', 'reference', 'held');
  const amount = amountOf(given);
  if (typeof orderId !== 'string' || typeof held !== 'boolean') return undefined;
  if (amount === undefined && !held) return undefined;
  return { orderId, amount, reference: textOf(reference), isHeld: held };
}

/** Returns fields of a JSON object; nothing if the text is none. */
function fieldsOf(text: string, ...names: string[]): unknown[] {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? names.map((name) => value[name]) : [];
  } catch {
    return [];
  }
}

const textOf = (value: unknown): string | undefined =>
  value === undefined || value === null ? undefined : String(value);

function fromColumns(text: string): BookLine | undefined {
  const [orderId, given] = columnsOf(text);
  const amount = amountOf(given);
  const hasThird = /^\d+\.\d+,/.test(amount ?? '');
  if (orderId === undefined || amount === undefined || hasThird) return undefined;
  return { orderId, amount, isHeld: false };
}

/** Returns two columns: `psql -At -F,` and `sqlite3 -csv` print commas, `mysql -N` tabs. The second is all that follows the first, even with a comma. */
function columnsOf(text: string): string[] {
  return /^"?([^",\t]+)"?[,\t]"?([^"\t]+?)"?$/.exec(text)?.slice(1) ?? [];
}
