import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP } from 'node:net';
import type { Outgoing, Sent } from '../../sending/delivery.js';
import { addressProblem, addressRefused, guardedLookup } from './addresses.js';

/** How many bytes of a response are read; the rest is dropped. */
const readAtMost = 64 * 1024;

/** Posts a body to a URL. Follows no redirect, refuses forbidden addresses, reads only the beginning of the response. */
export async function post(
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
  const literal = target.hostname.replace(/^\[|\]$/g, '');
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
