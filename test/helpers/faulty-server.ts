import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { setTimeout } from 'node:timers';
import { createServer as createTlsServer } from 'node:tls';
import type { Identity } from './certificate.js';

/** One request as it arrived, byte for byte. */
export interface ArrivedRequest {
  /** Counted from 1 over all connections. */
  number: number;
  method: string;
  /** The request target: path and query, undecoded. */
  target: string;
  /** Lines of the head after the first, undecoded. */
  headers: string[];
  body: string;
  /** On the clock of `performance.now()`. */
  at: number;
}

/** The server's way with a request: anything that can be done to a socket. */
export type Behaviour = (socket: Socket, request: ArrivedRequest) => void;

/** A server on a bare local socket, which responds as well or as badly as its behaviour says. */
export class FaultyServer {
  readonly requests: ArrivedRequest[] = [];
  /** Connections that are open now. */
  readonly sockets = new Set<Socket>();
  connections = 0;
  readonly #server: Server;
  readonly #scheme: 'http' | 'https';

  private constructor(
    behave: Behaviour,
    identity: Identity | undefined,
    onConnect?: (socket: Socket) => void,
  ) {
    this.#scheme = identity ? 'https' : 'http';
    const serve = (socket: Socket) => this.#serve(socket, behave);
    this.#server = identity ? createTlsServer(identity, serve) : createServer(serve);
    this.#server.on('connection', (socket: Socket) => {
      this.connections++;
      this.sockets.add(socket);
      socket.on('close', () => this.sockets.delete(socket));
      socket.on('error', () => {});
      onConnect?.(socket);
    });
  }

  static async start(
    behave: Behaviour,
    { identity, onConnect }: { identity?: Identity; onConnect?: (socket: Socket) => void } = {},
  ): Promise<FaultyServer> {
    const server = new FaultyServer(behave, identity, onConnect);
    server.#server.listen(0, '127.0.0.1');
    await once(server.#server, 'listening');
    return server;
  }

  get port(): number {
    const address = this.#server.address();
    if (typeof address !== 'object' || address === null) throw new Error('the server is not listening');
    return address.port;
  }

  get url(): string {
    return `${this.#scheme}://127.0.0.1:${this.port}`;
  }

  async close(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    for (const socket of this.sockets) socket.destroy();
    await closed;
  }

  #serve(socket: Socket, behave: Behaviour): void {
    socket.on('error', () => {});
    let received = Buffer.alloc(0);
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, Buffer.from(chunk)]);
      for (;;) {
        const end = received.indexOf('\r\n\r\n');
        if (end === -1) return;
        const [first = '', ...headers] = received.toString('latin1', 0, end).split('\r\n');
        const length = Number(/^content-length: (\d+)$/im.exec(headers.join('\n'))?.[1] ?? 0);
        if (received.length < end + 4 + length) return;
        const body = received.toString('utf8', end + 4, end + 4 + length);
        received = received.subarray(end + 4 + length);
        const [method = '', target = ''] = first.split(' ');
        const number = this.requests.length + 1;
        const request = { number, method, target, headers, body, at: performance.now() };
        this.requests.push(request);
        behave(socket, request);
      }
    });
  }
}

/** The bytes of a response with its length. */
export function rawResponse(
  status: number,
  body: string | Buffer = '',
  headers: Record<string, string> = {},
): Buffer {
  const bytes = Buffer.from(body);
  const lines = Object.entries({ 'content-type': 'application/json', ...headers });
  if (!('transfer-encoding' in headers)) lines.push(['content-length', String(bytes.length)]);
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  return Buffer.concat([Buffer.from(`HTTP/1.1 ${status} Reason\r\n${head}\r\n`), bytes]);
}

/** Responds to every request alike. */
export function respondWith(...whole: Parameters<typeof rawResponse>): Behaviour {
  const bytes = rawResponse(...whole);
  return (socket) => socket.write(bytes);
}

/** Responds with bytes that need not be HTTP, and then closes if asked to. */
export function writeBytes(bytes: string | Buffer, then: 'open' | 'close' | 'reset' = 'open'): Behaviour {
  return (socket) => {
    socket.write(bytes, () => {
      if (then === 'close') socket.end();
      // The bytes have to be read before the reset, which would drop them.
      if (then === 'reset') setTimeout(() => socket.resetAndDestroy(), 10);
    });
  };
}

/** Says nothing and keeps the connection. */
export const stall: Behaviour = () => {};

/** Breaks the connection with RST. */
export const resetSocket: Behaviour = (socket) => socket.resetAndDestroy();

/** Ends the connection with FIN. */
export const closeSocket: Behaviour = (socket) => socket.end();
