import type https from 'node:https';
import { isObject } from '../input/object.js';
import { keepConnections } from './connections.js';
import { Failure, readError, readProxy } from './failure.js';
import type { Carrier } from './given-fetch.js';
import { encodingsOf, headersFrom, largestBody, ReceivedResponse } from './response.js';

/**
 * Returns a `fetch` over `node:http` and `node:https`. It costs half as much as Node's own, and records exactly the point that a
 * request reached. It follows no redirects, asks for no compression, and reads no body beyond the limit.
 *
 * The modules are loaded with `require`, which tracers watch; importing `node:http` as ESM would also load all of Node's fetch.
 */
export function nodeHttp(baseUrl: URL, maxConnections: number): Carrier {
  const secure = baseUrl.protocol === 'https:';
  const require = process.getBuiltinModule('node:module').createRequire('/');
  const http: typeof https = require(secure ? 'node:https' : 'node:http');
  const globalOptions: unknown = Reflect.get(http.globalAgent, 'options');
  const { proxyEnv, ca } = isObject(globalOptions) ? globalOptions : {};
  // Only the global agent has the proxy of NODE_USE_ENV_PROXY, and the certificate authorities that a program gave it.
  const shared = { ...(isObject(proxyEnv) && { proxyEnv }), ...(ca !== undefined && { ca }) };
  const connections = keepConnections(http, { maxSockets: maxConnections, ...shared });
  const { agent } = connections;
  const { host, origin, port } = baseUrl;
  const hostname = baseUrl.hostname.replace(/^\[|\]$/g, '');
  // Certificates are checked whatever NODE_TLS_REJECT_UNAUTHORIZED says, so that no stranger gets the key.
  const server: https.RequestOptions = {
    agent,
    host: hostname,
    port,
    ...(secure && { rejectUnauthorized: true }),
  };
  const socketClass: unknown = secure
    ? process.getBuiltinModule('node:tls').TLSSocket
    : process.getBuiltinModule('node:net').Socket;
  const connectEvent = secure ? 'secureConnect' : 'connect';

  const makeRequest: Carrier = (url, { method, headers, body, signal }, progress) =>
    new Promise((resolve, reject) => {
      if (signal.aborted) return reject(new Failure('timeout'));
      const allHeaders: Record<string, string> = { host, ...headers };
      if (method !== 'GET') allHeaders['content-length'] = String(Buffer.byteLength(body ?? ''));
      const path = url.slice(origin.length);
      // Node's own `Connection` header stays, because without it an msw response without a length never ends.
      const request = http.request({ ...server, path, method, headers: allHeaders });
      // A promise settles once, so only the first result counts.
      const finish = (result: ReceivedResponse | Failure) => {
        signal.removeEventListener('abort', stop);
        if (result instanceof Failure) reject(result);
        else resolve(result);
      };
      const breakOff = (result: ReceivedResponse | Failure) => {
        finish(result);
        request.destroy();
        // The agent would keep the connection if the response has ended.
        request.socket?.destroy();
      };
      const fail = (...failure: ConstructorParameters<typeof Failure>) => breakOff(new Failure(...failure));
      const failWith = (error: unknown) => {
        const { kind, code, isUnsent } = readError(error);
        // An error that proves nothing counts as one after the request was sent. TLS fails before a connection only in its
        // handshake, when nothing was sent.
        if (progress.phase === 'connect' && !isUnsent && kind !== 'tls') progress.phase = 'exchange';
        const note = kind === 'tls' ? uncheckedTlsNote() : undefined;
        fail(kind ?? 'network', { code, note, ...readProxy(error, url) });
      };
      const stop = () => fail('timeout'); // the sender tells the caller's abort apart
      signal.addEventListener('abort', stop);
      request.on('socket', (socket) => {
        const noteConnection = () => {
          progress.phase = 'exchange';
        };
        // Mocks (msw, nock) appear to be connecting until they respond; only Node's own sockets are reliable.
        if (socket.connecting && socket.constructor === socketClass)
          socket.once(connectEvent, noteConnection);
        // A socket that failed at once, without a route, is no longer connecting either.
        else if (!socket.destroyed) noteConnection();
      });
      // Without this listener Node drops the connection, which looks like a failure of the network.
      request.on('upgrade', (_, socket) => {
        // Node 26 does not close this socket with the request.
        socket.destroy();
        fail('protocol');
      });
      request.on('response', (response) => {
        const { statusCode: status = 0, rawHeaders } = response;
        const headers = headersFrom(rawHeaders);
        const result = progress.noteHead({ status, headers });
        if (result) return breakOff(result);
        const chunks: Buffer[] = [];
        let size = 0;
        response
          .on('error', failWith)
          .on('data', (chunk: Buffer) => {
            size += chunk.byteLength;
            if (size > largestBody) fail('too_large');
            else chunks.push(chunk);
          })
          .on('end', () => {
            // A server that answers early may never read the rest, and its socket would keep the process alive.
            if (!request.writableFinished) request.destroy();
            // A single chunk is not copied: buffers lie outside the heap, and more of them cause more full collections.
            const [first = Buffer.alloc(0)] = chunks;
            const whole = chunks.length > 1 ? Buffer.concat(chunks) : first;
            const encoding = encodingsOf(headers.get('content-encoding')).join();
            try {
              finish(new ReceivedResponse(status, headers, decode(whole, encoding)));
            } catch (error) {
              failWith(error);
            }
          });
      });
      request.on('error', failWith);
      request.end(body ?? undefined);
    });

  return (url, init, progress) => {
    const closed = connections.closeUnusable(init.method !== 'GET');
    return closed ? closed.then(() => makeRequest(url, init, progress)) : makeRequest(url, init, progress);
  };
}

function uncheckedTlsNote(): string | undefined {
  const isUnchecked = process.env.NODE_TLS_REJECT_UNAUTHORIZED === '0';
  return isUnchecked
    ? 'NODE_TLS_REJECT_UNAUTHORIZED=0 is ignored, so that no stranger gets the API key'
    : undefined;
}

/**
 * Decompresses a body, because some servers compress without being asked. A body in several encodings or an unknown one is
 * returned unchanged. The readable part of a truncated body is kept, as in fetch.
 */
function decode(bytes: Buffer, encoding: string): Uint8Array {
  if (bytes.byteLength === 0 || !/^(?:gzip|x-gzip|deflate|br)$/.test(encoding)) return bytes;
  const zlib = process.getBuiltinModule('node:zlib');
  const limit = { maxOutputLength: largestBody };
  const options = { ...limit, finishFlush: zlib.constants.Z_SYNC_FLUSH };
  if (encoding === 'br') return zlib.brotliDecompressSync(bytes, limit);
  // Some servers leave out the header of zlib (RFC 9110, section 8.4.1.2), whose first byte ends in 8.
  const isBare = encoding === 'deflate' && (bytes.readUInt8() & 0xf) !== 8;
  return isBare ? zlib.inflateRawSync(bytes, options) : zlib.unzipSync(bytes, options);
}
