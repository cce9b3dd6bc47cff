// The shop's processes: started, killed or deployed, and started again.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { freePort } from '../../test/helpers/ports.js';

export interface Program {
  file: string;
  args?: string[];
  /** True if it takes deliveries. */
  web: boolean;
}

export class ShopProcess {
  readonly web: boolean;
  readonly port: number;
  ready = false;
  kills = 0;
  deploys = 0;
  output = '';
  readonly #program: Program;
  readonly #options: { cwd: string; env: NodeJS.ProcessEnv };
  #child: ChildProcess | undefined;
  #expected = false;
  /** Stopped, and not to be started again. */
  over = false;
  #fail: (error: Error) => void = () => undefined;
  /** Rejects when the process ends by itself. */
  readonly failure = new Promise<never>((_, reject) => {
    this.#fail = reject;
  });

  static async start(program: Program, cwd: string, env: NodeJS.ProcessEnv): Promise<ShopProcess> {
    const shop = new ShopProcess(program, await freePort(), cwd, env);
    shop.#spawn();
    return shop;
  }

  private constructor(program: Program, port: number, cwd: string, env: NodeJS.ProcessEnv) {
    this.#program = program;
    this.web = program.web;
    this.port = port;
    this.#options = { cwd, env: { ...env, PORT: String(port) } };
    this.failure.catch(() => undefined);
  }

  /** As a reader would start it, on a Node that runs TypeScript. */
  #spawn(): void {
    const child = spawn(process.execPath, [this.#program.file, ...(this.#program.args ?? [])], this.#options);
    this.#child = child;
    this.#expected = false;
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (this.output += chunk));
    // Libraries print lines of their own before the program takes SIGTERM.
    child.stdout.on('data', (chunk) => {
      if (this.#child === child && /https?:|Listening|Working/.test(chunk)) this.ready = true;
    });
    child.once('exit', (code, signal) => {
      this.ready = false;
      if (this.#expected) return;
      const ended = `${this.#program.file} ended by itself (${code ?? signal}):\n${this.output.slice(-4000)}`;
      this.#fail(new Error(ended));
    });
  }

  async untilReady(): Promise<void> {
    while (!this.ready && !this.over) await Promise.race([wait(5), this.failure]);
  }

  /** The power goes, and comes back; or, with SIGTERM, another version is deployed. */
  async restart(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    await this.#end(signal);
    if (this.over) return;
    if (signal === 'SIGKILL') this.kills++;
    else this.deploys++;
    this.#spawn();
  }

  async stop(): Promise<void> {
    this.over = true;
    await this.#end('SIGKILL');
  }

  /** A process that is asked to end has half a minute, and ends by itself. */
  async #end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    const child = this.#child;
    this.#expected = true;
    this.ready = false;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    child.kill(signal);
    const late = wait(30_000, 'late', { ref: false });
    if ((await Promise.race([once(child, 'exit'), late])) === 'late')
      this.#fail(new Error(`${this.#program.file} did not end within 30 s of ${signal}`));
    else if (signal === 'SIGTERM' && child.exitCode !== 0)
      this.#fail(
        new Error(
          `${this.#program.file} ended with ${child.exitCode ?? child.signalCode} after SIGTERM:\n${this.output.slice(-4000)}`,
        ),
      );
  }
}
