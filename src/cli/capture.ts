import { rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import { escapeInvisible } from '../input/visible.js';
import { listenOn } from '../sending/ports.js';
import { command, type FlagTable } from './command.js';
import { resultFlags, showIdentification } from './identify.js';
import { searchScheme } from './signing.js';
import { CommandError, codeOf, warn } from './terminal.js';

const defaultPort = 4390;
const longestBody = 1024 * 1024;
const captureText = 'Captured by merchant-payments. Please deliver it again.\n';

const flags = {
  port: ['<port>', `port to listen on; default ${defaultPort}`],
  host: ['<address>', 'address to listen on; default 127.0.0.1, which a tunnel on this machine reaches'],
  out: ['<file>', 'where to store the delivery; default delivery-<time>.json'],
  ...resultFlags,
} satisfies FlagTable;

export const capture = command({
  summary: 'stores one real delivery byte for byte, and finds out how it is signed',
  usage:
    'capture [flags]\n\nIt responds 500, so that a service that retries sends the delivery again. If yours does not, fulfil the captured\n' +
    'payment by hand. Exit code 1 if no known scheme fits.',
  example: 'capture --port 4390',
  flags,
  async run(given) {
    const url = given.url('url');
    const port = given.integer('port', 0, 65_535) ?? defaultPort;
    const file = given.text('out') ?? `delivery-${new Date().toISOString().replaceAll(/[:.]/g, '-')}.json`;
    // A file that cannot be written fails here, before the one delivery arrives and would be lost.
    writeNew(file, '');
    rmSync(file);
    const { path, headers, body: rawBody } = await record(port, given.text('host') ?? '127.0.0.1');
    const texts = { bodyBase64: rawBody.toString('base64'), bodyText: rawBody.toString('utf8') };
    const content = { receivedAt: new Date().toISOString(), path, headers, ...texts };
    writeNew(file, `${JSON.stringify(content, null, 2)}\n`);
    warn(`Captured ${rawBody.length} bytes in ${file}. It holds a customer's payment: delete it when done.`);
    warn(`To search again: merchant-payments identify ${file}\n`);
    return showIdentification(given, await searchScheme({ rawBody, headers, url }));
  },
});

/** Writes a new file that only its owner can read: it holds a customer's payment. */
function writeNew(name: string, text: string): void {
  try {
    writeFileSync(name, text, { mode: 0o600, flag: 'wx' });
  } catch (error) {
    const code = codeOf(error);
    const why = code === 'EEXIST' ? 'exists already' : `cannot be written (${code})`;
    throw new CommandError(`${name} ${why}. Pass another --out.`);
  }
}

type Captured = { path: string; headers: (readonly [string, string])[]; body: Buffer };

/** Waits for the first signed POST. Other requests get a response and are reported. */
async function record(port: number, host: string): Promise<Captured> {
  const server = createServer({ requestTimeout: 30_000 });
  const captured = new Promise<Captured>((resolve) => {
    server.on('request', async (request, response) => {
      const { method, url: path = '/', rawHeaders } = request;
      const body = await bodyOf(request).catch(() => undefined);
      const refused = refusal(request, body);
      const { status = 500, text = captureText } = refused ?? {};
      const head = { connection: 'close', 'content-type': 'text/plain', allow: 'POST' };
      response.writeHead(status, head).end(text);
      if (refused || !body)
        return warn(escapeInvisible(`A ${method} to ${path} ${refused?.says}. Still waiting.`));
      response.once('close', () => resolve({ path, headers: pairs(rawHeaders), body }));
    });
  });
  const bound = await listenOn(server, port, host).catch((error: unknown) => {
    const code = codeOf(error);
    const where = `port ${port} of ${host} (${code === 'EADDRINUSE' ? 'it is taken' : code})`;
    throw new CommandError(`Cannot listen on ${where}. Pass another --host or --port.`);
  });
  warn(
    `Waiting on http://${host.includes(':') ? `[${host}]` : host}:${bound} for one delivery.\n` +
      "Expose it with a tunnel such as ngrok or cloudflared, enter the tunnel's URL under Developer, Webhook Settings,\n" +
      'and make one payment. Ctrl+C ends it.',
  );
  return captured.finally(() => server.close().closeAllConnections());
}

/** Returns the reason why a request is no signed delivery, with the response to send; `undefined` if it is one. */
function refusal({ method, headers }: IncomingMessage, body: Buffer | undefined) {
  if (!body) return { text: '', says: 'broke off in its body' };
  if (method !== 'POST') return { status: 405, text: '', says: 'is no delivery: webhooks are POST' };
  if (body.byteLength > longestBody) return { status: 413, text: '', says: 'has a body over 1 MiB' };
  if (headers['x-service-signature'] !== undefined) return undefined;
  return { text: 'Not captured: x-service-signature is missing.\n', says: 'has no x-service-signature' };
}

/** Returns the body, cut a little past the limit. A longer body is read to its end, because many senders read no response before that. */
async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    if (size <= longestBody) chunks.push(chunk);
    size += chunk.byteLength;
  }
  return Buffer.concat(chunks);
}

const pairs = (raw: readonly string[]) =>
  raw.flatMap((name, index) => (index % 2 === 0 ? [[name, raw[index + 1] ?? ''] as const] : []));
