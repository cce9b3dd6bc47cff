import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { parseObject } from '../doctor/json.js';
import { schemeProblem } from '../sandbox/service/choices.js';
import type { SignatureScheme } from '../webhooks/index.js';
import type { Flag } from './command.js';
import { CommandError, refuseUnless, textIn, warn } from './terminal.js';

const variable = 'PAYMENTS_WEBHOOK_SECRET';

/** The webhook secret from the environment, or from a prompt that does not show it. Never an argument: processes list those. */
export async function webhookSecret(): Promise<string> {
  const set = process.env[variable];
  if (set) return set;
  if (!process.stdin.isTTY)
    throw new CommandError(`Set ${variable} to your webhook secret: there is no terminal to ask on.`);
  process.stderr.write(`Webhook secret (not shown; or set ${variable}): `);
  const prompt = createInterface({ input: process.stdin, terminal: true });
  const [given = ''] = await Promise.race([once(prompt, 'line'), once(prompt, 'close')]);
  prompt.close();
  warn('');
  if (given.trim() !== '') return given;
  throw new CommandError('No secret was given. Ask the service which one signs webhooks.');
}

export const schemeFlag: Flag = [
  '<json or file>',
  'how to sign: JSON such as {"encoding":"base64"}, or a file written by `identify --json`',
];

export function readSchemeFlag(text: string | undefined): Partial<SignatureScheme> | undefined {
  if (text === undefined) return undefined;
  const given = parseObject(/^\s*\{/.test(text) ? text : contentOf(text));
  const wanted = 'neither a JSON object such as {"encoding":"base64"} nor a file with one.';
  refuseUnless(given, `--scheme: ${JSON.stringify(text)} is ${wanted}`);
  const scheme = 'found' in given ? given.scheme : given;
  const none = '--scheme: `identify` found none in that delivery, so there is nothing to sign with.';
  refuseUnless(typeof scheme === 'object' && scheme !== null, none);
  const problem = schemeProblem(scheme);
  refuseUnless(problem === undefined, `--scheme: ${problem}`);
  return { ...scheme };
}

function contentOf(file: string): string {
  try {
    return textIn(file);
  } catch {
    return '';
  }
}
