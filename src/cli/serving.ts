import type { SandboxContext } from '../sandbox/context.js';
import { openSandbox } from '../sandbox/create.js';
import { resolvedProblem } from '../sandbox/delivery/addresses.js';
import { SandboxError } from '../sandbox/sandbox-error.js';
import { DataFile } from './data-file.js';
import { type ServingFlags, sandboxKey, sandboxOptions, sandboxSecret } from './serving-flags.js';
import { CommandError, UsageError } from './terminal.js';

/** A sandbox that listens, and how to end it. */
export interface Serving {
  context: SandboxContext;
  end(): Promise<void>;
}

export async function startServing(
  flags: ServingFlags,
  { defaultPort, webhook }: { defaultPort: number; webhook?: string | undefined },
): Promise<Serving> {
  if (process.env.NODE_ENV === 'production' && !flags.has('allow-production')) {
    throw new CommandError(
      'NODE_ENV is production, and a sandbox moves no real money. Pass --allow-production if this is intended.',
    );
  }
  const port = flags.integer('port', 0, 65_535) ?? defaultPort;
  const path = flags.text('data');
  const file = path === undefined ? undefined : new DataFile(path);
  const saved = await file?.load();
  const options = { ...sandboxOptions(flags), ...(webhook !== undefined && { webhook }) };
  const constants = saved ? {} : { apiKey: sandboxKey, webhookSecret: sandboxSecret };
  const given = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
  const context = inFlags(flags, () => openSandbox({ ...constants, ...given, from: saved }));
  const { sandbox, settings } = context;
  const problem = await resolvedProblem(settings.webhook, settings.allowRemoteWebhooks);
  if (problem !== undefined) throw new UsageError(`${flags.source('webhook-url')}: ${problem}`);
  file?.keep(() => sandbox.snapshot(), context.changed);
  const where = { host: flags.text('host'), allowHosts: flags.list('allow-host') };
  const accessToken = process.env.SANDBOX_TOKEN || undefined;
  await sandbox.listen({ port, ...where, accessToken }).catch(async (error: unknown) => {
    if (!(error instanceof SandboxError && error.code === 'port_taken')) throw error;
    const holder = (await isSandbox(`http://${where.host ?? '127.0.0.1'}:${port}`))
      ? ' by another sandbox'
      : '';
    const remedy = holder ? 'Use that one, end it' : 'End what uses it';
    throw new CommandError(
      `Port ${port} is taken${holder}. ${remedy}, or choose another port with --port (0: a free one).`,
    );
  });
  return {
    context,
    end: async () => {
      await sandbox.close();
      await file?.flush();
    },
  };
}

const flagOf = {
  apiKey: 'api-key',
  webhookSecret: 'webhook-secret',
  webhook: 'webhook-url',
  publicUrl: 'public-url',
  products: 'seed-file',
} as const;

async function isSandbox(url: string): Promise<boolean> {
  const response = await fetch(`${url}/_sandbox/health`, { signal: AbortSignal.timeout(1000) }).catch(
    () => undefined,
  );
  return (await response?.text().catch(() => ''))?.startsWith('{"status":"ok","now":') ?? false;
}

/** Opens a sandbox; problems with its options are reported as those of the flags. */
function inFlags(flags: ServingFlags, open: () => SandboxContext): SandboxContext {
  try {
    return open();
  } catch (error) {
    if (!(error instanceof SandboxError)) throw error;
    const [, option = '', problem = ''] = /^createSandbox: (\w+)(.*)$/s.exec(error.message) ?? [];
    for (const [name, flag] of Object.entries(flagOf))
      if (name === option)
        throw new UsageError(`${flags.source(flag)}${problem.replace(', or a route handler', '')}`);
    throw error;
  }
}
