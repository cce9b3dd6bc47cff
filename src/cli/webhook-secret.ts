import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { CommandError, warn } from './terminal.js';

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
  if (given.trim() === '')
    throw new CommandError(
      'No secret was given. Ask the service which secret signs webhooks: it may be the API key.',
    );
  return given;
}
