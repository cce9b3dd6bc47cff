import { type Identification, identifyScheme } from '../doctor/identify.js';
import { command, type Flags } from './command.js';
import { showLink } from './identify-link.js';
import { readGiven, readSavedDelivery, type SavedDelivery } from './saved-delivery.js';
import { literal, paragraphs, show, UsageError, verdict } from './terminal.js';
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

export const identify = command({
  summary: 'finds out how the real service signs, from one captured delivery, offline',
  usage:
    'identify <file>\n       merchant-payments identify --body <file> --signature <text> --timestamp <text>\n\n' +
    'The file is one that capture wrote, or a Delivery of this package as JSON. The secret is read from PAYMENTS_WEBHOOK_SECRET, or you are prompted for it. With --link, no secret is needed, but PAYMENTS_API_KEY\n' +
    'and PAYMENTS_BASE_URL. Exit code 1 when no known scheme, or no field, fits.',
  example: 'identify delivery-2026-01-31.json',
  flags,
  words: 1,
  async run(given) {
    const delivery = deliveryOf(given);
    if (given.has('link')) return showLink(delivery.rawBody, given.has('json'));
    const secret = await webhookSecret();
    return showIdentification(given, identifyScheme({ ...delivery, secret, url: given.text('url') }));
  },
});

/** Prints the result and returns the exit code. */
export const showIdentification = (given: Flags<'json'>, result: Identification): number =>
  show(given.has('json'), result, () => describeIdentification(result), result.found);

function deliveryOf(given: Flags<keyof typeof flags>): SavedDelivery {
  const [file] = given.positionals;
  const [body, signature, timestamp] = [given.text('body'), given.text('signature'), given.text('timestamp')];
  const usage = 'Pass one file with a delivery, or --body, --signature and --timestamp.';
  if ((file === undefined) === ((body ?? signature ?? timestamp) === undefined)) throw new UsageError(usage);
  if (file !== undefined) return readSavedDelivery(file);
  if (body === undefined) throw new UsageError(`--body is missing. ${usage}`);
  if (signature === undefined && !given.has('link')) throw new UsageError(`--signature is missing. ${usage}`);
  return {
    rawBody: readGiven(body, 'the raw body'),
    headers: { 'x-service-signature': signature, 'x-service-timestamp': timestamp },
  };
}

export function describeIdentification(result: Identification): string {
  const { found, summary, scheme = {}, like, alternatives, notes, questions } = result;
  const option = (one: object) => `  scheme: ${literal(one)},`;
  return paragraphs(
    verdict(found, summary),
    Object.keys(scheme).length > 0 &&
      `Paste into webhooks.verify(), the handlers or openInbox():\n\n${option(scheme)}`,
    like && `The same as ${like.service} documents: ${like.source}`,
    alternatives.length > 0 &&
      `This delivery fits ${alternatives.length} more; a second delivery tells them apart:\n${alternatives.map(option).join('\n')}`,
    notes.map((note) => `- ${note}`).join('\n'),
    questions.length > 0 &&
      ['Ask the service:', ...questions.map((one, at) => `  ${at + 1}. ${one}`)].join('\n'),
  );
}
