import type { SandboxContext } from '../sandbox/context.js';
import { openSandbox } from '../sandbox/create.js';
import { DataFile } from './data-file.js';
import type { Flags, FlagTable } from './flags.js';
import { CommandError, UsageError } from './terminal.js';

/** Constants, so that an .env file made today works tomorrow. They open nothing but sandboxes. */
export const sandboxKey = 'service_test_sandbox_0000';
export const sandboxSecret = 'whsec_sandbox_00000000000000000000';

/** The flags of every command that starts a sandbox. */
export const servingFlags = {
  port: { value: '<port>', env: 'SANDBOX_PORT', text: 'port to listen on' },
  host: {
    value: '<address>',
    env: 'SANDBOX_HOST',
    text: 'address to listen on; default 127.0.0.1, this machine alone',
  },
  'webhook-url': {
    value: '<url>',
    env: 'SANDBOX_WEBHOOK_URL',
    text: 'where webhooks go; without one, events are kept',
  },
  'api-key': { value: '<key>', env: 'SANDBOX_API_KEY', text: `default ${sandboxKey}` },
  'webhook-secret': { value: '<secret>', env: 'SANDBOX_WEBHOOK_SECRET', text: `default ${sandboxSecret}` },
  'public-url': {
    value: '<origin>',
    env: 'SANDBOX_PUBLIC_URL',
    text: 'origin of payment page URLs, as the browser knows it',
  },
  'allow-host': {
    value: '<name>',
    env: 'SANDBOX_ALLOW_HOSTS',
    text: 'another host name that the pages answer to; may be repeated',
    multiple: true,
  },
  data: { value: '<file>', env: 'SANDBOX_DATA', text: 'keeps all data in this file; default: memory alone' },
  seed: { value: '<integer>', text: 'makes ids repeat from run to run' },
  'allow-remote': { text: 'lets webhooks go to public addresses too' },
  'allow-production': { text: 'starts although NODE_ENV is production' },
} as const satisfies FlagTable;

/** A sandbox that listens, and how to end it. */
export interface Serving {
  context: SandboxContext;
  /** Closes it and saves its data. */
  end(): Promise<void>;
}

export async function startServing(
  flags: Flags<typeof servingFlags>,
  { defaultPort }: { defaultPort: number },
): Promise<Serving> {
  if (process.env.NODE_ENV === 'production' && !flags.has('allow-production')) {
    throw new CommandError(
      'NODE_ENV is production, and a sandbox takes no real money. Pass --allow-production if it is meant.',
    );
  }
  const port = flags.integer('port', 0, 65_535) ?? defaultPort;
  const seed = flags.integer('seed', 0, Number.MAX_SAFE_INTEGER);
  const path = flags.text('data');
  const file = path === undefined ? undefined : new DataFile(path);
  const saved = await file?.load();
  const context = openSandbox({
    apiKey: flags.text('api-key') ?? (saved ? undefined : sandboxKey),
    webhookSecret: flags.text('webhook-secret') ?? (saved ? undefined : sandboxSecret),
    webhook: flags.text('webhook-url'),
    publicUrl: flags.text('public-url'),
    allowRemoteWebhooks: flags.has('allow-remote'),
    seed,
    from: saved,
  });
  const { sandbox } = context;
  file?.keep(() => sandbox.snapshot(), context.changed);
  await sandbox.listen({
    port,
    host: flags.text('host'),
    allowHosts: flags.list('allow-host'),
    accessToken: process.env.SANDBOX_TOKEN || undefined,
  });
  return {
    context,
    end: async () => {
      await sandbox.close();
      await file?.flush();
    },
  };
}

/** Refuses words that no flag takes. */
export function noPositionals(flags: { positionals: readonly string[] }): void {
  const [first] = flags.positionals;
  if (first !== undefined) throw new UsageError(`${JSON.stringify(first)} is not expected here.`);
}
