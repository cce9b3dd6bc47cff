import * as z from 'zod/mini';
import { parseObject } from '../doctor/json.js';
import { fieldsOf, findLink, type Link, type RetrieveCheckout } from '../doctor/link.js';
import { eventLinks } from '../sandbox/service/event.js';
import { isLoopback, parseAbsoluteUrl } from '../schemas/url.js';
import { CommandError, codeOf, paragraphs, show, verdict } from './terminal.js';

/** Finds the field that names the checkout, prints it, and returns the exit code. */
export async function showLink(rawBody: Uint8Array, json: boolean): Promise<number> {
  const result = await findLink(rawBody, retrieveCheckout());
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

const withinSeconds = 10;

/** Asks the service of the environment for checkout sessions, and for nothing else. */
function retrieveCheckout(): RetrieveCheckout {
  const { PAYMENTS_API_KEY: key = '' } = process.env;
  if (!/^[\x21-\x7e]+$/.test(key))
    throw new CommandError(
      'Set PAYMENTS_API_KEY to your API key: --link asks the service for checkout sessions.',
    );
  const base = baseUrl();
  return async (id) => {
    const response = await fetch(`${base}/v1/checkouts/${encodeURIComponent(id)}`, {
      headers: { 'x-api-key': key, accept: 'application/json' },
      redirect: 'manual',
      signal: AbortSignal.timeout(withinSeconds * 1000),
    }).catch((error: unknown) => {
      throw new CommandError(
        `${base} could not be asked: ${reasonOf(error)}. Check PAYMENTS_BASE_URL, and try again.`,
      );
    });
    const problem = problemOf(response.status, base);
    if (problem !== undefined) throw new CommandError(problem);
    if (response.status !== 200) return undefined;
    const content = parseObject(await response.text().catch(() => ''));
    if (!content || !('code' in content))
      throw new CommandError(
        `${base} responded with something else than the service does. Check PAYMENTS_BASE_URL.`,
      );
    const { data = {} } = z.record(z.string(), z.unknown()).safeParse(content.data);
    const { amount, currency } = data;
    return content.code === 0 && String(data.id) === id ? { amount, currency } : undefined;
  };
}

/** What a status says that tells nothing of a checkout. */
function problemOf(status: number, base: string): string | undefined {
  if (status === 401 || status === 403)
    return `The service responded ${status}: the API key was refused. Check that PAYMENTS_API_KEY belongs to PAYMENTS_BASE_URL.`;
  if (status >= 300 && status < 400)
    return `${base} responded ${status}, a redirect, which is not followed with an API key. Check PAYMENTS_BASE_URL.`;
  const isFailure = status === 429 || status >= 500;
  return isFailure ? `The service responded ${status}, which answers nothing. Try again later.` : undefined;
}

function baseUrl(): string {
  const given = process.env.PAYMENTS_BASE_URL;
  if (!given) throw new CommandError('Set PAYMENTS_BASE_URL to the address of the service, without /v1.');
  const url = parseAbsoluteUrl(given);
  const plain =
    url && url.username + url.password + url.search + url.hash === '' && !/\/v1\/*$/.test(url.pathname);
  if (url && plain && (url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url))))
    return url.href.replace(/(?<!\/)\/+$/, '');
  throw new CommandError(
    'PAYMENTS_BASE_URL is invalid. Set an https: URL without /v1, user, query or hash; http: only for this machine.',
  );
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'the request failed';
  if (error.name === 'TimeoutError') return `no response within ${withinSeconds} s`;
  return codeOf(error.cause) ?? error.message;
}
