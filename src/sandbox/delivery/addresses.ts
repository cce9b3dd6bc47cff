import { lookup } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';

const near = new BlockList();
near.addSubnet('127.0.0.0', 8);
near.addSubnet('10.0.0.0', 8);
near.addSubnet('172.16.0.0', 12);
near.addSubnet('192.168.0.0', 16);
near.addAddress('::1', 'ipv6');
near.addSubnet('fc00::', 7, 'ipv6');

/** Link-local addresses, where clouds keep their credentials, and addresses that name no single machine. */
const never = new BlockList();
never.addSubnet('169.254.0.0', 16);
never.addSubnet('fe80::', 10, 'ipv6');
never.addSubnet('0.0.0.0', 8);
never.addSubnet('224.0.0.0', 3);
never.addAddress('::', 'ipv6');
never.addSubnet('ff00::', 8, 'ipv6');
never.addAddress('fd00:ec2::254', 'ipv6');

/** Why nothing is sent to an address; `undefined` when it may be. */
export function addressProblem(address: string, allowRemote: boolean): string | undefined {
  const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
  if (never.check(address, family))
    return `${address} is a link-local or reserved address: nothing is ever sent there.`;
  if (allowRemote || near.check(address, family)) return undefined;
  return `${address} is neither on this machine nor in a private network. Allow remote webhooks if it is meant.`;
}

/** An address to which nothing is sent; its `code` is `address_refused`. */
export function addressRefused(problem: string): Error {
  return Object.assign(new Error(problem), { code: 'address_refused' });
}

/** Resolves a name, and refuses it by the address that it leads to. */
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
