import { lookup, promises } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { parseAbsoluteUrl } from '../input/url.js';
import type { WebhookTarget } from './delivery.js';

/** A target to which nothing may be sent, or that is no target at all. */
export class TargetError extends Error {
  readonly code = 'address_refused';
}

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

/** The option that allows public addresses, as messages name it: in code and on the command line. */
export const remoteOption = 'allowRemoteWebhooks (--allow-remote)';

/** Returns why nothing may be sent to an address; `undefined` if it is allowed. */
function addressProblem(address: string, allowRemote: boolean): string | undefined {
  const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
  if (never.check(address, family))
    return `${address} is a link-local or reserved address: nothing is ever sent there.`;
  if (allowRemote || near.check(address, family)) return undefined;
  return `${address} is neither on this machine nor in a private network. To send there, pass ${remoteOption}.`;
}

/** Returns a `lookup` for a connection, which refuses a name that resolves to a forbidden address. */
export function guardedLookup(allowRemote: boolean): LookupFunction {
  return (name, options, callback) => {
    lookup(name, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error, '');
      const problem = addresses.map(({ address }) => addressProblem(address, allowRemote)).find((one) => one);
      if (problem !== undefined) return callback(new TargetError(`${name}: ${problem}`), '');
      const [first] = addresses;
      if (options.all === true) callback(null, addresses);
      else callback(null, first?.address ?? '', first?.family);
    });
  };
}

/** Returns the problem of a target, which follows its name; `undefined` if something can be sent to it. Looks up no host name. */
export function targetProblem(target: unknown, allowRemote: boolean): string | undefined {
  if (target === undefined || typeof target === 'function') return undefined;
  if (typeof target !== 'string') return 'must be a URL or a route handler.';
  const url = parseAbsoluteUrl(target);
  if (url && /^https?:$/.test(url.protocol) && url.username + url.password === '')
    return literalProblem(url, allowRemote);
  return 'must be an absolute http: or https: URL without user and password.';
}

/** Returns why nothing may be sent to a URL whose host is an address. A host name is not checked. */
export function literalProblem(url: URL, allowRemote: boolean): string | undefined {
  const host = hostOf(url);
  return isIP(host) === 0 ? undefined : addressProblem(host, allowRemote);
}

/** Returns why nothing may be sent to a URL, by what its host name resolves to now. A name without an address is allowed, because it may get one later. */
export async function resolvedProblem(target: WebhookTarget | undefined, allowRemote: boolean) {
  const url = typeof target === 'string' ? parseAbsoluteUrl(target) : undefined;
  if (url === undefined) return undefined;
  const host = hostOf(url);
  if (isIP(host) !== 0) return addressProblem(host, allowRemote);
  const addresses = await promises.lookup(host, { all: true }).catch(() => []);
  const [problem] = addresses.map(({ address }) => addressProblem(address, allowRemote)).filter(Boolean);
  return problem && `${host}: ${problem}`;
}

const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, '');
