import { parseObject } from '../doctor/json.js';
import type { Command } from './command.js';
import { type Flag, Flags, type FlagTable } from './flags.js';
import { usualPort } from './serving-flags.js';
import { CommandError, print, printJson, UsageError } from './terminal.js';

const defaultUrl = `http://127.0.0.1:${usualPort}`;

/** The flags of every command that talks to a running sandbox. */
export const runningFlags = {
  url: { value: '<url>', env: 'SANDBOX_URL', text: `the running sandbox; default ${defaultUrl}` },
  token: {
    value: '<token>',
    env: 'SANDBOX_TOKEN',
    text: 'its access token, if other computers can reach it',
  },
  json: { text: "prints the sandbox's response" },
} as const satisfies FlagTable;

/** A command that is one request to a running sandbox. */
export function runningCommand({
  request,
  says,
  ...command
}: Pick<Command, 'summary' | 'usage' | 'example'> & {
  request(words: readonly string[]): readonly [method: 'POST' | 'DELETE', path: string, body?: object];
  says(content: Record<string, unknown>): string;
}): Command {
  return {
    ...command,
    flags: runningFlags,
    async run(args) {
      const flags = new Flags(runningFlags, args);
      const content = await ask(flags, ...request(flags.positionals));
      if (flags.has('json')) printJson(content);
      else print(says(content));
      return 0;
    },
  };
}

/** Sends a request to a running sandbox. */
export async function ask(
  flags: Flags<Readonly<Record<'url' | 'token', Flag>>>,
  method: 'GET' | 'POST' | 'DELETE',
  path: string,
  body?: object,
): Promise<Record<string, unknown>> {
  const url = flags.text('url') ?? defaultUrl;
  if (!URL.canParse(url) || !/^https?:/.test(url))
    throw new UsageError(`${flags.source('url')}: ${JSON.stringify(url)} is not an http: URL.`);
  const token = flags.text('token');
  const response = await fetch(new URL(`/_sandbox${path}`, url), {
    method,
    headers: {
      ...(body && { 'content-type': 'application/json' }),
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    },
    ...(body && { body: JSON.stringify(body) }),
    redirect: 'manual',
  }).catch(() => {
    throw new CommandError(`No sandbox responds at ${url}. Start one with: merchant-payments sandbox`);
  });
  const content = parseObject(await response.text());
  if (response.ok && content) return content;
  const error = content?.error;
  if (typeof error === 'object' && error !== null && 'message' in error)
    throw new CommandError(String(error.message));
  throw new CommandError(
    response.status === 401
      ? `The sandbox at ${url} requires its access token. Pass --token, or set SANDBOX_TOKEN.`
      : `${url} responded ${response.status}, so it is not a sandbox. Check --url.`,
  );
}

/** The command and the sandbox do not understand each other. */
export const otherVersion = () =>
  new CommandError('The running sandbox has another version than this command. Start it anew.');
