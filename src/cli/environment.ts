import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { codeOf, warn } from './terminal.js';

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
