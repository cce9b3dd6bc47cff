import { type Identification, identifyScheme } from '../doctor/identify.js';
import { command, type Flags, type FlagTable } from './command.js';
import { showLink } from './identify-link.js';
import { readGiven, readSavedDelivery, type SavedDelivery } from './saved-delivery.js';
import { literal, paragraphs, refuseUnless, show, verdict } from './terminal.js';
import { webhookSecret } from './webhook-secret.js';

/** The flags of each command that looks for a scheme in one delivery. */
export const resultFlags = {
  url: ['<url>', 'your webhook URL as the service knows it; some services sign it too'],
  json: ['', 'prints the result as JSON'],
} satisfies FlagTable;

const flags = {
  body: ['<file>', 'the raw body, byte for byte'],
  signature: ['<text>', 'the header x-service-signature'],
  timestamp: ['<text>', 'the header x-service-timestamp'],
  link: [
    '',
    'finds the field that names the checkout instead: at most five GET /v1/checkouts/{id}, nothing is written',
  ],
  ...resultFlags,
} satisfies FlagTable;

export const identify = command({
  summary: 'finds out how the real service signs, from one captured delivery, offline',
  usage: `identify <file>
       merchant-payments identify --body <file> --signature <text> --timestamp <text>

The file is one that capture wrote, or a Delivery of this package as JSON. The secret is read from PAYMENTS_WEBHOOK_SECRET, or
you are prompted for it. With --link, no secret is needed, but PAYMENTS_API_KEY and PAYMENTS_BASE_URL. Exit code 1 when no
known scheme, or no field, fits.`,
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

export const showIdentification = (given: Flags<'json'>, result: Identification): number =>
  show(given.has('json'), result, () => describeIdentification(result), result.found);

function deliveryOf(given: Flags<keyof typeof flags>): SavedDelivery {
  const [file] = given.positionals;
  const [body, signature, timestamp] = [given.text('body'), given.text('signature'), given.text('timestamp')];
  const usage = 'Pass one file with a delivery, or --body, --signature and --timestamp.';
  refuseUnless((file === undefined) !== ((body ?? signature ?? timestamp) === undefined), usage);
  if (file !== undefined) return readSavedDelivery(file);
  refuseUnless(body, `--body is missing. ${usage}`);
  refuseUnless(signature || given.has('link'), `--signature is missing. ${usage}`);
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
