import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { createServer } from 'node:net';
import { constants } from 'node:os';
import { command } from './command.js';
import { watchDeliveries } from './sandbox.js';
import { listenOn, servingFlags, startServing } from './serving.js';
import { codeOf, refuseUnless, warn } from './terminal.js';

export const exec = command({
  summary: 'runs a command with its own sandbox, and returns its exit code',
  usage:
    'exec [flags] -- <command…>\n\n' +
    'The command gets PAYMENTS_BASE_URL, PAYMENTS_API_KEY, PAYMENTS_WEBHOOK_SECRET and SANDBOX_URL, and with --webhook-path PORT.',
  example: 'exec --webhook-path /webhooks -- node shop.mjs',
  flags: {
    ...servingFlags,
    port: ['<port>', 'port of the sandbox; default: a free one', { env: 'SANDBOX_PORT' }],
    'webhook-path': ['<path>', 'sends webhooks to this path of the command, which gets a PORT'],
    quiet: ['', 'prints neither the address of the dashboard nor deliveries'],
  },
  passesOn: true,
  async run(given, [program = '', ...args]) {
    const path = given.text('webhook-path');
    if (path !== undefined) {
      const problem = `${JSON.stringify(path)} does not begin with /. Pass one such as /webhooks.`;
      refuseUnless(path.startsWith('/'), `--webhook-path: ${problem}`);
      const source = given.source('webhook-url');
      refuseUnless(!given.text('webhook-url'), `Pass --webhook-path or ${source}, not both.`);
    }
    const port = path === undefined ? undefined : await shopPort();
    const webhook = port && new URL(`http://localhost:${port}${path}`).href;
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
      SANDBOX_TOKEN: context.guard.accessToken ?? process.env.SANDBOX_TOKEN,
      PORT: port ?? process.env.PORT,
    };
    try {
      return await runToEnd(program, args, env);
    } finally {
      await end();
    }
  },
});

/** The port for a program that `exec` runs: its own `PORT`, else 3000 if it is free, else a free one. */
async function shopPort(): Promise<string> {
  const { PORT } = process.env;
  if (PORT) {
    const isPort = /^[1-9]\d{0,4}$/.test(PORT) && Number(PORT) <= 65_535;
    refuseUnless(isPort, `PORT: ${JSON.stringify(PORT)} is not a port. Set it to a number, or unset it.`);
    return PORT;
  }
  // A port may be taken on one address and free on another, and nobody knows which the program wants.
  for (const host of ['127.0.0.1', '::1', '0.0.0.0', '::'])
    if ((await freePort(3000, host)) === undefined) return String(await freePort(0, '127.0.0.1'));
  return '3000';
}

/** Listens for an instant, and returns the port; `undefined` if it is taken. */
async function freePort(port: number, host: string): Promise<number | undefined> {
  const server = createServer();
  try {
    return await listenOn(server, port, host);
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
  const fromTerminal = hasTerminal();
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  const pass = (signal: NodeJS.Signals) => {
    if (signal !== 'SIGINT' || !fromTerminal) child.kill(signal);
  };
  for (const signal of signals) process.on(signal, pass);
  try {
    await once(child, 'exit');
    return child.exitCode ?? 128 + (child.signalCode ? constants.signals[child.signalCode] : 0);
  } catch (error) {
    warn(`${program} could not be started (${codeOf(error)}). ${remedy}`);
    return codeOf(error) === 'ENOENT' ? 127 : 126;
  } finally {
    for (const signal of signals) process.off(signal, pass);
  }
}

/** Whether a terminal controls this process, wherever its input and output are redirected. On Windows nothing else sends SIGINT. */
function hasTerminal(): boolean {
  if (process.platform === 'win32') return true;
  try {
    closeSync(openSync('/dev/tty', 'r'));
    return true;
  } catch {
    return false;
  }
}

/** npm, npx and the programs of node_modules/.bin are scripts for cmd.exe on Windows, which only cmd.exe can start. */
const remedy =
  process.platform === 'win32'
    ? 'If it is a script, such as npm or npx, put cmd /c before it: exec -- cmd /c npm test'
    : 'Is it installed? May it be run?';
