import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP } from 'node:net';
import type { Outgoing, Sent, WebhookTarget } from '../../sending/delivery.js';
import { untilAborted } from '../signal.js';
import { addressProblem, addressRefused, guardedLookup, hostOf } from './addresses.js';

/** Sends a delivery once, to a URL or to a route handler itself. Never rejects. */
export async function send(
  target: WebhookTarget,
  outgoing: Outgoing,
  { withinMs, allowRemote, stop }: { withinMs: number; allowRemote: boolean; stop: AbortSignal },
): Promise<Sent> {
  const timer = new AbortController();
  const timeout = setTimeout(() => timer.abort(), withinMs);
  const signal = AbortSignal.any([timer.signal, stop]);
  try {
    stop.throwIfAborted();
    if (typeof target === 'function') return await untilAborted(call(target, outgoing), signal);
    return await post(target, { ...outgoing, signal, allowRemote });
  } catch (error) {
    if (timer.signal.aborted) return { error: `No response within ${withinMs / 1000} s.`, code: 'timeout' };
    return failure(stop.aborted ? stop.reason : error);
  } finally {
    clearTimeout(timeout);
  }
}

async function call(handler: Exclude<WebhookTarget, string>, outgoing: Outgoing): Promise<Sent> {
  const response = await handler(asRequest(handler, outgoing));
  if (!(response instanceof Response)) throw new TypeError('The handler returned no Response.');
  const { status, headers } = response;
  return { status, headers: Object.fromEntries(headers), body: await response.text() };
}

/** A delivery as the receiver's route sees it. */
export function asRequest(
  target: WebhookTarget | undefined,
  { headers, repeated = {}, body }: Outgoing,
): Request {
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

/** How many bytes of a response are read; the rest is dropped. */
const readAtMost = 64 * 1024;

/** Posts a body to a URL. Follows no redirect, refuses forbidden addresses, reads only the beginning of the response. */
async function post(
  url: string,
  {
    headers,
    repeated = {},
    body,
    signal,
    allowRemote,
  }: Outgoing & { signal: AbortSignal; allowRemote: boolean },
): Promise<Sent> {
  const target = new URL(url);
  const literal = hostOf(target);
  const problem = isIP(literal) === 0 ? undefined : addressProblem(literal, allowRemote);
  if (problem !== undefined) throw addressRefused(problem);
  const request = (target.protocol === 'https:' ? httpsRequest : httpRequest)(target, {
    method: 'POST',
    headers: {
      ...headers,
      ...Object.fromEntries(
        Object.entries(repeated).map(([name, value]) => [name, [headers[name] ?? '', value]]),
      ),
      'content-length': String(Buffer.byteLength(body)),
    },
    agent: false,
    signal,
    lookup: guardedLookup(allowRemote),
  });
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    request.on('response', resolve).on('error', reject).end(body);
  });
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response) {
    chunks.push(chunk);
    size += chunk.byteLength;
    if (size >= readAtMost) break;
  }
  request.destroy();
  const text = Buffer.concat(chunks).subarray(0, readAtMost).toString('utf8');
  return { status: response.statusCode ?? 0, headers: joined(response.headers), body: text };
}

function joined(headers: NodeJS.Dict<string | string[]>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, [value ?? []].flat().join(', ')]),
  );
}
