import { existsSync, realpathSync } from 'node:fs';
import { InvalidField, SandboxError } from '../sandbox/checks.js';
import type { SandboxContext } from '../sandbox/context.js';
import { openSandbox } from '../sandbox/create.js';
import { resolvedProblem } from '../sandbox/delivery/send.js';
import { keepData, loadData } from './data-file.js';
import { allowedHosts, type ServingFlags, sandboxOptions, type servingFlags } from './serving-flags.js';
import { CommandError, refuseUnless, UsageError } from './terminal.js';

/** Starts a sandbox that listens, and returns it with what ends it. */
export async function startServing(flags: ServingFlags, defaultPort: number, webhook?: string) {
  if (process.env.NODE_ENV === 'production' && !flags.has('allow-production'))
    throw new CommandError(
      'NODE_ENV is production, and a sandbox moves no real money. Pass --allow-production if this is intended.',
    );
  const port = flags.integer('port', 0, 65_535) ?? defaultPort;
  const data = flags.text('data');
  // A symbolic link would be replaced by a file, and its lock be another one.
  const path = data !== undefined && existsSync(data) ? realpathSync(data) : data;
  const saved = path === undefined ? undefined : loadData(path);
  const options = sandboxOptions(flags, saved);
  const context = inFlags(flags, () => openSandbox({ ...options, webhook: webhook ?? options.webhook }));
  const { sandbox, settings } = context;
  const problem = await resolvedProblem(settings.webhook, settings.allowRemoteWebhooks);
  refuseUnless(problem === undefined, `${flags.source('webhook-url')}: ${problem}`);
  const save = path === undefined ? undefined : keepData(path, () => sandbox.snapshot(), context.changed);
  const where = { host: flags.text('host'), allowHosts: allowedHosts(flags) };
  const accessToken = process.env.SANDBOX_TOKEN || undefined;
  await sandbox.listen({ port, ...where, accessToken }).catch(async (error: unknown) => {
    if (!(error instanceof SandboxError && error.code === 'port_taken')) throw error;
    const what = (await isSandbox(`http://${where.host ?? '127.0.0.1'}:${port}`))
      ? 'taken by another sandbox. Use that one, end it'
      : 'taken. End what uses it';
    throw new CommandError(`Port ${port} is ${what}, or choose another port with --port (0: a free one).`);
  });
  return {
    context,
    end: async () => {
      await sandbox.close();
      await save?.();
    },
  };
}

const isSandbox = (url: string): Promise<boolean> =>
  fetch(`${url}/_sandbox/health`, { signal: AbortSignal.timeout(1000) })
    .then(async (response) => (await response.text()).startsWith('{"status":"ok","now":'))
    .catch(() => false);

/** The flags of the options that `createSandbox()` may find invalid. */
const flagOf = new Map<string, keyof typeof servingFlags>([
  ['apiKey', 'api-key'],
  ['webhookSecret', 'webhook-secret'],
  ['webhook', 'webhook-url'],
  ['publicUrl', 'public-url'],
  ['products', 'seed-file'],
]);

/** Opens a sandbox; problems with its options are reported as those of the flags. */
function inFlags(flags: ServingFlags, open: () => SandboxContext): SandboxContext {
  try {
    return open();
  } catch (error) {
    if (!InvalidField.is(error)) throw error;
    const flag = flagOf.get(error.field);
    if (flag === undefined) throw error;
    throw new UsageError(flags.source(flag) + error.problem);
  }
}
