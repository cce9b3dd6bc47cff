// The command `merchant-payments` finds the subcommand, runs it, and turns errors into messages and exit codes.
import { isPaymentsError } from '../errors.js';
import { remoteOption } from '../sending/address.js';
import { version } from '../version.js';
import { capture } from './capture.js';
import { type Command, describeFlags, Flags } from './command.js';
import { advance, deliver, reset, trigger } from './control.js';
import { crashTest } from './crash-test.js';
import { doctor } from './doctor.js';
import { examples } from './examples.js';
import { exec } from './exec.js';
import { fault } from './fault.js';
import { identify } from './identify.js';
import { inbox } from './inbox.js';
import { sandbox } from './sandbox.js';
import { CommandError, columns, Interrupted, print, refuseUnknown, UsageError, warn } from './terminal.js';

/** Commands that most people need, in the order of the overview. */
const usual = { examples, sandbox, exec, trigger, deliver, fault, doctor, 'crash-test': crashTest };
const commands = new Map<string, Command>(
  Object.entries({ ...usual, capture, identify, inbox, advance, reset }),
);

/** Runs the command that the arguments name, and returns its exit code. */
export async function main([name = 'help', ...args]: readonly string[]): Promise<number> {
  const command = commands.get(name);
  try {
    if (command) return await run(command, args);
    const isHelp = ['help', '--help', '-h'].includes(name);
    const asked = isHelp ? args[0] : name;
    const about = commands.get(asked ?? '');
    if (name === '--version' || name === '-v') print(version);
    else if (about) print(help(about));
    else if (asked === undefined) print(overview());
    else refuseUnknown(asked, 'a command', [...commands.keys(), '--help', '--version']);
    return 0;
  } catch (error) {
    if (error instanceof Interrupted) return 130;
    const isUsage = error instanceof UsageError;
    if (!isUsage && !(error instanceof CommandError) && !isPaymentsError(error)) throw error;
    // The sandbox names its own option, so the message gets the name of the flag.
    warn(error.message.replace(remoteOption, '--allow-remote'));
    if (isUsage) warn(`See: merchant-payments ${command ? `${name} ` : ''}--help`);
    return isUsage ? 2 : 1;
  }
}

async function run(named: Command, args: readonly string[]): Promise<number> {
  const command = named.actionOf?.(args) ?? named;
  const end = command.passesOn ? args.indexOf('--') : -1;
  const own = end === -1 ? args : args.slice(0, end);
  const passedOn = args.slice(own.length + 1);
  if (own.includes('--help') || own.includes('-h')) {
    print(help(command));
    return 0;
  }
  // This is checked before the flags, because without -- the other program's flags would be read as the command's.
  if (command.passesOn && passedOn.length === 0) throw new UsageError(missingProgram(command, own));
  return command.run(new Flags(command.flags, own, command.words), passedOn);
}

/** Names the word that looks like the program, if one was given. */
function missingProgram({ flags }: Command, own: readonly string[]): string {
  const isValue = (at: number) => flags[own[at - 1]?.replace(/^--/, '') ?? '']?.[0];
  const program = own.find((word, at) => !word.startsWith('-') && !isValue(at));
  return program === undefined
    ? 'The command to run is missing. Put it after --.'
    : `Put -- before ${program}: merchant-payments exec -- ${program}`;
}

function overview(): string {
  const rows = [...commands].map(([name, { summary }]) => [`  ${name}`, summary]);
  return `merchant-payments ${version}: a local sandbox of the payments API, and tools for its webhooks

Usage: merchant-payments <command> [flags]

${columns(rows, '   ')}

Flags of a command: merchant-payments <command> --help`;
}

function help({ summary, usage, flags, example }: Command): string {
  return `${summary}\n\nUsage: merchant-payments ${usage}\n\n${describeFlags(flags)}\n\nExample: merchant-payments ${example}`;
}
