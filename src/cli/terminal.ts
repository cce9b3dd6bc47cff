import { styleText } from 'node:util';

type Format = Parameters<typeof styleText>[0];

/** Text in colour on a terminal, and plain in a pipe. */
export function paint(format: Format, text: string): string {
  return styleText(format, text, { stream: process.stdout });
}

/** The system's code of an error, such as `ENOENT`. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined;
}

/** An invalid command line: shown with the way to its help, exit code 2. */
export class UsageError extends Error {}

/** Something that went wrong: shown in one line, exit code 1. */
export class CommandError extends Error {}
