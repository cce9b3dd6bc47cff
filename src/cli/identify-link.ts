import * as z from 'zod/mini';
import { fieldsOf, findLink, type Link } from '../doctor/link.js';
import { eventLinks } from '../sandbox/service/event.js';
import { CommandError, paragraphs, show, verdict } from './terminal.js';

/** Finds the field that names the checkout, prints it, and returns the exit code. */
export async function showLink(rawBody: Uint8Array, json: boolean): Promise<number> {
  const result = await linkIn(rawBody);
  const sandbox = result.found ? choiceFor(rawBody, result) : 'none';
  return show(json, { ...result, sandbox }, () => described(result, sandbox), result.found);
}

/** The choice of `unspecified.eventLink` that puts the id into the same place, in the same form. */
function choiceFor(rawBody: Uint8Array, { field, checkoutId = '' }: Link): string | undefined {
  const path = field?.replaceAll(/\[\d+\]/g, '[0]');
  const value = fieldsOf(rawBody).find((one) => one.path === field)?.value;
  const found = Object.entries(eventLinks).find(([name, fields]) => {
    const event = name === 'order_id' ? { data: { order_id: checkoutId } } : fields(checkoutId);
    const [own] = fieldsOf(Buffer.from(JSON.stringify(event)));
    return own?.path === path && own?.value === value;
  });
  return found?.[0];
}

const described = (
  { found, summary, field, undocumented, notes }: Link,
  sandbox: string | undefined,
): string =>
  paragraphs(
    verdict(found, summary),
    found &&
      `Keep the checkout session's id with your order, and find the order by event.${field}.${field === 'data.order_id' ? '' : ' The types do not name that field: docs/which-order.md shows how to read it.'}`,
    found &&
      (sandbox === undefined
        ? 'The sandbox has no option that puts the id into the same place, in the same form.'
        : `The sandbox does the same with:\n\n  merchant-payments sandbox --unspecified eventLink=${sandbox}\n  createSandbox({ unspecified: { eventLink: '${sandbox}' } })`),
    undocumented.length > 0 &&
      ['Fields that the specification does not list:', ...undocumented.map((path) => `  ${path}`)].join('\n'),
    notes.map((note) => `- ${note}`).join('\n'),
  );

/** Asks the service of the environment for checkout sessions, as a user of the package would, and for nothing else. */
async function linkIn(rawBody: Uint8Array): Promise<Link> {
  const { ApiError, isPaymentsError, PaymentsClient } = await import('merchant-payments');
  try {
    const payments = new PaymentsClient({ timeoutMs: 10_000, maxRetries: 0 });
    return await findLink(rawBody, async (id) => {
      const path = `/v1/checkouts/${encodeURIComponent(id)}`;
      const data = await payments.request({ method: 'GET', path }).catch((error: unknown) => {
        if (error instanceof ApiError && saysNone.has(error.status)) return undefined;
        throw error;
      });
      const { data: { id: own, amount, currency } = {} } = session.safeParse(data);
      return String(own) === id ? { amount, currency } : undefined;
    });
  } catch (error) {
    throw isPaymentsError(error) ? new CommandError(inEnvironment(error.message)) : error;
  }
}

/** How the service may refuse an id that it does not know: the specification does not show it. Other refusals say nothing of the id. */
const saysNone = new Set([200, 400, 404, 410, 422]);

/** The fields are not checked further: an id is enough here. */
const session = z.record(z.string(), z.unknown());

/** A message of the client, with the variables in place of its options. */
const inEnvironment = (message: string): string =>
  message
    .replace('new PaymentsClient(): ', '')
    .replaceAll('Pass it, or set', 'Set')
    .replaceAll('baseUrl', 'PAYMENTS_BASE_URL')
    .replaceAll('apiKey', 'PAYMENTS_API_KEY')
    .replace(', or pass allowInsecureHttp: true', '');
