import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { type Identification, type IdentifyOptions, identifyScheme } from '../doctor/identify.js';
import { parseObject } from '../doctor/json.js';
import { signingScheme } from '../sandbox/service/choices.js';
import type { SignatureScheme } from '../webhooks/index.js';
import type { Flag } from './command.js';
import { CommandError, Interrupted, readWord, refuseUnless, textIn, variable, warn } from './terminal.js';

export const secretVariable = 'PAYMENTS_WEBHOOK_SECRET';

/** Returns the webhook secret from the environment, or from a hidden prompt. Arguments are visible in process lists, so no flag takes it. */
export async function webhookSecret(or = ''): Promise<string> {
  const set = variable(secretVariable);
  if (set) return set;
  if (!process.stdin.isTTY)
    throw new CommandError(
      `Set ${secretVariable} to your webhook secret: there is no terminal to ask on.${or}`,
    );
  // The interface comes before its text, so that it already handles a Ctrl-C that follows the text at once.
  const prompt = createInterface({ input: process.stdin, terminal: true });
  process.stderr.write(`Webhook secret (not shown; or set ${secretVariable}): `);
  const interrupted = once(prompt, 'SIGINT').then(() => {
    throw new Interrupted();
  });
  const line = Promise.race([once(prompt, 'line'), once(prompt, 'close'), interrupted]);
  const [given = ''] = await line.finally(() => {
    prompt.close();
    warn('');
  });
  if (given.trim() !== '') return given;
  throw new CommandError('No secret was given. Ask the service which one signs webhooks.');
}

/** Searches for the scheme of a delivery with the webhook secret, then with the API key, which may be the signing key. */
export async function searchScheme(delivery: Omit<IdentifyOptions, 'secret'>): Promise<Identification> {
  const result = identifyScheme({ ...delivery, secret: await webhookSecret() });
  const apiKey = variable('PAYMENTS_API_KEY');
  if (result.found || !apiKey) return result;
  const other = identifyScheme({ ...delivery, secret: apiKey });
  const note = 'PAYMENTS_API_KEY signed it, not PAYMENTS_WEBHOOK_SECRET: pass the API key as the secret.';
  return other.found ? { ...other, notes: [note, ...other.notes] } : result;
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
  return readWord('--scheme', signingScheme, scheme);
}

function contentOf(file: string): string {
  try {
    return textIn(file);
  } catch {
    return '';
  }
}
