import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { inspect, parseEnv, styleText } from 'node:util';
import type * as z from 'zod/mini';
import { didYouMean } from '../input/closest.js';
import { issuesInWords, readInput } from '../input/read.js';
import { escapeInvisible } from '../input/visible.js';

// A reader such as `head` closes the pipe early, which is no error.
for (const stream of [process.stdout, process.stderr])
  stream.on('error', (error) => {
    if (codeOf(error) !== 'EPIPE') throw error;
  });

/** Marks the command's own colour codes, so that codes in a stranger's text do not pass for them. */
const mark = randomUUID();

/** Returns text in colour on a terminal, and plain text in a pipe. */
export function paint(format: Parameters<typeof styleText>[0], text: string): string {
  const codes = styleText(format, '\0', { stream: process.stdout }).split('\0');
  return codes.map((code) => code && mark + code + mark).join(text);
}

export const verdict = (isGood: boolean, text: string): string =>
  isGood ? paint('green', `✓ ${text}`) : paint('red', `✗ ${text}`);

/** Returns lines that are safe to print: every escape sequence except the command's own colours is made visible. */
const escapeLines = (lines: string): string =>
  lines
    .split(mark)
    .map((part, at) => (at % 2 === 1 ? part : part.replaceAll(/[^\n\t]+/g, (text) => escapeInvisible(text))))
    .join('');

export const print = (lines: string): void => void process.stdout.write(`${escapeLines(lines)}\n`);

/** Prints lines that are no result, on stderr. */
export const warn = (lines: string): void => void process.stderr.write(`${escapeLines(lines)}\n`);

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

/** Returns the text of a file, without the byte order mark that programs on Windows write. */
export const textIn = (file: string): string => new TextDecoder().decode(readFileSync(file));

export const describeReadError = (error: unknown, other = 'unknown error'): string =>
  error instanceof SyntaxError ? 'it is not JSON' : (codeOf(error) ?? other);

/** An invalid command line. The message comes with a pointer to the help; the exit code is 2. */
export class UsageError extends Error {}

export function refuseUnless(isFine: unknown, message: string): asserts isFine {
  if (!isFine) throw new UsageError(message);
}

/** Returns what a schema reads from the value of a flag or an argument, or throws an error that begins with its name. */
export function readWord<T>(name: string, schema: z.ZodMiniType<T>, value: unknown): T {
  return readInput(schema, value, (issues) => {
    const named = issues.map(({ path, message }) => ({ path: path && `${name}.${path}`, message }));
    return new UsageError(issuesInWords(named, name));
  });
}

/** Throws for a word that is none of the known ones, and suggests the likely one. `noun` is what it should be. */
export function refuseUnknown(word: string, noun: string, known: readonly string[]): never {
  throw new UsageError(`${JSON.stringify(word)} is not ${noun}. ${didYouMean(word, known)}`);
}

/** A failure of a command. The message is one line; the exit code is 1. */
export class CommandError extends Error {}

/** Ctrl-C at a prompt. Nothing is printed; the exit code is 130. */
export class Interrupted extends Error {}

let fromFile: Readonly<Record<string, string | undefined>> | undefined;

/** Returns an environment variable, or else its value in `.env` of this folder. An empty value counts as not set. */
export function variable(name: string): string | undefined {
  const own = process.env[name];
  if (own) return own;
  fromFile ??= readEnvFile();
  const value = fromFile[name];
  if (!value) return undefined;
  warn(`${name} was read from .env.`);
  // The variable is set, so that the warning comes once and other readers of the environment see the value.
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
