import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Each fault that shop.mjs can have, and the finding under which the crash test names it. */
export const planted: Readonly<Record<string, string>> = {
  fulfils_first: 'twice',
  responds_first: 'lost',
  seen_in_memory: 'twice',
  no_unique_key: 'twice',
  overwrites: 'wrong_amount',
  two_steps: 'twice',
  verifies_nothing: 'forged',
  first_amount: 'wrong_amount',
  drops_unreadable: 'lost',
  loses_at_sigterm: 'lost',
  credits_any_order: 'wrong_order',
};

/** The names with which shop.mjs is right. */
export const right = ['none', 'own_amounts'];

const file = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

/** The arguments of Node that run the command from its source. */
export const command = ['--import', 'tsx', file('../../src/cli/bin.ts')];

export interface Outcome {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Runs `merchant-payments crash-test` with its own arguments. */
export function runCrashTest(args: readonly string[]): Promise<Outcome> {
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [...command, 'crash-test', ...args],
      { timeout: 120_000 },
      (_, stdout, stderr) => resolve({ code: child.exitCode, stdout, stderr }),
    );
  });
}

/** Returns the arguments of `crash-test` for shop.mjs with a planted fault, or for the right one, with its files in a folder. */
export function shopArguments(fault: string, folder: string, seed: number, orders: number): string[] {
  const node = JSON.stringify(process.execPath);
  const script = (name: string): string => `${node} ${JSON.stringify(file(name))} ${JSON.stringify(folder)}`;
  return [
    ...['--webhook-path', '/webhooks', '--json', '--settle', '10s'],
    ...['--seed', String(seed), '--orders', String(orders), '--books', script('books.mjs')],
    ...(fault === 'credits_any_order' ? ['--open', script('open.mjs')] : []),
    ...(fault === 'own_amounts' ? ['--open', `${script('open.mjs')} own`] : []),
    ...['--', process.execPath, file('shop.mjs'), fault, folder],
  ];
}

/** Runs shop.mjs with a planted fault, or the right one, through the crash test, in a folder within another one. */
export async function testShop(
  fault: string,
  seed: number,
  orders: number,
  within = tmpdir(),
): Promise<Outcome> {
  const folder = mkdtempSync(join(within, 'crash-test-'));
  try {
    return await runCrashTest(shopArguments(fault, folder, seed, orders));
  } finally {
    rmSync(folder, { recursive: true });
  }
}
