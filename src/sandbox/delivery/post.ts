import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP } from 'node:net';
import type { Outgoing } from '../../doctor/delivery.js';
import { addressProblem, addressRefused, guardedLookup } from './addresses.js';

/** What came back from a receiver. */
export interface Answer {
  status: number;
  headers: Record<string, string>;
  /** The beginning of the body. */
  body: string;
}

/** Bytes of an answer that are read at most; the rest is dropped. */
const readAtMost = 64 * 1024;

/** Posts a body to a URL: no redirects, an address that may be called, an answer read as far as it matters. */
export function post(
  url: string,
  { headers, body, signal, allowRemote }: Outgoing & { signal: AbortSignal; allowRemote: boolean },
): Promise<Answer> {
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
          const all = Buffer.concat(chunks).subarray(0, readAtMost).toString('utf8');
          resolve({ status: response.statusCode ?? 0, headers: plain(response.headers), body: all });
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

function plain(headers: NodeJS.Dict<string | string[]>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.join(', ') : (value ?? ''),
    ]),
  );
}
