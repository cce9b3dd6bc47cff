import { createServer, type IncomingMessage } from 'node:http';
import { identifyScheme } from '../doctor/identify.js';
import { visible } from '../schemas/visible.js';
import type { Command } from './command.js';
import { Flags } from './flags.js';
import { printIdentification } from './identify.js';
import { checkNewFile, saveDelivery } from './saved-delivery.js';
import { CommandError, warn } from './terminal.js';
import { webhookSecret } from './webhook-secret.js';

const defaultPort = 4390;
const longestBody = 1024 * 1024;

const flags = {
  port: { value: '<port>', text: `port to listen on; default ${defaultPort}` },
  host: { value: '<address>', text: 'address to listen on; default 127.0.0.1, behind your tunnel' },
  out: { value: '<file>', text: 'where to store the delivery; default delivery-<time>.json' },
  url: { value: '<url>', text: 'your webhook URL as the service knows it; some services sign it too' },
  json: { text: 'prints the result as JSON' },
} as const;

interface Captured {
  path: string;
  headers: [string, string][];
  body: Buffer;
}

export const capture: Command = {
  summary: 'stores one real delivery byte for byte, and finds out how it is signed',
  usage:
    'capture [flags]\n\nIt responds 500, so that the service retries the delivery if it does that at all. If not, fulfil the captured\n' +
    'payment by hand. Exit code 1 when no known scheme fits.',
  example: 'capture --port 4390',
  flags,
  async run(args) {
    const given = new Flags(flags, args);
    const port = given.integer('port', 0, 65_535) ?? defaultPort;
    const file = given.text('out') ?? `delivery-${new Date().toISOString().replaceAll(/[:.]/g, '-')}.json`;
    checkNewFile(file);
    const delivery = await record(port, given.text('host') ?? '127.0.0.1');
    saveDelivery(file, delivery);
    warn(
      `Captured ${delivery.body.byteLength} bytes in ${file}. It holds a customer's payment: delete it when done.\n` +
        `To search again: merchant-payments identify ${file}\n`,
    );
    const secret = await webhookSecret();
    const { headers, body: rawBody } = delivery;
    return printIdentification(
      identifyScheme({ rawBody, headers, secret, url: given.text('url') }),
      given.has('json'),
    );
  },
};

/** Waits for the first signed POST. Other requests get a response and are reported. */
function record(port: number, host: string): Promise<Captured> {
  return new Promise((resolve, reject) => {
    const server = createServer({ requestTimeout: 30_000 }, async (request, response) => {
      const respond = (status: number, text = '') =>
        response
          .writeHead(status, { connection: 'close', 'content-type': 'text/plain', allow: 'POST' })
          .end(text);
      const waitOn = (what: string) => warn(`${visible(what)} Still waiting.`);
      const { method, url: path = '/', headers, rawHeaders } = request;
      const body = await bodyOf(request).catch(() => undefined);
      if (body === undefined) return waitOn(`A ${method} to ${path} broke off in its body.`);
      if (method !== 'POST') {
        respond(405);
        return waitOn(`A ${method} to ${path} is no delivery: webhooks are POST.`);
      }
      if (body === 'too large') {
        respond(413);
        return waitOn(`A POST to ${path} has a body over 1 MiB.`);
      }
      if (headers['x-service-signature'] === undefined) {
        respond(500, 'Not captured: x-service-signature is missing.\n');
        return waitOn(`A POST to ${path} has no x-service-signature.`);
      }
      respond(500, 'Captured by merchant-payments. Please deliver it again.\n');
      response.once('close', () => {
        server.close();
        server.closeAllConnections();
        resolve({ path, headers: pairs(rawHeaders), body });
      });
    });
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(
        error.code === 'EADDRINUSE'
          ? new CommandError(`Port ${port} on ${host} is taken. Pass another --port.`)
          : new CommandError(`Cannot listen on ${host}: ${error.code ?? error.message}.`),
      ),
    );
    server.listen(port, host, () => {
      const address = server.address();
      const bound = typeof address === 'object' && address !== null ? address.port : port;
      warn(
        `Waiting on http://${host.includes(':') ? `[${host}]` : host}:${bound} for one delivery.\n` +
          "Expose it with a tunnel such as ngrok or cloudflared, enter the tunnel's URL under Developer, Webhook Settings,\n" +
          'and make one payment. Ctrl+C ends it.',
      );
    });
  });
}

/** The whole body. A longer one is read to its end too: many senders read no response before they have sent all. */
async function bodyOf(request: IncomingMessage): Promise<Buffer | 'too large'> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    size += chunk.byteLength;
    if (size <= longestBody) chunks.push(chunk);
  }
  return size > longestBody ? 'too large' : Buffer.concat(chunks);
}

function pairs(raw: readonly string[]): [string, string][] {
  return raw.flatMap((name, index): [string, string][] =>
    index % 2 === 0 ? [[name, raw[index + 1] ?? '']] : [],
  );
}
