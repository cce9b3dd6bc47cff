import type { ChildProcess, StdioOptions } from 'node:child_process';
import spawn from 'cross-spawn';

/** The address, key and secret of the sandbox that a program is started beside. */
export interface ProgramSandbox {
  readonly url: string;
  readonly apiKey: string;
  readonly webhookSecret: string;
}

/** Returns this process's environment with the variables of a sandbox, and with `PORT` if the program is to listen there. */
export function programEnvironment(sandbox: ProgramSandbox, port?: number): NodeJS.ProcessEnv {
  return {
    ...process.env,
    PAYMENTS_BASE_URL: sandbox.url,
    PAYMENTS_API_KEY: sandbox.apiKey,
    PAYMENTS_WEBHOOK_SECRET: sandbox.webhookSecret,
    SANDBOX_URL: sandbox.url,
    ...(port !== undefined && { PORT: String(port) }),
  };
}

/**
 * Starts a program without a shell, so that its arguments are passed unchanged. On Windows it also starts scripts, such
 * as `npm` and the programs of `node_modules/.bin`, which Node's own `spawn` cannot.
 */
export function startProgram(
  [program = '', ...args]: readonly string[],
  options: { env: NodeJS.ProcessEnv; stdio: StdioOptions; cwd?: string; detached?: boolean },
): ChildProcess {
  return spawn(program, [...args], options);
}
