import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { inspect, parseEnv, styleText } from 'node:util';
import { visible } from '../input/visible.js';

// A reader that has seen enough, such as `head`, closes the pipe.
for (const stream of [process.stdout, process.stderr])
  stream.on('error', (error) => {
    if (codeOf(error) !== 'EPIPE') throw error;
  });

/** Encloses our own colour codes, so that nobody else's pass for them. */
const mark = randomUUID();

/** Text in colour on a terminal, and plain in a pipe. */
export function paint(format: Parameters<typeof styleText>[0], text: string): string {
  const codes = styleText(format, '\0', { stream: process.stdout }).split('\0');
  return codes.map((code) => code && mark + code + mark).join(text);
}

export const verdict = (isGood: boolean, text: string): string =>
  isGood ? paint('green', `✓ ${text}`) : paint('red', `✗ ${text}`);

/** Lines as they may be printed: every escape sequence but our colours is made visible. */
const printable = (lines: string): string =>
  lines
    .split(mark)
    .map((part, at) => (at % 2 === 1 ? part : part.replaceAll(/[^\n\t]+/g, (text) => visible(text))))
    .join('');

export const print = (lines: string): void => void process.stdout.write(`${printable(lines)}\n`);

/** The same on stderr: what is no result. */
export const warn = (lines: string): void => void process.stderr.write(`${printable(lines)}\n`);

export function show(asJson: boolean, result: unknown, text: () => string, isOk = true): number {
  print(asJson ? JSON.stringify(result) : text());
  return isOk ? 0 : 1;
}

export const paragraphs = (...parts: (string | false | undefined)[]): string =>
  parts.filter((part) => part).join('\n\n');

export function columns(rows: readonly (readonly string[])[], between: string): string {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]) => row.map((cell, column) => cell.padEnd(widths?.[column] ?? 0));
  return rows.map((row) => line(row).join(between).trimEnd()).join('\n');
}

export const literal = (object: object): string => inspect(object, { breakLength: Infinity });

export const codeOf = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error ? String(error.code) : undefined;

/** The text of a file, without the byte order mark that programs on Windows begin one with. */
export const textIn = (file: string): string => new TextDecoder().decode(readFileSync(file));

export const whyUnreadable = (error: unknown, other = 'unknown error'): string =>
  error instanceof SyntaxError ? 'it is not JSON' : (codeOf(error) ?? other);

/** An invalid command line: shown with the way to its help, exit code 2. */
export class UsageError extends Error {}

export function refuseUnless(isFine: unknown, message: string): asserts isFine {
  if (!isFine) throw new UsageError(message);
}

/** Something that went wrong: shown in one line, exit code 1. */
export class CommandError extends Error {}

/** Ctrl-C at a prompt: nothing is shown, exit code 130. */
export class Interrupted extends Error {}

let fromFile: Readonly<Record<string, string | undefined>> | undefined;

/** Returns an environment variable, else what `.env` in this folder sets it to. An empty one counts as not set. */
export function variable(name: string): string | undefined {
  const own = process.env[name];
  if (own) return own;
  fromFile ??= readEnvFile();
  const value = fromFile[name];
  if (!value) return undefined;
  warn(`${name} was read from .env.`);
  // Said once, and seen by what reads the environment itself.
  process.env[name] = value;
  return value;
}

function readEnvFile() {
  try {
    return parseEnv(readFileSync('.env', 'utf8'));
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') warn(`.env could not be read (${codeOf(error)}).`);
    return {};
  }
}
