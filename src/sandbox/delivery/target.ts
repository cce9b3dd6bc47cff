import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { parseAbsoluteUrl } from '../../schemas/url.js';
import type { WebhookTarget } from '../../sending/delivery.js';
import { addressProblem } from './addresses.js';

/** Why deliveries cannot go to a target; `undefined` if they can. A name's address is not looked up. */
export function targetProblem(target: unknown, allowRemote: boolean): string | undefined {
  if (typeof target === 'function') return undefined;
  const url = typeof target === 'string' ? parseAbsoluteUrl(target) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || url.username + url.password !== '')
    return 'pass an absolute http: or https: URL without user and password, or a route handler.';
  const host = hostOf(url);
  return isIP(host) === 0 ? undefined : addressProblem(host, allowRemote);
}

/** The same for the address that a name resolves to now. A name that resolves to nothing may do so later. */
export async function resolvedProblem(
  target: WebhookTarget | undefined,
  allowRemote: boolean,
): Promise<string | undefined> {
  const url = typeof target === 'string' ? parseAbsoluteUrl(target) : undefined;
  const found = url ? await lookup(hostOf(url), { all: true }).catch(() => []) : [];
  const [problem] = found.map(({ address }) => addressProblem(address, allowRemote)).filter(Boolean);
  return problem && `${url?.hostname}: ${problem}`;
}

const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, '');
