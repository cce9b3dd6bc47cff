import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingHttpHeaders } from 'node:http';

/** A delivery as it reached a receiver. */
export interface ReceivedDelivery {
  headers: IncomingHttpHeaders;
  headersDistinct?: NodeJS.Dict<string[]>;
  body: Buffer;
  path: string;
}

export interface Reply {
  status: number;
  headers?: Record<string, string>;
  body?: string;
}

export interface Receiver {
  url: string;
  received: ReceivedDelivery[];
  close(): Promise<void>;
}

/** A webhook receiver of plain `node:http`. */
export async function listen(
  answer: (delivery: ReceivedDelivery) => Reply | Promise<Reply> | 'hang up',
): Promise<Receiver> {
  const received: ReceivedDelivery[] = [];
  // A handler that throws is a 500 in every framework.
  const respond = async (delivery: ReceivedDelivery) => {
    try {
      return await answer(delivery);
    } catch {
      return { status: 500, body: 'Internal Server Error' };
    }
  };
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { headers, headersDistinct } = request;
    const delivery = { headers, headersDistinct, body: Buffer.concat(chunks), path: request.url ?? '' };
    received.push(delivery);
    const reply = await respond(delivery);
    if (reply === 'hang up') return void request.socket.destroy();
    response.writeHead(reply.status, reply.headers).end(reply.body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}/webhooks`,
    received,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** The parts of a verification, each of which a receiver can get wrong. */
export interface VerificationParts {
  /** Decodes the body. */
  body?: (body: Buffer) => string | Buffer;
  text?: (timestamp: string, body: string | Buffer) => (string | Buffer)[];
  key?: string | Buffer;
  encoding?: 'hex' | 'base64';
  prefix?: string;
  /** Milliseconds of the timestamp. */
  milliseconds?: (timestamp: string) => number;
  toleranceMs?: number;
}

/** Verifies by the default scheme, written without this package; returns whether it holds. */
export function holds(
  delivery: ReceivedDelivery,
  secret: string,
  verifying: VerificationParts = {},
): boolean {
  const {
    body = (bytes) => bytes,
    text = (timestamp, bytes) => [`${timestamp}.`, bytes],
    key = secret,
    encoding = 'hex',
    prefix = '',
    milliseconds = (timestamp) => Number(timestamp) * 1000,
    toleranceMs = 300_000,
  } = verifying;
  const signature = String(delivery.headers['x-service-signature'] ?? '');
  const timestamp = String(delivery.headers['x-service-timestamp'] ?? '');
  const mac = createHmac('sha256', key);
  for (const part of text(timestamp, body(delivery.body))) mac.update(part);
  const expected = Buffer.from(prefix + mac.digest(encoding));
  const given = Buffer.from(signature);
  const fresh = Math.abs(Date.now() - milliseconds(timestamp)) <= toleranceMs;
  return fresh && given.byteLength === expected.byteLength && timingSafeEqual(given, expected);
}
