import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import type { Command } from './command.js';
import { Flags } from './flags.js';
import { noPositionals, startServing } from './serving.js';
import { servingFlags } from './serving-flags.js';
import { UsageError } from './terminal.js';

const flags = {
  ...servingFlags,
  port: { ...servingFlags.port, text: 'port of the sandbox; default: a free one' },
  quiet: { text: "does not print the dashboard's address" },
};

/** Runs a program, in any language, with its own sandbox. */
export const exec: Command = {
  summary: 'runs a command with its own sandbox, and returns its exit code',
  usage:
    'exec [flags] -- <command…>\n\n' +
    'The command gets PAYMENTS_BASE_URL, PAYMENTS_API_KEY, PAYMENTS_WEBHOOK_SECRET and SANDBOX_URL.',
  flags,
  passesOn: true,
  async run(args) {
    const at = args.indexOf('--');
    const [program, ...rest] = at === -1 ? [] : args.slice(at + 1);
    if (program === undefined) throw new UsageError('The command to run is missing. Put it after --.');
    const given = new Flags(flags, args.slice(0, at));
    noPositionals(given);
    const { context, end } = await startServing(given, { defaultPort: 0 });
    const { url, apiKey, webhookSecret, dashboardUrl } = context.sandbox;
    if (!given.has('quiet')) process.stderr.write(`Sandbox dashboard: ${dashboardUrl}\n`);
    const env = {
      ...process.env,
      PAYMENTS_BASE_URL: url,
      PAYMENTS_API_KEY: apiKey,
      PAYMENTS_WEBHOOK_SECRET: webhookSecret,
      SANDBOX_URL: url,
      ...(context.guard.accessToken === undefined ? {} : { SANDBOX_TOKEN: context.guard.accessToken }),
    };
    try {
      return await runToEnd(program, rest, env);
    } finally {
      await end();
    }
  },
};

/** Without a shell: arguments are passed unchanged. */
function runToEnd(program: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  return new Promise((resolve) => {
    const child = spawn(program, args, { stdio: 'inherit', env });
    const pass = (signal: NodeJS.Signals) => child.kill(signal);
    process.on('SIGINT', pass).on('SIGTERM', pass);
    const over = () => process.off('SIGINT', pass).off('SIGTERM', pass);
    child.once('error', (error: NodeJS.ErrnoException) => {
      over();
      process.stderr.write(`${program} could not be started (${error.code ?? error.message}). ${remedy()}\n`);
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
