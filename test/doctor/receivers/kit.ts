import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import type { SignatureScheme } from 'merchant-payments/webhooks';

export const secret = 'whsec_9f2c4e7a10b35d68c1e4';

/** A request as a stranger's handler sees it. */
export interface Incoming {
  request: IncomingMessage;
  headers: IncomingHttpHeaders;
  method: string;
  path: string;
  body: Buffer;
  text: string;
  /** The two headers, empty if missing. */
  signature: string;
  timestamp: string;
}

/**
 * Status, body (an object is sent as JSON) and headers; `hang` never responds, `hang up` closes the connection, `die`
 * closes the server too.
 */
export type Answer =
  | readonly [number, (string | object)?, Record<string, string>?]
  | 'hang'
  | 'hang up'
  | 'die';
export type Receiver = (incoming: Incoming) => Answer | Promise<Answer>;

export const received: Answer = [200, { received: true }];
export const invalid: Answer = [400, { error: 'invalid signature' }];
export const html = { 'content-type': 'text/html; charset=utf-8' };

export interface Row {
  name: string;
  /** The codes that a person would report, separated by a space; `a|b` if either is true. Empty: nothing is wrong. */
  verdict: string;
  /** The same for warnings. */
  warnings?: string;
  /** A text that the report must contain. */
  says?: RegExp;
  /** Makes a receiver with a state of its own. */
  make: () => Receiver;
  /** The address to examine, if it is not `http://127.0.0.1:<port>/webhooks`. */
  url?: (port: number) => string;
  /** Milliseconds that a delivery may take: few where the receiver never responds. */
  patienceMs?: number;
  /** The scheme of the deliveries, if not the default. */
  scheme?: Partial<SignatureScheme>;
  /** The scheme that the doctor must find, by what differs from the default. */
  expects?: Partial<SignatureScheme>;
  /** The price of the doctor's orders, if not its usual one. */
  amount?: string;
}

/** A row of a table, short. */
export const row = (
  name: string,
  verdict: string,
  make: Row['make'],
  more: Omit<Row, 'name' | 'verdict' | 'make'> = {},
): Row => ({ name, verdict, make, ...more });

export const mac = (...parts: (string | Buffer)[]): string => macWith(secret, ...parts);

export function macWith(key: string | Buffer, ...parts: (string | Buffer)[]): string {
  const hmac = createHmac('sha256', key);
  for (const part of parts) hmac.update(part);
  return hmac.digest('hex');
}

/** The signature that the delivery should carry. */
export const signatureOf = ({ timestamp, body }: Incoming): string => mac(`${timestamp}.`, body);

export const isEqual = (a: string, b: string): boolean =>
  Buffer.byteLength(a) === Buffer.byteLength(b) && timingSafeEqual(Buffer.from(a), Buffer.from(b));

export const seconds = (): number => Date.now() / 1000;
export const isFresh = ({ timestamp }: Incoming, tolerance = 300): boolean =>
  /^\d+$/.test(timestamp) && Math.abs(seconds() - Number(timestamp)) <= tolerance;

/** A right verification by the default scheme. */
export const isGenuine = (incoming: Incoming): boolean =>
  isFresh(incoming) && isEqual(incoming.signature, signatureOf(incoming));

export const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

export interface Event {
  type: string;
  data: { order_id: string; amount: string; currency: string };
}
export const event = ({ text }: Incoming): Event => JSON.parse(text);
export const order = (incoming: Incoming): string => event(incoming).data.order_id;

const first = (value: string | string[] | undefined): string => String(value ?? '');

/** Serves a receiver on a free port. */
export async function serve(receiver: Receiver): Promise<{ port: number; close: () => Promise<void> }> {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    const { headers, method = '', url: path = '' } = request;
    const incoming: Incoming = {
      request,
      headers,
      method,
      path,
      body,
      text: body.toString(),
      signature: first(headers['x-service-signature']),
      timestamp: first(headers['x-service-timestamp']),
    };
    let answer: Answer;
    try {
      answer = await receiver(incoming);
    } catch (error) {
      const stack = error instanceof Error ? (error.stack ?? '') : '';
      answer = [500, `<pre>${stack}</pre>`, { 'content-type': 'text/html; charset=utf-8' }];
    }
    if (answer === 'hang') return;
    if (answer === 'die') server.close();
    if (answer === 'die' || answer === 'hang up') return void request.socket.destroy();
    const [status, said, more] = answer;
    const json = typeof said === 'object';
    response.writeHead(status, { ...(json && { 'content-type': 'application/json' }), ...more });
    response.end(json ? JSON.stringify(said) : said);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
