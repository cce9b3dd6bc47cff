import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP } from 'node:net';
import type { Outgoing, Sent } from '../../doctor/delivery.js';
import { addressProblem, addressRefused, guardedLookup } from './addresses.js';

/** Bytes of a response that are read at most; the rest is dropped. */
const readAtMost = 64 * 1024;

/** Posts a body to a URL: no redirects, an address that may be called, a response read as far as it matters. */
export function post(
  url: string,
  { headers, body, signal, allowRemote }: Outgoing & { signal: AbortSignal; allowRemote: boolean },
): Promise<Sent> {
  const target = new URL(url);
  const literal = target.hostname.replace(/^\[|\]$/g, '');
  const problem = isIP(literal) === 0 ? undefined : addressProblem(literal, allowRemote);
  if (problem !== undefined) return Promise.reject(addressRefused(problem));
  return new Promise((resolve, reject) => {
    const send = target.protocol === 'https:' ? httpsRequest : httpRequest;
    const request = send(
      target,
      {
        method: 'POST',
        headers: { ...headers, 'content-length': String(Buffer.byteLength(body)) },
        agent: false,
        signal,
        lookup: guardedLookup(allowRemote),
      },
      (response) => {
        const chunks: Buffer[] = [];
        let size = 0;
        const done = () => {
          const text = Buffer.concat(chunks).subarray(0, readAtMost).toString('utf8');
          resolve({ status: response.statusCode ?? 0, headers: joined(response.headers), body: text });
          request.destroy();
        };
        response.on('data', (chunk: Buffer) => {
          chunks.push(chunk);
          size += chunk.byteLength;
          if (size >= readAtMost) done();
        });
        response.on('end', done);
        response.on('error', reject);
      },
    );
    request.on('error', reject);
    request.end(body);
  });
}

function joined(headers: NodeJS.Dict<string | string[]>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, [value ?? []].flat().join(', ')]),
  );
}
