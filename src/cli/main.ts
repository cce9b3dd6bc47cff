import { isPaymentsError } from '../errors.js';
import { didYouMean } from '../schemas/closest.js';
import { version } from '../version.js';
import { advance } from './advance.js';
import { capture } from './capture.js';
import type { Command } from './command.js';
import { deliver } from './deliver.js';
import { doctor } from './doctor.js';
import { examples } from './examples.js';
import { exec } from './exec.js';
import { fault } from './fault.js';
import { describeFlags } from './flags.js';
import { identify } from './identify.js';
import { inbox } from './inbox.js';
import { reset } from './reset.js';
import { sandbox } from './sandbox.js';
import { CommandError, print, UsageError, warn } from './terminal.js';
import { trigger } from './trigger.js';

const commands: Readonly<Record<string, Command>> = {
  sandbox,
  exec,
  trigger,
  deliver,
  fault,
  doctor,
  capture,
  identify,
  inbox,
  advance,
  reset,
  examples,
};

process.exitCode = await main(process.argv.slice(2));

async function main([name, ...args]: string[]): Promise<number> {
  if (name === undefined || name === 'help' || name === '--help' || name === '-h') {
    const wanted = Object.hasOwn(commands, args[0] ?? '') ? args[0] : undefined;
    print(wanted === undefined ? overview() : help(wanted));
    return 0;
  }
  if (name === '--version' || name === '-v') {
    print(version);
    return 0;
  }
  try {
    const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
    if (!command)
      throw new UsageError(
        `${JSON.stringify(name)} is not a command. ${didYouMean(name, Object.keys(commands))}`,
      );
    const own = command.passesOn && args.includes('--') ? args.slice(0, args.indexOf('--')) : args;
    if (own.includes('--help') || own.includes('-h')) {
      print(help(name));
      return 0;
    }
    return await command.run(args);
  } catch (error) {
    return report(error, name);
  }
}

function report(error: unknown, name: string): number {
  if (error instanceof UsageError) {
    const more = Object.hasOwn(commands, name)
      ? `merchant-payments ${name} --help`
      : 'merchant-payments --help';
    warn(`${error.message}\nSee: ${more}`);
    return 2;
  }
  if (!(error instanceof CommandError) && !isPaymentsError(error)) throw error;
  warn(error.message);
  return 1;
}

function overview(): string {
  const width = Math.max(...Object.keys(commands).map((name) => name.length)) + 3;
  const lines = Object.entries(commands).map(([name, { summary }]) => `  ${name.padEnd(width)}${summary}`);
  return `merchant-payments ${version}: a local sandbox of the payments API, and tools for its webhooks

Usage: merchant-payments <command> [flags]

${lines.join('\n')}

merchant-payments <command> --help shows the flags of one.`;
}

function help(name: string): string {
  const command = commands[name];
  return command
    ? `${command.summary}\n\nUsage: merchant-payments ${command.usage}\n\n${describeFlags(command.flags)}\n\nExample: merchant-payments ${command.example}`
    : '';
}
