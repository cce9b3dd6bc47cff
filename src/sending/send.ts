// This folder sends deliveries to a receiver, for the sandbox, the doctor and the crash test.
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { longestTimerMs, untilAborted } from './abort.js';
import { guardedLookup, literalProblem, TargetError } from './address.js';
import type { Outgoing, Sent, WebhookTarget } from './delivery.js';

/** Options of `send()`. */
export interface SendOptions {
  /** The time limit for the response. Default 10 s. */
  timeoutMs?: number | undefined;
  /** True if the target may have a public address. Default `false`: this machine and private networks only. */
  allowRemote?: boolean | undefined;
  /** Ends the attempt when it is aborted. */
  signal?: AbortSignal | undefined;
}

/** Sends a delivery once, to a URL or to a route handler itself. Never rejects. */
export async function send(
  target: WebhookTarget,
  outgoing: Outgoing,
  { timeoutMs = 10_000, allowRemote = false, signal: stop }: SendOptions = {},
): Promise<Sent> {
  const timer = new AbortController();
  const timeout = setTimeout(() => timer.abort(), Math.min(timeoutMs, longestTimerMs));
  const signal = stop ? AbortSignal.any([timer.signal, stop]) : timer.signal;
  try {
    stop?.throwIfAborted();
    if (typeof target === 'function') return await untilAborted(call(target, outgoing), signal);
    return await post(target, outgoing, signal, allowRemote);
  } catch (error) {
    if (timer.signal.aborted) return { error: `No response within ${timeoutMs / 1000} s.`, code: 'timeout' };
    return toFailure(stop?.aborted ? stop.reason : error);
  } finally {
    clearTimeout(timeout);
  }
}

async function call(handler: Exclude<WebhookTarget, string>, outgoing: Outgoing): Promise<Sent> {
  const response = await handler(toRequest(handler, outgoing));
  // A response of another library's class is accepted too.
  if (typeof response?.text !== 'function')
    throw new TypeError(
      'The handler returned no Response. nodeHandler() belongs to node:http; here, use handler().',
    );
  const { status, headers } = response;
  return { status, headers: Object.fromEntries(headers), body: await response.text() };
}

/** Returns a delivery as the request that the receiver's route gets. */
export function toRequest(target: WebhookTarget | undefined, { headers, repeated = {}, body }: Outgoing) {
  const url = typeof target === 'string' ? target : 'http://localhost/webhooks';
  const request = new Request(url, { method: 'POST', headers, body });
  for (const [name, value] of Object.entries(repeated)) request.headers.append(name, value);
  return request;
}

function toFailure(error: unknown): Sent {
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
  if (problem !== undefined) throw new TargetError(problem);
  // The body is sent as bytes: Node writes the headers before a string in the encoding of that string, UTF-8.
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
