import { type Identification, identifyScheme } from '../doctor/identify.js';
import type { Command } from './command.js';
import { Flags } from './flags.js';
import { link } from './identify-link.js';
import { literal } from './literal.js';
import { readGiven, readSavedDelivery, type SavedDelivery } from './saved-delivery.js';
import { print, printJson, UsageError, verdict } from './terminal.js';
import { webhookSecret } from './webhook-secret.js';

const flags = {
  body: { value: '<file>', text: 'the raw body, byte for byte' },
  signature: { value: '<text>', text: 'the header x-service-signature' },
  timestamp: { value: '<text>', text: 'the header x-service-timestamp' },
  url: { value: '<url>', text: 'your webhook URL as the service knows it; some services sign it too' },
  link: {
    text: 'finds the field that names the checkout instead: at most five GET /v1/checkouts/{id}, nothing is written',
  },
  json: { text: 'prints the result as JSON' },
} as const;

export const identify: Command = {
  summary: 'finds out how the real service signs, from one captured delivery, offline',
  usage:
    'identify <file>\n       merchant-payments identify --body <file> --signature <text> --timestamp <text>\n\n' +
    'The file is one that capture wrote, or a Delivery of this package as JSON. The secret is read from PAYMENTS_WEBHOOK_SECRET, or you are prompted for it. With --link, no secret is needed, but PAYMENTS_API_KEY\n' +
    'and PAYMENTS_BASE_URL. Exit code 1 when no known scheme, or no field, fits.',
  example: 'identify delivery-2026-01-31.json',
  flags,
  async run(args) {
    const given = new Flags(flags, args, 1);
    const delivery = deliveryOf(given);
    if (given.has('link')) return link(delivery.rawBody, given.has('json'));
    const secret = await webhookSecret();
    return printIdentification(
      identifyScheme({ ...delivery, secret, url: given.text('url') }),
      given.has('json'),
    );
  },
};

/** Prints the result and returns the exit code. */
export function printIdentification(result: Identification, json: boolean): number {
  if (json) printJson(result);
  else print(describeIdentification(result));
  return result.found ? 0 : 1;
}

function deliveryOf(given: Flags<typeof flags>): SavedDelivery {
  const [file] = given.positionals;
  const [body, signature, timestamp] = [given.text('body'), given.text('signature'), given.text('timestamp')];
  const usage = 'Pass one file with a delivery, or --body, --signature and --timestamp.';
  if ((body ?? signature ?? timestamp) === undefined) {
    if (file === undefined) throw new UsageError(usage);
    return readSavedDelivery(file);
  }
  if (file !== undefined) throw new UsageError(usage);
  if (body === undefined) throw new UsageError(`--body is missing. ${usage}`);
  if (signature === undefined && !given.has('link')) throw new UsageError(`--signature is missing. ${usage}`);
  return {
    rawBody: readGiven(body, 'the raw body'),
    headers: { 'x-service-signature': signature, 'x-service-timestamp': timestamp },
  };
}

export function describeIdentification({
  found,
  summary,
  scheme = {},
  like,
  alternatives,
  notes,
  questions,
}: Identification): string {
  const lines = [verdict(found, summary)];
  if (found && Object.keys(scheme).length > 0)
    lines.push(
      '',
      'Paste into webhooks.verify(), the handlers or openInbox():',
      '',
      `  scheme: ${literal(scheme)},`,
    );
  if (like) lines.push('', `The same as ${like.service} documents: ${like.source}`);
  if (alternatives.length > 0)
    lines.push(
      '',
      `This delivery fits ${alternatives.length} more; a second delivery tells them apart:`,
      ...alternatives.map((one) => `  scheme: ${literal(one)},`),
    );
  if (notes.length > 0) lines.push('', ...notes.map((note) => `- ${note}`));
  if (questions.length > 0)
    lines.push('', 'Ask the service:', ...questions.map((question, index) => `  ${index + 1}. ${question}`));
  return lines.join('\n');
}
