import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { main } from '../../src/cli/main.js';
import { type ProgramResult, type RunningProgram, startProcess } from './processes.js';

/** Variables that change how the command behaves. */
const own = /^(?:(?:PAYMENTS|SANDBOX)_.*|NODE_ENV|FORCE_COLOR|NO_COLOR|PORT|DATABASE_URL)$/;

/** Returns the environment of this process, without what changes how the command behaves, and with these variables. */
export function environment(variables: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
  const others = Object.entries(process.env).filter(([name]) => !own.test(name));
  return { ...Object.fromEntries(others), ...variables };
}

/**
 * Runs the command within this process, for what it prints and its exit code. A process of its own takes a third of a second
 * to start, and is for programs, signals and pipes.
 */
export async function callCommand(
  args: readonly string[],
  variables: NodeJS.ProcessEnv = {},
): Promise<ProgramResult> {
  const output = { stdout: '', stderr: '' };
  const written = (['stdout', 'stderr'] as const).map((name) =>
    vi.spyOn(process[name], 'write').mockImplementation((text) => {
      output[name] += String(text);
      return true;
    }),
  );
  const before = { ...process.env };
  replaceEnvironment(environment(variables));
  try {
    return { status: await main(args), ...output };
  } finally {
    replaceEnvironment(before);
    for (const spy of written) spy.mockRestore();
  }
}

function replaceEnvironment(variables: NodeJS.ProcessEnv): void {
  for (const name of Object.keys(process.env)) if (!(name in variables)) delete process.env[name];
  Object.assign(process.env, variables);
}

/** The command of the source as a program, bundled once for a test file in a folder of its own, in which it runs. */
export interface Program {
  readonly folder: string;
  readonly bin: string;
  /** Writes a file into the folder and returns its name. */
  write(name: string, content: string | Uint8Array): string;
  start(args: readonly string[], variables?: NodeJS.ProcessEnv): RunningProgram;
  run(args: readonly string[], variables?: NodeJS.ProcessEnv): Promise<ProgramResult>;
}

export function useProgram(): Program {
  const folder = mkdtempSync(join(tmpdir(), 'command-'));
  const bin = join(folder, 'cli.mjs');
  beforeAll(async () => {
    const common = {
      bundle: true,
      minify: true,
      platform: 'node',
      format: 'esm',
      logLevel: 'error',
      // For packages in CommonJS.
      banner: {
        js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
      },
    } as const;
    await build({ ...common, entryPoints: ['src/cli/bin.ts'], outfile: bin });
  });
  afterAll(() => rmSync(folder, { recursive: true, maxRetries: 10 }));
  const start = (args: readonly string[], variables?: NodeJS.ProcessEnv): RunningProgram =>
    startProcess(process.execPath, [bin, ...args], { cwd: folder, env: environment(variables) });
  return {
    folder,
    bin,
    write(name, content) {
      writeFileSync(join(folder, name), content);
      return name;
    },
    start,
    run: (args, variables) => start(args, variables).ended,
  };
}

type Refusal = readonly [
  args: readonly string[],
  message: string,
  more?: { env?: NodeJS.ProcessEnv; status?: number },
];

/** Tests that each command line is refused with this message on stderr, no stack, and the exit code 2 unless `status` says another. */
export function testRefusals(rows: readonly Refusal[]): void {
  for (const [args, message, { env, status = 2 } = {}] of rows)
    test(`merchant-payments ${JSON.stringify(args)} is refused: ${JSON.stringify(message)}`, async () => {
      const refused = await callCommand(args, env);
      expect(refused.stderr).toContain(message);
      expect(refused).toMatchObject({ status, stdout: '' });
      expect(refused.stderr).not.toMatch(/\n\s+at /);
    });
}

/** A red text, a line that is cleared, a title of the window, text that runs backwards. */
export const hostile = '\u001b[31mred\u001b[2K\u009b1m\u001b]0;title\u0007\u202eback';
