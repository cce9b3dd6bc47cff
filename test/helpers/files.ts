import { readdirSync } from 'node:fs';

/** The files in a folder and its folders, by their paths from there; with slashes, where Windows has backslashes. */
export function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((path) => path.replaceAll('\\', '/'));
}
