import { parseObject } from '../doctor/json.js';
import type { RetrieveCheckout } from '../doctor/link.js';
import { isLoopback, parseAbsoluteUrl } from '../schemas/url.js';
import { CommandError } from './terminal.js';

/** Asks the service of the environment for checkout sessions, and for nothing else. */
export function retrieveCheckout(): RetrieveCheckout {
  const key = process.env.PAYMENTS_API_KEY;
  if (!key || !/^[\x21-\x7e]+$/.test(key))
    throw new CommandError(
      'Set PAYMENTS_API_KEY to your API key: --link asks the service for checkout sessions.',
    );
  const base = baseUrl();
  return async (id) => {
    const url = `${base}/v1/checkouts/${encodeURIComponent(id)}`;
    const response = await fetch(url, {
      headers: { 'x-api-key': key, accept: 'application/json' },
      redirect: 'manual',
      signal: AbortSignal.timeout(10_000),
    }).catch((error: unknown) => {
      throw new CommandError(
        `${base} could not be asked: ${reasonOf(error)}. Check PAYMENTS_BASE_URL, and try again.`,
      );
    });
    const text = await response.text().catch(() => '');
    const { status } = response;
    if (status === 401 || status === 403)
      throw new CommandError(
        `The service responded ${status}: the API key was refused. Check that PAYMENTS_API_KEY belongs to PAYMENTS_BASE_URL.`,
      );
    if (status >= 300 && status < 400)
      throw new CommandError(
        `${base} responded ${status}, a redirect, which is not followed with an API key. Check PAYMENTS_BASE_URL.`,
      );
    if (status === 429 || status >= 500)
      throw new CommandError(`The service responded ${status}, which answers nothing. Try again later.`);
    return status === 200 ? checkoutIn(text, id, base) : undefined;
  };
}

/** The session in the service's envelope, if it is the one that was asked for. */
function checkoutIn(text: string, id: string, base: string) {
  const envelope = parseObject(text);
  if (!envelope || !('code' in envelope))
    throw new CommandError(
      `${base} responded with something else than the service does. Check PAYMENTS_BASE_URL.`,
    );
  const data =
    envelope.code === 0 && typeof envelope.data === 'object' && envelope.data !== null ? envelope.data : {};
  const session: Record<string, unknown> = { ...data };
  return String(session.id) === id ? { amount: session.amount, currency: session.currency } : undefined;
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
  if (error.name === 'TimeoutError') return 'no response within 10 s';
  const { cause } = error;
  return cause instanceof Error && 'code' in cause ? String(cause.code) : error.message;
}
