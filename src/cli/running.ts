import type * as z from 'zod/mini';
import { parseObject } from '../doctor/json.js';
import { type Command, command, type Flags, type FlagTable } from './command.js';
import { usualPort } from './serving-flags.js';
import { CommandError, refuseUnless, show, UsageError } from './terminal.js';

const defaultUrl = `http://127.0.0.1:${usualPort}`;

export const runningFlags = {
  url: ['<url>', `the running sandbox; default ${defaultUrl}`, { env: 'SANDBOX_URL' }],
  token: ['<token>', 'its access token, if other computers can reach it', { env: 'SANDBOX_TOKEN' }],
  json: ['', "prints the sandbox's response"],
} satisfies FlagTable;

type Request = readonly [method: 'GET' | 'POST' | 'DELETE', path: string, body?: object];

/** A command that is one request to a running sandbox. */
export function runningCommand<const Table extends FlagTable, Content>({
  request,
  content,
  says,
  isOk = () => true,
  flags,
  ...about
}: Omit<Command, 'flags' | 'run'> & {
  readonly flags: Table;
  request(given: Flags<keyof Table & string>): Request;
  /** What is shown of the response. */
  content: z.ZodMiniType<Content>;
  says(content: Content): string;
  /** Whether the exit code is 0. */
  isOk?(content: Content): boolean;
}): Command {
  return command({
    ...about,
    flags: { ...flags, ...runningFlags },
    async run(given) {
      const response = await ask(given, ...request(given));
      const shown = readAs(content, response);
      return show(given.has('json'), response, () => says(shown), isOk(shown));
    },
  });
}

/** The response of a sandbox of this version. */
export function readAs<Content>(content: z.ZodMiniType<Content>, response: object): Content {
  const result = content.safeParse(response);
  if (result.success) return result.data;
  throw new CommandError('The running sandbox has another version than this command. Start it anew.');
}

export async function ask(
  flags: Flags<'url' | 'token'>,
  ...[method, path, body]: Request
): Promise<Record<string, unknown>> {
  const url = flags.text('url') ?? defaultUrl;
  const isHttp = URL.canParse(url) && /^https?:/.test(url);
  refuseUnless(isHttp, `${flags.source('url')}: ${JSON.stringify(url)} is not an http: URL.`);
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
    throw new (response.status === 400 ? UsageError : CommandError)(String(error.message));
  throw new CommandError(
    response.status === 401
      ? `The sandbox at ${url} requires its access token. Pass --token, or set SANDBOX_TOKEN.`
      : `${url} responded ${response.status}, so it is not a sandbox. Check --url.`,
  );
}
