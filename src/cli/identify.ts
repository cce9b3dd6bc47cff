import type { Identification } from '../doctor/identify.js';
import { isJsonObject } from '../doctor/json.js';
import { fieldsOf, findLink, type Link } from '../doctor/link.js';
import { eventLinks } from '../sandbox/service/event.js';
import { command, type Flags, type FlagTable } from './command.js';
import { contentOf, deliveryInFile } from './delivery-file.js';
import { searchScheme } from './signing.js';
import { CommandError, literal, paragraphs, refuseUnless, show, variable, verdict } from './terminal.js';

/** Flags of the commands that search for the scheme of one delivery. */
export const resultFlags = {
  url: ['<url>', 'your webhook URL as the service knows it; some services sign it too'],
  json: ['', 'prints the result as JSON'],
} satisfies FlagTable;

const flags = {
  body: ['<file>', 'the raw body, byte for byte'],
  signature: ['<text>', 'the header x-service-signature'],
  timestamp: ['<text>', 'the header x-service-timestamp'],
  link: ['', 'finds the field that names the checkout instead, with at most ten GET /v1/checkouts/{id}'],
  ...resultFlags,
} satisfies FlagTable;

export const identify = command({
  summary: 'finds out how the real service signs, from one captured delivery, offline',
  usage: `identify <file>
       merchant-payments identify --body <file> --signature <text> --timestamp <text>

The file is one that capture wrote, or a Delivery of this package as JSON. The secret is read from PAYMENTS_WEBHOOK_SECRET, or
you are prompted for it; PAYMENTS_API_KEY is tried as well. --link needs no secret, but PAYMENTS_API_KEY and PAYMENTS_BASE_URL.
Exit code 1 if no known scheme fits (with --link: if no field does).`,
  example: 'identify delivery-2026-01-31.json',
  flags,
  words: 1,
  async run(given) {
    const url = given.url('url');
    const delivery = deliveryOf(given);
    if (given.has('link')) return showLink(delivery.rawBody, given.has('json'));
    const { rawBody, headers } = delivery;
    return showIdentification(given, await searchScheme({ rawBody, headers, url }));
  },
});

export const showIdentification = (given: Flags<'json'>, result: Identification): number =>
  show(given.has('json'), result, () => describeIdentification(result), result.found);

function deliveryOf(given: Flags<keyof typeof flags>) {
  const [file] = given.positionals;
  const [body, signature, timestamp] = [given.text('body'), given.text('signature'), given.text('timestamp')];
  const usage = 'Pass one file with a delivery, or --body, --signature and --timestamp.';
  refuseUnless((file === undefined) !== ((body ?? signature ?? timestamp) === undefined), usage);
  if (file !== undefined) return deliveryInFile(file);
  refuseUnless(body, `--body is missing. ${usage}`);
  refuseUnless(signature || given.has('link'), `--signature is missing. ${usage}`);
  const headers = { 'x-service-signature': signature, 'x-service-timestamp': timestamp };
  return { rawBody: contentOf(body, 'the raw body'), headers };
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

async function showLink(rawBody: Uint8Array, json: boolean): Promise<number> {
  const result = await linkIn(rawBody);
  const sandbox = result.found ? choiceFor(rawBody, result) : 'none';
  return show(json, { ...result, sandbox }, () => describeLink(result, sandbox), result.found);
}

/** Returns the choice of `unspecified.eventLink` that puts the id into the same place, in the same form; `null` if there is none. */
function choiceFor(rawBody: Uint8Array, { field, checkoutId = '' }: Link): string | null {
  const path = field?.replaceAll(/\[\d+\]/g, '[0]');
  const value = fieldsOf(rawBody).find((one) => one.path === field)?.value;
  const found = Object.entries(eventLinks).find(([name, fields]) => {
    const event = name === 'order_id' ? { data: { order_id: checkoutId } } : fields(checkoutId);
    const [own] = fieldsOf(Buffer.from(JSON.stringify(event)));
    return own?.path === path && own?.value === value;
  });
  return found?.[0] ?? null;
}

function describeLink({ found, summary, field, undocumented, notes }: Link, sandbox: string | null): string {
  const place = `event.${field}`.replace('.[', '[');
  const keep = `Keep the checkout session's id with your order, and find the order by ${place}.`;
  const untyped = ' The types do not name that field: docs/which-order.md shows how to read it.';
  const choice =
    sandbox === null
      ? 'The sandbox has no option that puts the id into the same place, in the same form.'
      : `The sandbox does the same with:\n\n  merchant-payments sandbox --unspecified eventLink=${sandbox}\n  createSandbox({ unspecified: { eventLink: '${sandbox}' } })`;
  return paragraphs(
    verdict(found, summary),
    found && keep + (field === 'data.order_id' ? '' : untyped),
    found && choice,
    undocumented.length > 0 &&
      ['Fields that the specification does not list:', ...undocumented.map((path) => `  ${path}`)].join('\n'),
    notes.map((note) => `- ${note}`).join('\n'),
  );
}

/** Finds the link with the real service. The service and its key come from the environment; only checkout sessions are requested. */
async function linkIn(rawBody: Uint8Array): Promise<Link> {
  for (const name of ['PAYMENTS_API_KEY', 'PAYMENTS_BASE_URL']) variable(name);
  const { ApiError, isPaymentsError, PaymentsClient } = await import('merchant-payments');
  try {
    const payments = new PaymentsClient({ timeoutMs: 10_000, maxRetries: 0 });
    return await findLink(rawBody, async (id) => {
      const path = `/v1/checkouts/${encodeURIComponent(id)}`;
      const data = await payments.request({ method: 'GET', path }).catch((error: unknown) => {
        if (error instanceof ApiError && saysNone.has(error.status)) return undefined;
        throw error;
      });
      // An equal id is enough here, so no other field is checked.
      if (!isJsonObject(data) || String(data.id) !== id) return undefined;
      return { amount: data.amount, currency: data.currency };
    });
  } catch (error) {
    throw isPaymentsError(error) ? new CommandError(nameVariables(error.message)) : error;
  }
}

/** Statuses by which the service may refuse an unknown id, which the specification does not show. Other statuses say nothing about the id. */
const saysNone = new Set([200, 400, 404, 410, 422]);

/** Returns a message of the client, with environment variables in place of its options. */
const nameVariables = (message: string): string =>
  message
    .replace('new PaymentsClient(): ', '')
    .replaceAll('Pass it, or set', 'Set')
    .replaceAll('baseUrl', 'PAYMENTS_BASE_URL')
    .replaceAll('apiKey', 'PAYMENTS_API_KEY')
    .replace(', or pass allowInsecureHttp: true', '');
