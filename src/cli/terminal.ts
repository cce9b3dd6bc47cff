import { randomUUID } from 'node:crypto';
import { styleText } from 'node:util';
import { visible } from '../schemas/visible.js';

type Format = Parameters<typeof styleText>[0];

// A reader that has seen enough, such as `head`, closes the pipe.
for (const stream of [process.stdout, process.stderr])
  stream.on('error', (error) => {
    if (codeOf(error) !== 'EPIPE') throw error;
  });

/** Encloses our own colour codes, so that nobody else's pass for them. */
const mark = randomUUID();
const ours = (codes: string) => codes && mark + codes + mark;

/** Text in colour on a terminal, and plain in a pipe. */
export function paint(format: Format, text: string): string {
  const [before = '', after = ''] = styleText(format, '\0', { stream: process.stdout }).split('\0');
  return ours(before) + text + ours(after);
}

/** The first line of a report. */
export const verdict = (isGood: boolean, text: string): string =>
  isGood ? paint('green', `✓ ${text}`) : paint('red', `✗ ${text}`);

/** Lines as they may be printed: every escape sequence but our colours is made visible. */
function printable(lines: string): string {
  const harmless = (text: string) =>
    text.split(/([\n\t])/).map((part) => (/[\n\t]/.test(part) ? part : visible(part)));
  return lines
    .split(mark)
    .map((part, index) => (index % 2 === 1 ? part : harmless(part).join('')))
    .join('');
}

export const print = (lines: string): void => void process.stdout.write(`${printable(lines)}\n`);

/** The same on stderr: what is no result. */
export const warn = (lines: string): void => void process.stderr.write(`${printable(lines)}\n`);

export const printJson = (value: unknown): void => print(JSON.stringify(value));

/** The system's code of an error, such as `ENOENT`. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined;
}

/** An invalid command line: shown with the way to its help, exit code 2. */
export class UsageError extends Error {}

/** Something that went wrong: shown in one line, exit code 1. */
export class CommandError extends Error {}
