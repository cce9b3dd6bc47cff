import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { watchDeliveries } from './activity.js';
import type { Command } from './command.js';
import { Flags } from './flags.js';
import { shopPort } from './ports.js';
import { startServing } from './serving.js';
import { servingFlags } from './serving-flags.js';
import { UsageError, warn } from './terminal.js';

const flags = {
  ...servingFlags,
  port: { ...servingFlags.port, text: 'port of the sandbox; default: a free one' },
  'webhook-path': {
    value: '<path>',
    text: 'sends webhooks to this path of the command, which gets a free PORT: its own, else 3000, else any',
  },
  quiet: { text: 'prints neither the address of the dashboard nor deliveries' },
};

export const exec: Command = {
  summary: 'runs a command with its own sandbox, and returns its exit code',
  usage:
    'exec [flags] -- <command…>\n\n' +
    'The command gets PAYMENTS_BASE_URL, PAYMENTS_API_KEY, PAYMENTS_WEBHOOK_SECRET and SANDBOX_URL, and with --webhook-path PORT.',
  example: 'exec --webhook-path /webhooks -- node shop.mjs',
  flags,
  passesOn: true,
  async run(args) {
    const at = args.indexOf('--');
    const [program, ...rest] = at === -1 ? [] : args.slice(at + 1);
    if (program === undefined) throw new UsageError('The command to run is missing. Put it after --.');
    const given = new Flags(flags, args.slice(0, at));
    const port = given.text('webhook-path') === undefined ? undefined : await shopPort();
    const webhook = webhookAt(given, port);
    const { context, end } = await startServing(given, { defaultPort: 0, webhook });
    const { url, apiKey, webhookSecret, dashboardUrl } = context.sandbox;
    if (!given.has('quiet')) {
      warn(`Sandbox dashboard: ${dashboardUrl}`);
      if (port !== undefined && port !== (process.env.PORT ?? '3000'))
        warn(`Port 3000 is taken: the command gets PORT=${port}.`);
      watchDeliveries(context, false, warn);
    }
    const env = {
      ...process.env,
      PAYMENTS_BASE_URL: url,
      PAYMENTS_API_KEY: apiKey,
      PAYMENTS_WEBHOOK_SECRET: webhookSecret,
      SANDBOX_URL: url,
      ...(context.guard.accessToken === undefined ? {} : { SANDBOX_TOKEN: context.guard.accessToken }),
      ...(port === undefined ? {} : { PORT: port }),
    };
    try {
      return await runToEnd(program, rest, env);
    } finally {
      await end();
    }
  },
};

/** The address of `--webhook-path` on the port that the command gets. */
function webhookAt(given: Flags<typeof flags>, port: string | undefined): string | undefined {
  const path = given.text('webhook-path');
  if (path === undefined) return undefined;
  if (given.text('webhook-url') !== undefined)
    throw new UsageError(`Pass --webhook-path or ${given.source('webhook-url')}, not both.`);
  if (!path.startsWith('/'))
    throw new UsageError(
      `--webhook-path: ${JSON.stringify(path)} does not begin with /. Pass one such as /webhooks.`,
    );
  return `http://localhost:${port}${path}`;
}

/** Without a shell: arguments are passed unchanged. */
function runToEnd(program: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  return new Promise((resolve) => {
    const child = spawn(program, args, { stdio: 'inherit', env });
    // Ctrl-C on a terminal reaches the child by itself, as one of the terminal's foreground group.
    const fromTerminal = process.stdin.isTTY || process.stdout.isTTY || process.stderr.isTTY;
    const pass = (signal: NodeJS.Signals) => {
      if (signal !== 'SIGINT' || !fromTerminal) child.kill(signal);
    };
    process.on('SIGINT', pass).on('SIGTERM', pass);
    const over = () => process.off('SIGINT', pass).off('SIGTERM', pass);
    child.once('error', (error: NodeJS.ErrnoException) => {
      over();
      warn(`${program} could not be started (${error.code ?? error.message}). ${remedy()}`);
      resolve(error.code === 'ENOENT' ? 127 : 126);
    });
    child.once('exit', (code, signal) => {
      over();
      resolve(code ?? 128 + (signal ? constants.signals[signal] : 0));
    });
  });
}

/** npm, npx and the programs of node_modules/.bin are scripts for cmd.exe on Windows, which only cmd.exe can start. */
function remedy(): string {
  return process.platform === 'win32'
    ? 'If it is a script, such as npm or npx, put cmd /c before it: exec -- cmd /c npm test'
    : 'Is it installed?';
}
