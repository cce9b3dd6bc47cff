import { lookup, promises } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { parseAbsoluteUrl } from '../../schemas/url.js';
import type { WebhookTarget } from '../../sending/delivery.js';

const near = blockList('127.0.0.0/8', '10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '::1/128', 'fc00::/7');

/** Link-local addresses, where clouds keep their credentials, and addresses that name no single machine. */
const linkLocal = ['169.254.0.0/16', 'fe80::/10', 'fd00:ec2::254/128'];
const never = blockList(...linkLocal, '0.0.0.0/8', '224.0.0.0/3', '::/128', 'ff00::/8');

function blockList(...subnets: string[]): BlockList {
  const list = new BlockList();
  for (const [net = '', bits] of subnets.map((subnet) => subnet.split('/')))
    list.addSubnet(net, Number(bits), net.includes(':') ? 'ipv6' : 'ipv4');
  return list;
}

/** Why nothing may be sent to an address; `undefined` if it may. */
export function addressProblem(address: string, allowRemote: boolean): string | undefined {
  const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
  if (never.check(address, family))
    return `${address} is a link-local or reserved address: nothing is ever sent there.`;
  if (allowRemote || near.check(address, family)) return undefined;
  return `${address} is neither on this machine nor in a private network. To send there, pass allowRemoteWebhooks (--allow-remote).`;
}

/** An address to which nothing is sent; its `code` is `address_refused`. */
export function addressRefused(problem: string): Error {
  return Object.assign(new Error(problem), { code: 'address_refused' });
}

/** Resolves a name and refuses it if its address is forbidden. */
export function guardedLookup(allowRemote: boolean): LookupFunction {
  return (name, options, callback) => {
    lookup(name, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error, '');
      const problem = addresses.map(({ address }) => addressProblem(address, allowRemote)).find((one) => one);
      if (problem !== undefined) return callback(addressRefused(`${name}: ${problem}`), '');
      const [first] = addresses;
      if (options.all === true) callback(null, addresses);
      else callback(null, first?.address ?? '', first?.family);
    });
  };
}

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
  const found = url ? await promises.lookup(hostOf(url), { all: true }).catch(() => []) : [];
  const [problem] = found.map(({ address }) => addressProblem(address, allowRemote)).filter(Boolean);
  return problem && `${url?.hostname}: ${problem}`;
}

/** The host of a URL, an IPv6 address without its brackets. */
export const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, '');
