import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { request } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { startProgram } from '../sending/program.js';

export interface ProgramOptions {
  command: readonly string[];
  env: NodeJS.ProcessEnv;
  /** The folder that it is started in. */
  cwd?: string | undefined;
  /** The address of its receiver. */
  url: string;
  /** The time within which the receiver has to answer after a start. */
  startMs: number;
}

/** The error for a program that ended without being killed, or never answered: the test cannot go on. */
export class ProgramError extends Error {
  readonly code: 'does_not_start' | 'ends_by_itself' | 'no_receiver';

  constructor(code: ProgramError['code'], message: string) {
    super(message);
    this.code = code;
  }
}

const graceMs = 10_000;
const shownOutput = 2000;

/** One instance of the merchant's program: started, killed, and started again with the same variables. */
export class Program {
  readonly url: string;
  kills = 0;
  /** The number of times that it ended without being killed, and came back. */
  endsByItself = 0;
  readonly #options: ProgramOptions;
  #child: ChildProcess | undefined;
  #output = '';
  #isOver = false;
  /** Resolves when the receiver answers. Each start makes a new promise. */
  #ready: Promise<void>;

  constructor(options: ProgramOptions) {
    this.#options = options;
    this.url = options.url;
    this.#ready = this.#start('does_not_start');
    this.#ready.catch(() => {});
  }

  /** Resolves when the receiver answers, and rejects with a `ProgramError` if it does not come back. */
  waitUntilReady(): Promise<void> {
    return this.#ready;
  }

  /**
   * Kills the program with all that it has started, and starts it again at once. After SIGTERM it has ten seconds to end.
   * Returns false if there is nothing to kill, because it is about to be started again.
   */
  kill(signal: 'SIGKILL' | 'SIGTERM'): boolean {
    if (this.#isOver || !this.#child) return false;
    this.kills++;
    this.#ready = this.#end(signal).then(() => this.#start('ends_by_itself'));
    this.#ready.catch(() => {});
    return true;
  }

  /** Stops the program for a while, as a machine does that swaps or is suspended. */
  async freeze(ms: number): Promise<void> {
    const child = this.#child;
    signalGroup(child, 'SIGSTOP');
    await wait(ms);
    signalGroup(child, 'SIGCONT');
  }

  /** Ends the program for good. */
  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#ready.catch(() => {});
    await this.#end('SIGTERM');
  }

  async #end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (!child) return;
    if (!hasEnded(child)) {
      const exit = once(child, 'exit').catch(() => {});
      signalGroup(child, signal);
      const grace = new AbortController();
      const late = wait(graceMs, 'late', { signal: grace.signal }).catch(() => {});
      if ((await Promise.race([exit, late])) === 'late') signalGroup(child, 'SIGKILL');
      grace.abort();
      await exit;
    }
    signalGroup(child, 'SIGKILL'); // a process that it started may outlive it, and hold its port
  }

  async #start(code: 'does_not_start' | 'ends_by_itself'): Promise<void> {
    for (let tries = 1; !this.#isOver; tries++) {
      const child = this.#spawn();
      if (await this.#answers(child)) return;
      if (this.#isOver || this.#child !== child) return;
      if (code === 'does_not_start' || tries === 3) throw this.#failure(code, child);
    }
  }

  #spawn(): ChildProcess {
    const { command, env, cwd } = this.#options;
    const stdio = ['ignore' as const, 'pipe' as const, 'pipe' as const];
    const child = startProgram(command, { env, stdio, detached: isPosix, ...(cwd !== undefined && { cwd }) });
    this.#child = child;
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (chunk) => {
        this.#output = (this.#output + chunk).slice(-shownOutput);
      });
    child.on('error', (error) => {
      this.#output += `${error.message}\n`;
    });
    child.once('exit', () => this.#restartIfItEnded(child));
    return child;
  }

  /** Starts a program again that ended by itself while it took deliveries. */
  #restartIfItEnded(child: ChildProcess): void {
    const ready = this.#ready;
    void ready.then(
      () => {
        if (this.#isOver || this.#child !== child || this.#ready !== ready) return;
        this.endsByItself++;
        this.#ready = this.#start('ends_by_itself');
        this.#ready.catch(() => {});
      },
      () => {},
    );
  }

  /** Resolves to true once the receiver answers, to false if the process has ended. */
  async #answers(child: ChildProcess): Promise<boolean> {
    const { startMs, url } = this.#options;
    const giveUpAt = performance.now() + startMs;
    while (!this.#isOver && this.#child === child) {
      await wait(20);
      if (hasEnded(child)) return false;
      if (await answersAt(url)) return !hasEnded(child);
      if (performance.now() > giveUpAt) {
        const message = `The program did not answer at ${url} within ${startMs / 1000} s. It gets PORT, and has to listen there.`;
        throw new ProgramError('no_receiver', message + this.lastLines());
      }
    }
    return false;
  }

  #failure(
    code: 'does_not_start' | 'ends_by_itself',
    { pid, exitCode, signalCode }: ChildProcess,
  ): ProgramError {
    const how =
      pid === undefined ? '(it could not be started)' : `(${signalCode ?? `exit code ${exitCode}`})`;
    const what =
      code === 'does_not_start'
        ? `The program ended ${how} before it took a delivery.`
        : `The program was started again after a kill, and ended by itself ${how}, three times.`;
    return new ProgramError(code, what + this.lastLines());
  }

  /** Returns the end of its output as part of an error. */
  lastLines(): string {
    const lines = this.#output.trimEnd().split('\n').slice(-12);
    return this.#output.trim() === '' ? ' It printed nothing.' : ` Its last lines:\n  ${lines.join('\n  ')}`;
  }
}

const isPosix = process.platform !== 'win32';

/** True if a child has ended. A child that could not be started has no id, and never exits. */
const hasEnded = ({ pid, exitCode, signalCode }: ChildProcess): boolean =>
  pid === undefined || exitCode !== null || signalCode !== null;

/** Sends a signal to a program and to all that it has started: `npm start` is a process that starts another. */
export function signalGroup(child: ChildProcess | undefined, signal: NodeJS.Signals): void {
  if (child?.pid === undefined) return;
  try {
    if (isPosix) process.kill(-child.pid, signal);
    else if (signal === 'SIGKILL' || signal === 'SIGTERM')
      spawn('taskkill', ['/pid', String(child.pid), '/T', '/F'], { stdio: 'ignore' });
  } catch {
    // No process of that group is left.
  }
}

/** Resolves to true if anything answers over HTTP. A GET is no delivery. */
export function answersAt(url: string): Promise<boolean> {
  return new Promise((resolve) => {
    const get = request(url, { method: 'GET', agent: false, timeout: 2000 });
    get.on('response', (response) => {
      response.destroy();
      resolve(true);
    });
    get.on('timeout', () => get.destroy());
    get.on('error', () => resolve(false));
    get.on('close', () => resolve(false));
    get.end();
  });
}
