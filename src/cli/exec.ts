import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { constants } from 'node:os';
import { watchDeliveries } from './activity.js';
import { command, type Flags } from './command.js';
import { startServing } from './serving.js';
import { servingFlags } from './serving-flags.js';
import { codeOf, UsageError, warn } from './terminal.js';

const flags = {
  ...servingFlags,
  port: { ...servingFlags.port, text: 'port of the sandbox; default: a free one' },
  'webhook-path': {
    value: '<path>',
    text: 'sends webhooks to this path of the command, which gets a PORT: its own, else 3000 if free, else any',
  },
  quiet: { text: 'prints neither the address of the dashboard nor deliveries' },
};

export const exec = command({
  summary: 'runs a command with its own sandbox, and returns its exit code',
  usage:
    'exec [flags] -- <command…>\n\n' +
    'The command gets PAYMENTS_BASE_URL, PAYMENTS_API_KEY, PAYMENTS_WEBHOOK_SECRET and SANDBOX_URL, and with --webhook-path PORT.',
  example: 'exec --webhook-path /webhooks -- node shop.mjs',
  flags,
  passesOn: true,
  async run(given, [program = '', ...args]) {
    const path = webhookPath(given);
    const port = path === undefined ? undefined : await shopPort();
    const webhook = port === undefined ? undefined : new URL(`http://localhost:${port}${path}`).href;
    const { context, end } = await startServing(given, 0, webhook);
    const { url, apiKey, webhookSecret, dashboardUrl } = context.sandbox;
    if (!given.has('quiet')) {
      warn(`Sandbox dashboard: ${dashboardUrl}`);
      if (port !== undefined && port !== (process.env.PORT || '3000'))
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
      return await runToEnd(program, args, env);
    } finally {
      await end();
    }
  },
});

function webhookPath(given: Flags<keyof typeof flags>): string | undefined {
  const path = given.text('webhook-path');
  if (path === undefined) return undefined;
  if (given.text('webhook-url') !== undefined)
    throw new UsageError(`Pass --webhook-path or ${given.source('webhook-url')}, not both.`);
  if (path.startsWith('/')) return path;
  throw new UsageError(
    `--webhook-path: ${JSON.stringify(path)} does not begin with /. Pass one such as /webhooks.`,
  );
}

/** The port for a program that `exec` runs: its own `PORT`, else 3000 if it is free, else a free one. */
async function shopPort(): Promise<string> {
  const { PORT } = process.env;
  if (PORT && /^[1-9]\d{0,4}$/.test(PORT) && Number(PORT) <= 65_535) return PORT;
  if (PORT)
    throw new UsageError(`PORT: ${JSON.stringify(PORT)} is not a port. Set it to a number, or unset it.`);
  // A port may be taken on one address and free on another, and nobody knows which the program wants.
  for (const host of ['127.0.0.1', '::1', '0.0.0.0', '::'])
    if ((await listenOn(3000, host)) === undefined) return String(await listenOn(0, '127.0.0.1'));
  return '3000';
}

/** Listens for an instant, and returns the port; `undefined` if it is taken. */
async function listenOn(port: number, host: string): Promise<number | undefined> {
  const server = createServer().listen(port, host);
  try {
    await once(server, 'listening');
    const address = server.address();
    return typeof address === 'object' && address !== null ? address.port : undefined;
  } catch (error) {
    return codeOf(error) === 'EADDRINUSE' ? undefined : port; // Not an address of this machine, such as ::1 without IPv6.
  } finally {
    await new Promise((resolve) => server.close(resolve));
  }
}

/** Without a shell: arguments are passed unchanged. */
async function runToEnd(program: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  const child = spawn(program, args, { stdio: 'inherit', env });
  // Ctrl-C on a terminal reaches the child by itself, as one of the terminal's foreground group.
  const fromTerminal = process.stdin.isTTY || process.stdout.isTTY || process.stderr.isTTY;
  const pass = (signal: NodeJS.Signals) => {
    if (signal !== 'SIGINT' || !fromTerminal) child.kill(signal);
  };
  process.on('SIGINT', pass).on('SIGTERM', pass);
  try {
    await once(child, 'exit');
    return child.exitCode ?? 128 + (child.signalCode ? constants.signals[child.signalCode] : 0);
  } catch (error) {
    warn(`${program} could not be started (${codeOf(error)}). ${remedy}`);
    return codeOf(error) === 'ENOENT' ? 127 : 126;
  } finally {
    process.off('SIGINT', pass).off('SIGTERM', pass);
  }
}

/** npm, npx and the programs of node_modules/.bin are scripts for cmd.exe on Windows, which only cmd.exe can start. */
const remedy =
  process.platform === 'win32'
    ? 'If it is a script, such as npm or npx, put cmd /c before it: exec -- cmd /c npm test'
    : 'Is it installed? May it be run?';
