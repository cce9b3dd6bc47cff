import { createServer, type IncomingMessage, type Server } from 'node:http';
import { identifyScheme } from '../doctor/identify.js';
import type { Command } from './command.js';
import { Flags } from './flags.js';
import { tell } from './identify.js';
import { saveDelivery } from './saved-delivery.js';
import { CommandError, UsageError } from './terminal.js';
import { webhookSecret } from './webhook-secret.js';

const defaultPort = 4390;
const longestBody = 1024 * 1024;

const flags = {
  port: { value: '<port>', text: `port to listen on; default ${defaultPort}` },
  host: { value: '<address>', text: 'address to listen on; default 127.0.0.1, behind your tunnel' },
  out: { value: '<file>', text: 'where to keep the delivery; default delivery-<time>.json' },
  url: { value: '<url>', text: 'your webhook address as the service knows it; some services sign it too' },
  json: { text: 'prints the result as JSON' },
  help: { text: 'shows this' },
} as const;

interface Captured {
  path: string;
  headers: [string, string][];
  body: Buffer;
}

/** Records one real delivery byte for byte and tells how it is signed. */
export const capture: Command = {
  summary: 'records one real delivery byte for byte, and tells how it is signed',
  usage:
    'capture [flags]\n\nIt answers 500, so that the sender delivers again later: nothing is lost by capturing. ' +
    'Exit code 1 when no known scheme fits.',
  flags,
  async run(args) {
    const given = new Flags(flags, args);
    if (given.positionals.length > 0) throw new UsageError('capture takes no arguments but flags.');
    const port = given.integer('port', 0, 65_535) ?? defaultPort;
    const delivery = await record(port, given.text('host') ?? '127.0.0.1');
    const file = given.text('out') ?? `delivery-${new Date().toISOString().replaceAll(/[:.]/g, '-')}.json`;
    saveDelivery(file, delivery);
    process.stderr.write(
      `Captured ${delivery.body.byteLength} bytes, kept in ${file}. It holds a customer's payment: delete it when done.\n` +
        `Again, without a new delivery: merchant-payments identify ${file}\n\n`,
    );
    const secret = await webhookSecret();
    const { headers, body: rawBody } = delivery;
    return tell(identifyScheme({ rawBody, headers, secret, url: given.text('url') }), given.has('json'));
  },
};

/** Waits for the first signed POST. Whatever else comes is answered, told and waited past. */
function record(port: number, host: string): Promise<Captured> {
  return new Promise((resolve, reject) => {
    const server = createServer({ requestTimeout: 30_000 }, async (request, response) => {
      const body = await bodyOf(request);
      if (request.method !== 'POST' || body === undefined) {
        response.writeHead(body === undefined ? 413 : 405, { allow: 'POST', connection: 'close' }).end();
        return;
      }
      response.writeHead(500, { connection: 'close', 'content-type': 'text/plain' });
      response.end('Captured by merchant-payments. Please deliver it again.\n');
      if (request.headers['x-service-signature'] === undefined) {
        process.stderr.write(`A POST to ${request.url} has no x-service-signature. Waiting on.\n`);
        return;
      }
      response.once('close', () => {
        close(server);
        resolve({ path: request.url ?? '/', headers: pairs(request.rawHeaders), body });
      });
    });
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(
        error.code === 'EADDRINUSE'
          ? new CommandError(`Port ${port} on ${host} is taken. Pass another --port.`)
          : new CommandError(`It cannot listen on ${host}: ${error.code ?? error.message}.`),
      ),
    );
    server.listen(port, host, () => {
      const address = server.address();
      const bound = typeof address === 'object' && address !== null ? address.port : port;
      process.stderr.write(
        `Waiting on http://${host.includes(':') ? `[${host}]` : host}:${bound} for one delivery.\n` +
          'Lead your public address here (a tunnel such as ngrok or cloudflared), enter it under Developer, Webhook\n' +
          'Settings, and let one payment happen. Ctrl+C ends it.\n',
      );
    });
  });
}

async function bodyOf(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    size += chunk.byteLength;
    if (size > longestBody) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function pairs(raw: readonly string[]): [string, string][] {
  return raw.flatMap((name, index): [string, string][] =>
    index % 2 === 0 ? [[name, raw[index + 1] ?? '']] : [],
  );
}

function close(server: Server): void {
  server.close();
  server.closeAllConnections();
}
