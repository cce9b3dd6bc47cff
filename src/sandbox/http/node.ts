import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { getRequestListener } from '@hono/node-server';
import * as z from 'zod/mini';
import { integer } from '../../input/read.js';
import { isLoopback } from '../../input/url.js';
import { readOptions, SandboxError } from '../checks.js';
import { NetworkFault } from './fault-response.js';

/** Options of `sandbox.listen()`. */
export interface ListenOptions {
  /** Port to listen on. Default: a free one. */
  port?: number | undefined;
  /** Address to listen on. Default `'127.0.0.1'`, which only this machine can reach. */
  host?: string | undefined;
  /** Host names that pages and control routes respond to, besides loopback names and `publicUrl`. Default: none. */
  allowHosts?: readonly string[] | undefined;
  /** Token that dashboard and control routes require if other machines can reach the sandbox. Default: random. */
  accessToken?: string | undefined;
}

const noHost = 'must be an address, such as "127.0.0.1".';
const listenOptions = z.strictObject({
  port: z._default(integer(0, 65_535), 0),
  // Node reads an empty host as every address of the machine.
  host: z._default(z.string(noHost).check(z.minLength(1, noHost)), '127.0.0.1'),
  allowHosts: z._default(z.array(z.string()), []),
  accessToken: z.optional(z.string()),
});

type CheckedListenOptions = z.output<typeof listenOptions>;

export const readListenOptions = (options: ListenOptions): CheckedListenOptions =>
  readOptions('listen', listenOptions, options);

export type Handle = (request: Request) => Promise<Response>;

/** An open socket in front of the sandbox. `local` is true if only this machine can reach it. */
export type Listening = Awaited<ReturnType<typeof serve>>;

/** Serves the sandbox over HTTP. Slow requests are cut off, so that none holds the sandbox up. */
export async function serve(handle: Handle, options: CheckedListenOptions, publicUrl: string | undefined) {
  const { port, host, allowHosts } = options;
  // The adapter extends `Request` when it is loaded, which Jest with jsdom does not have, so it is imported only here.
  const adapter = await import('@hono/node-server');
  const { RESPONSE_ALREADY_SENT } = await import('@hono/node-server/utils/response');
  const answer: Parameters<typeof getRequestListener>[0] = (request, { incoming }) =>
    handle(request).catch(async (error: unknown) => {
      if (!(error instanceof NetworkFault)) throw error;
      // The socket is reset, or the caller waits until it gives up.
      if (error.fault !== 'timeout') incoming.socket.resetAndDestroy();
      else if (!incoming.socket.destroyed) await once(incoming.socket, 'close');
      return RESPONSE_ALREADY_SENT;
    });
  // By default the adapter replaces the process's own Request and Response.
  const listener = adapter.getRequestListener(answer, { overrideGlobalObjects: false });
  const rule: HostRule = { publicUrl, allowHosts, local: true };
  const limits = {
    headersTimeout: 10_000,
    requestTimeout: 30_000,
    connectionsCheckingInterval: 2_000,
    keepAliveTimeout: 5_000,
    requireHostHeader: false,
  };
  const server = createServer(limits, (request, response) => {
    if (isForUs(request, rule)) return void listener(request, response);
    response.writeHead(421, { 'content-type': 'text/plain', connection: 'close' });
    response.end('The sandbox does not serve this host name.\n');
  });
  server.listen(port, host);
  await once(server, 'listening').catch(({ code, message }: NodeJS.ErrnoException) => {
    const taken = `Port ${port} on ${host} is taken. End what uses it, or choose another port.`;
    const other = `Cannot listen on port ${port} of ${host} (${code ?? message}). Pass another host or port.`;
    throw code === 'EADDRINUSE'
      ? new SandboxError('port_taken', taken)
      : new SandboxError('invalid_options', other);
  });
  const at = server.address();
  if (typeof at !== 'object' || at === null) throw new Error('The socket has no address.');
  const everywhere = at.address === '0.0.0.0' || at.address === '::';
  const name = at.family === 'IPv6' ? `[${at.address}]` : at.address;
  const url = `http://${everywhere ? '127.0.0.1' : name}:${at.port}`;
  rule.local = !everywhere && isLoopback(new URL(url));
  return {
    url,
    local: rule.local,
    async close(): Promise<void> {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

/** The host names to respond to, without port. `local` is true if the socket listens on loopback only. */
type HostRule = { local: boolean; publicUrl: string | undefined; allowHosts: readonly string[] };

/**
 * True if a request is for the sandbox. Its target must be a path and not another server's URL, and its one Host header must name
 * the sandbox and not an attacker's host (DNS rebinding). The port may differ, because a container's port may be mapped. A health
 * check may have any name, and so may the documented API if other machines can reach it, because its key guards it.
 */
function isForUs({ rawHeaders, headers, url: path = '' }: IncomingMessage, rule: HostRule): boolean {
  const hosts = rawHeaders.filter((text, index) => index % 2 === 0 && text.toLowerCase() === 'host');
  if (hosts.length !== 1 || !path.startsWith('/')) return false;
  if (path === '/_sandbox/health' || (!rule.local && path.startsWith('/v1/'))) return true;
  const { host } = headers;
  if (host === undefined || !/^[\w.:[\]-]+$/.test(host) || !URL.canParse(`http://${host}`)) return false;
  const url = new URL(`http://${host}`);
  if (rule.publicUrl !== undefined && url.host === new URL(rule.publicUrl).host) return true;
  return isLoopback(url) || rule.allowHosts.some((name) => name.toLowerCase() === url.hostname);
}
