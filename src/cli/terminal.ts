import { styleText } from 'node:util';

type Format = Parameters<typeof styleText>[0];

/** Text in colour on a terminal, and plain in a pipe. */
export function paint(format: Format, text: string): string {
  return styleText(format, text, { stream: process.stdout });
}

/** An invalid command line: shown with the way to its help, exit code 2. */
export class UsageError extends Error {}

/** Something that went wrong: shown in one line, exit code 1. */
export class CommandError extends Error {}
