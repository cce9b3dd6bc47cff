import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { chooseProgramPort } from '../sending/ports.js';
import { programEnvironment, startProgram } from '../sending/program.js';
import { command } from './command.js';
import { watch } from './sandbox.js';
import { servingFlags, startServing } from './serving.js';
import { codeOf, refuseUnless, warn } from './terminal.js';

export const exec = command({
  summary: 'runs a command beside a sandbox of its own, and returns the exit code of the command',
  usage:
    'exec [flags] -- <command…>\n\n' +
    'The command gets these environment variables: PAYMENTS_BASE_URL, PAYMENTS_API_KEY, PAYMENTS_WEBHOOK_SECRET, SANDBOX_URL,\n' +
    'and with --webhook-path the PORT to listen on.',
  example: 'exec --webhook-path /webhooks -- node shop.mjs',
  flags: {
    ...servingFlags,
    port: ['<port>', 'port of the sandbox; default: a free one', { env: 'SANDBOX_PORT' }],
    'webhook-path': ['<path>', 'sends webhooks to this path of http://localhost:PORT'],
    quiet: ['', 'prints neither the address of the dashboard nor the log'],
  },
  passesOn: true,
  async run(given, program) {
    const path = given.text('webhook-path');
    if (path !== undefined) {
      const problem = `${JSON.stringify(path)} does not begin with /. Pass one such as /webhooks.`;
      refuseUnless(path.startsWith('/'), `--webhook-path: ${problem}`);
      const source = given.source('webhook-url');
      refuseUnless(!given.text('webhook-url'), `Pass --webhook-path or ${source}, not both.`);
    }
    const port = path === undefined ? undefined : await shopPort();
    const webhook = port === undefined ? undefined : new URL(`http://localhost:${port}${path}`).href;
    const { context, end, loaded } = await startServing(given, 0, webhook);
    const { dashboardUrl } = context.sandbox;
    if (!given.has('quiet')) {
      const keep = given.text('data') === undefined ? ' To keep its data, pass --data shop.json.' : '';
      warn(
        `${loaded ?? `This sandbox is new: it knows no earlier product.${keep}`}\nSandbox dashboard: ${dashboardUrl}`,
      );
      if (port !== undefined && port !== Number(process.env.PORT || 3000))
        warn(`Port 3000 is taken: the command gets PORT=${port}.`);
      watch(context, false, warn, ({ type }) => type !== 'request');
    }
    const env = programEnvironment(context.sandbox, port);
    env.SANDBOX_TOKEN = context.guard.accessToken ?? env.SANDBOX_TOKEN;
    try {
      return await runToEnd(program, env);
    } finally {
      await end();
    }
  },
});

/** Returns the port for a program that `exec` runs: its own `PORT`, else 3000 if it is free, else a free one. */
async function shopPort(): Promise<number> {
  const { PORT } = process.env;
  if (!PORT) return chooseProgramPort();
  const isPort = /^[1-9]\d{0,4}$/.test(PORT) && Number(PORT) <= 65_535;
  refuseUnless(isPort, `PORT: ${JSON.stringify(PORT)} is not a port. Set it to a number, or unset it.`);
  return Number(PORT);
}

/** Runs a program and resolves to its exit code, with a shell's code for a signal. */
async function runToEnd(program: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  const child = startProgram(program, { stdio: 'inherit', env });
  // The terminal sends Ctrl-C to its whole foreground group, so the child gets it without this process.
  const fromTerminal = hasTerminal();
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  const started = new Map<number, string | undefined>();
  let last: NodeJS.Signals = 'SIGTERM';
  const passOn = (signal: NodeJS.Signals) => {
    if (signal === 'SIGINT' && fromTerminal) return;
    // A second signal adds to those of the first: some may have lost their parent since.
    for (const { id, startedAt } of descendantsOf(child.pid)) started.set(id, startedAt);
    last = signal;
    child.kill(signal);
  };
  for (const signal of signals) process.on(signal, passOn);
  try {
    await once(child, 'exit');
    if (started.size > 0)
      for (const { id, startedAt } of listProcesses())
        if (started.has(id) && started.get(id) === startedAt) trySignal(id, last);
    return child.exitCode ?? 128 + (child.signalCode ? constants.signals[child.signalCode] : 0);
  } catch (error) {
    warn(`${program[0]} could not be started (${codeOf(error)}). Is it installed? May it be run?`);
    return codeOf(error) === 'ENOENT' ? 127 : 126;
  } finally {
    for (const signal of signals) process.off(signal, passOn);
  }
}

interface ListedProcess {
  id: number;
  parent: number;
  /** The time of its start as the system writes it, which tells it from a later process with the same id. */
  startedAt: string | undefined;
}

/**
 * Returns all processes below a process: npx and a shell may end without passing a signal on to their program. A group of its own
 * would lose the terminal, and outlive a SIGKILL to the group of this process.
 */
function descendantsOf(pid: number | undefined): ListedProcess[] {
  const all = listProcesses();
  const childrenOf = (parent: number): ListedProcess[] =>
    all.filter((one) => one.parent === parent).flatMap((one) => [one, ...childrenOf(one.id)]);
  return pid === undefined ? [] : childrenOf(pid);
}

/** Lists all processes. Small images of Linux lack `ps`; Windows has neither, so nothing is found. */
function listProcesses(): ListedProcess[] {
  if (process.platform === 'linux')
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .flatMap(readStat);
  const { stdout } = spawnSync('ps', ['-A', '-o', 'pid,ppid,lstart'], { encoding: 'utf8' });
  return `${stdout}`.split('\n').map((line) => {
    const [id, parent, ...startedAt] = line.trim().split(/ +/);
    return { id: Number(id), parent: Number(parent), startedAt: startedAt.join(' ') };
  });
}

function readStat(id: string): ListedProcess[] {
  try {
    // The name, in parentheses, may itself contain spaces and parentheses. After it come the state and the parent.
    const stat = readFileSync(`/proc/${id}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')')).split(' ');
    return [{ id: Number(id), parent: Number(fields[2]), startedAt: fields[20] }];
  } catch {
    return []; // It has ended.
  }
}

function trySignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended.
  }
}

/** True if a terminal controls this process, even with input and output redirected. On Windows only a terminal sends SIGINT. */
function hasTerminal(): boolean {
  if (process.platform === 'win32') return true;
  try {
    closeSync(openSync('/dev/tty', 'r'));
    return true;
  } catch {
    return false;
  }
}
