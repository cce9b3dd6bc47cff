import { parseObject } from '../doctor/json.js';
import type { Flag, Flags, FlagTable } from './flags.js';
import { usualPort } from './serving-flags.js';
import { CommandError, UsageError } from './terminal.js';

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
