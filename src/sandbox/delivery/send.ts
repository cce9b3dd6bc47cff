import { lookup, promises } from 'node:dns';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { parseAbsoluteUrl } from '../../schemas/url.js';
import type { Outgoing, Sent, WebhookTarget } from '../../sending/delivery.js';
import { longestTimerMs, untilAborted } from '../signal.js';

/** Sends a delivery once, to a URL or to a route handler itself. Never rejects. */
export async function send(
  target: WebhookTarget,
  outgoing: Outgoing,
  settings: { choices: { deliveryTimeout: number }; allowRemoteWebhooks: boolean },
  stop: AbortSignal,
): Promise<Sent> {
  const withinMs = settings.choices.deliveryTimeout;
  const timer = new AbortController();
  const timeout = setTimeout(() => timer.abort(), Math.min(withinMs, longestTimerMs));
  const signal = AbortSignal.any([timer.signal, stop]);
  try {
    stop.throwIfAborted();
    if (typeof target === 'function') return await untilAborted(call(target, outgoing), signal);
    return await post(target, outgoing, signal, settings.allowRemoteWebhooks);
  } catch (error) {
    if (timer.signal.aborted) return { error: `No response within ${withinMs / 1000} s.`, code: 'timeout' };
    return failure(stop.aborted ? stop.reason : error);
  } finally {
    clearTimeout(timeout);
  }
}

async function call(handler: Exclude<WebhookTarget, string>, outgoing: Outgoing): Promise<Sent> {
  const response = await handler(asRequest(handler, outgoing));
  // That of another library is taken too.
  if (typeof response?.text !== 'function')
    throw new TypeError(
      'The handler returned no Response. nodeHandler() belongs to node:http; here, use handler().',
    );
  const { status, headers } = response;
  return { status, headers: Object.fromEntries(headers), body: await response.text() };
}

/** A delivery as the receiver's route sees it. */
export function asRequest(target: WebhookTarget | undefined, { headers, repeated = {}, body }: Outgoing) {
  const url = typeof target === 'string' ? target : 'http://localhost/webhooks';
  const request = new Request(url, { method: 'POST', headers, body });
  for (const [name, value] of Object.entries(repeated)) request.headers.append(name, value);
  return request;
}

function failure(error: unknown): Sent {
  if (!(error instanceof Error)) return { error: 'The handler threw something that is not an Error.' };
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined;
  const message = error.message || (code ?? error.name);
  return { error: message.trim().slice(0, 500), ...(code === undefined ? {} : { code }) };
}

const readAtMost = 64 * 1024;

/** Posts a body to a URL. Follows no redirect, refuses forbidden addresses, reads only the beginning of the response. */
async function post(url: string, outgoing: Outgoing, signal: AbortSignal, allowRemote: boolean) {
  const { headers, repeated = {}, body } = outgoing;
  const target = new URL(url);
  const problem = literalProblem(target, allowRemote);
  if (problem !== undefined) throw addressRefused(problem);
  // Bytes: Node would write the headers before a text in its encoding, UTF-8.
  const bytes = Buffer.from(body);
  const twice = Object.entries(repeated).map(([name, value]) => [name, [headers[name] ?? '', value]]);
  const request = (target.protocol === 'https:' ? httpsRequest : httpRequest)(target, {
    method: 'POST',
    headers: { ...headers, ...Object.fromEntries(twice), 'content-length': String(bytes.byteLength) },
    agent: false,
    signal,
    lookup: guardedLookup(allowRemote),
  });
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    request.on('response', resolve).on('error', reject).end(bytes);
  });
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response) {
    chunks.push(chunk);
    size += chunk.byteLength;
    if (size >= readAtMost) break;
  }
  request.destroy();
  const read = Object.entries(response.headers).map(([key, value]) => [key, [value ?? []].flat().join(', ')]);
  return {
    status: response.statusCode ?? 0,
    headers: Object.fromEntries(read),
    body: Buffer.concat(chunks).subarray(0, readAtMost).toString('utf8'),
  };
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

/** How messages name what allows public addresses, in code and on the command line. */
export const remoteOption = 'allowRemoteWebhooks (--allow-remote)';

/** Why nothing may be sent to an address; `undefined` if it may. */
function addressProblem(address: string, allowRemote: boolean): string | undefined {
  const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
  if (never.check(address, family))
    return `${address} is a link-local or reserved address: nothing is ever sent there.`;
  if (allowRemote || near.check(address, family)) return undefined;
  return `${address} is neither on this machine nor in a private network. To send there, pass ${remoteOption}.`;
}

const addressRefused = (problem: string) => Object.assign(new Error(problem), { code: 'address_refused' });

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

/** Why nothing can be sent to a target; `undefined` if something can. A name's address is not looked up. */
export function targetProblem(target: unknown, allowRemote: boolean): string | undefined {
  if (target === undefined || typeof target === 'function') return undefined;
  if (typeof target !== 'string') return 'pass a URL or a route handler.';
  const url = parseAbsoluteUrl(target);
  if (url && /^https?:$/.test(url.protocol) && url.username + url.password === '')
    return literalProblem(url, allowRemote);
  return 'pass an absolute http: or https: URL without user and password.';
}

function literalProblem(url: URL, allowRemote: boolean): string | undefined {
  const host = hostOf(url);
  return isIP(host) === 0 ? undefined : addressProblem(host, allowRemote);
}

/** Why nothing may be sent to a URL, by what its name resolves to now. A name that resolves to nothing may do so later. */
export async function resolvedProblem(target: WebhookTarget | undefined, allowRemote: boolean) {
  const url = typeof target === 'string' ? parseAbsoluteUrl(target) : undefined;
  if (url === undefined) return undefined;
  const host = hostOf(url);
  if (isIP(host) !== 0) return addressProblem(host, allowRemote);
  const found = await promises.lookup(host, { all: true }).catch(() => []);
  const [problem] = found.map(({ address }) => addressProblem(address, allowRemote)).filter(Boolean);
  return problem && `${host}: ${problem}`;
}

const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, '');
