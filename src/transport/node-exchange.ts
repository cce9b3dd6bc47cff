import type { IncomingMessage, RequestOptions } from 'node:http';
import type { Readable } from 'node:stream';
import {
  type Answer,
  type AnswerHead,
  type Carrier,
  ExchangeFailure,
  isBeforeSending,
  largestBody,
  type Outgoing,
  type Phase,
  textField,
} from './exchange.js';
import { shielded } from './shield.js';

/**
 * Exchanges over `node:http` and `node:https`: half the cost of Node's `fetch`, and exact about how far a request
 * came. Redirects are not followed, compression is not asked for, and no body is read beyond the limit.
 *
 * The modules come from the process: importing `node:http` as ESM would load all of Node's fetch with it.
 */
export function nodeCarrier(baseUrl: URL): Carrier {
  const secure = baseUrl.protocol === 'https:';
  const http = process.getBuiltinModule(secure ? 'node:https' : 'node:http');
  const agent = new http.Agent({
    keepAlive: true,
    scheduling: 'lifo',
    // Idle sockets go before a server or a gateway on the way drops them just as a write goes out.
    timeout: 4_000,
    // The proxy that NODE_USE_ENV_PROXY asks for is an option of the global agent alone.
    ...proxyOf(http.globalAgent),
  });
  const socketClass: unknown = secure
    ? process.getBuiltinModule('node:tls').TLSSocket
    : process.getBuiltinModule('node:net').Socket;
  const connectEvent = secure ? 'secureConnect' : 'connect';
  const server: RequestOptions = {
    agent,
    protocol: baseUrl.protocol,
    hostname: baseUrl.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: baseUrl.port,
  };

  return {
    begin(outgoing) {
      let phase: Phase = 'connect';
      let head: AnswerHead | undefined;
      let stop = (_reason: string) => {};
      const answer = new Promise<Answer>((resolve, reject) => {
        const request = http.request(requestTo(server, baseUrl.host, outgoing));
        const fail = (reason: string) => {
          reject(new ExchangeFailure(phase, reason, head));
          request.destroy();
        };
        stop = fail;
        request.on('socket', (socket) => {
          const connected = () => {
            phase = 'exchange';
          };
          // Mocks (msw, nock) seem to be connecting until they answer; only Node's own sockets tell the truth.
          if (socket.connecting && socket.constructor === socketClass) socket.once(connectEvent, connected);
          // A socket that failed at once, for want of a route, is no longer connecting either.
          else if (!socket.destroyed) connected();
        });
        request.on('response', (response) => {
          phase = 'body';
          head = { status: response.statusCode ?? 0, header: (name) => headerOf(response.rawHeaders, name) };
          receiveAnswer(response, head, resolve, fail);
        });
        request.on('error', (error) => {
          if (phase === 'connect' && !isBeforeSending(error)) phase = 'exchange';
          fail(codeOf(error));
        });
        request.end(outgoing.body);
      });
      return { answer, stop: (reason) => stop(reason) };
    },
  };
}

function proxyOf(agent: object): object {
  const options: unknown = Reflect.get(agent, 'options');
  const proxyEnv: unknown =
    typeof options === 'object' && options !== null && Reflect.get(options, 'proxyEnv');
  return proxyEnv ? { proxyEnv } : {};
}

function requestTo(
  server: RequestOptions,
  host: string,
  { method, target, headers, body }: Outgoing,
): RequestOptions {
  const whole: Record<string, string> = { host, ...headers };
  if (method !== 'GET') whole['content-length'] = String(Buffer.byteLength(body ?? ''));
  // Node's own `Connection` header stays: without it, an answer of msw's that announces no length never ends.
  return shielded({ ...server, path: target, method, headers: whole });
}

function receiveAnswer(
  response: IncomingMessage,
  head: AnswerHead,
  resolve: (answer: Answer) => void,
  fail: (reason: string) => void,
): void {
  const { status, header } = head;
  const finish = (body: Uint8Array) => {
    const announced = header('content-length') !== null || header('transfer-encoding') !== null;
    const delimited = announced && header('content-encoding') === null;
    resolve({ status, header, headers: () => headersOf(response.rawHeaders), body, delimited });
  };
  if (status >= 300 && status < 400) {
    finish(new Uint8Array());
    response.destroy();
    return;
  }
  if (Number(header('content-length')) > largestBody) {
    fail('too_large');
    return;
  }

  const chunks: Buffer[] = [];
  let size = 0;
  const source = decoded(response, header('content-encoding'));
  const breakOff = (reason: string) => {
    fail(reason);
    source.destroy();
  };
  source.on('data', (chunk: Buffer) => {
    size += chunk.byteLength;
    if (size > largestBody) breakOff('too_large');
    else chunks.push(chunk);
  });
  source.on('end', () => finish(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)));
  source.on('error', (error: Error) => breakOff(codeOf(error)));
  if (source !== response) response.on('error', (error) => breakOff(codeOf(error)));
}

/** Some servers compress without being asked. What a cut stream gave so far is kept, as fetch does it. */
function decoded(response: IncomingMessage, encoding: string | null): Readable {
  if (encoding === null || encoding === 'identity') return response;
  const zlib = process.getBuiltinModule('node:zlib');
  const finishFlush = zlib.constants.Z_SYNC_FLUSH;
  if (/^(?:x-)?gzip$/.test(encoding)) return response.pipe(zlib.createGunzip({ finishFlush }));
  if (encoding === 'deflate') return response.pipe(zlib.createInflate({ finishFlush }));
  if (encoding === 'br') return response.pipe(zlib.createBrotliDecompress());
  return response;
}

function headerOf(rawHeaders: readonly string[], name: string): string | null {
  for (let index = 0; index < rawHeaders.length; index += 2) {
    if (rawHeaders[index]?.length === name.length && rawHeaders[index]?.toLowerCase() === name) {
      return rawHeaders[index + 1] ?? null;
    }
  }
  return null;
}

function headersOf(rawHeaders: readonly string[]): Headers {
  const headers = new Headers();
  for (let index = 0; index < rawHeaders.length; index += 2) {
    headers.append(rawHeaders[index] ?? '', rawHeaders[index + 1] ?? '');
  }
  return headers;
}

function codeOf(error: Error): string {
  return textField(error, 'code') ?? 'network';
}
