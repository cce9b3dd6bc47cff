import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { isLoopback } from '../../schemas/url.js';
import { integerProblem, refuse, SandboxError } from '../checks.js';
import { randomId } from '../service/store.js';
import { untilAborted } from '../signal.js';
import { fetchFailed, NetworkFault } from './fault-response.js';
import type { Guard } from './guard.js';

/** The origin in process: a loopback name, so that clients accept it without https. */
const inProcessUrl = 'http://sandbox.localhost';

/** How often a listening sandbox checks whether anything is due. */
const tickMs = 200;

/** How requests reach the sandbox: in process at once, and through a socket once it listens. */
export function newReach(
  handle: (request: Request) => Promise<Response>,
  guard: Guard,
  publicUrl: string | undefined,
  tick: () => void,
) {
  let opening: Promise<Listening> | undefined;
  let listening: Listening | undefined;
  let ticking: NodeJS.Timeout | undefined;
  let closing = new AbortController();

  /** A network fault as the platform's `fetch` shows it. */
  async function inProcess(request: Request): Promise<Response> {
    const closed = closing.signal;
    try {
      return await handle(request);
    } catch (error) {
      if (!(error instanceof NetworkFault)) throw error;
      if (error.fault === 'timeout') {
        const ended = AbortSignal.any([closed, request.signal]);
        if (!ended.aborted) await once(ended, 'abort');
      }
      throw fetchFailed(error);
    }
  }

  async function open(options: ListenOptions) {
    listening = await serve(handle, options, publicUrl);
    if (!listening.local) guard.accessToken = options.accessToken || randomId();
    ticking = setInterval(tick, tickMs).unref();
    return listening;
  }

  const reach = {
    get url(): string {
      return listening?.url ?? inProcessUrl;
    },
    /** Origin by which a browser reaches the sandbox. */
    get origin(): string {
      return publicUrl ?? reach.url;
    },
    checkoutUrl: (id: string) => `${reach.origin}/pay/${id}`,
    get listens(): boolean {
      return listening !== undefined;
    },
    /** Aborted by `close()`, to end all waits. */
    get closing(): AbortSignal {
      return closing.signal;
    },

    /** In process. A path is resolved against `url`. */
    async fetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
      const address = typeof input === 'string' && input.startsWith('/') ? reach.url + input : input;
      const request = address instanceof Request && init === undefined ? address : new Request(address, init);
      request.signal.throwIfAborted();
      return untilAborted(inProcess(request), request.signal);
    },

    /** Opens one socket, even if called twice at once. */
    async listen(options: ListenOptions): Promise<void> {
      if (listening)
        throw new SandboxError('invalid_options', `The sandbox listens already, on ${reach.url}.`);
      opening ??= open(options).finally(() => {
        opening = undefined;
      });
      await opening;
    },

    async close(): Promise<void> {
      const open = (await opening?.catch(() => undefined)) ?? listening;
      listening = undefined;
      guard.accessToken = undefined;
      clearInterval(ticking);
      closing.abort();
      closing = new AbortController();
      await open?.close();
    },
  };
  return reach;
}

/** Options of `sandbox.listen()`. */
export interface ListenOptions {
  /** Default: a free one. */
  port?: number | undefined;
  /** Default `'127.0.0.1'`: this machine alone. */
  host?: string | undefined;
  /** Names that pages and control routes respond to besides loopback names and `publicUrl`. Default: none. */
  allowHosts?: readonly string[] | undefined;
  /** What dashboard and control routes require if other machines can reach the sandbox. Default: random. */
  accessToken?: string | undefined;
}

/** An open socket in front of the sandbox. `local`: this machine alone can reach it. */
type Listening = Awaited<ReturnType<typeof serve>>;

/** Serves over HTTP. Slow requests are cut off, so that none holds the sandbox up. */
async function serve(
  handle: (request: Request) => Promise<Response>,
  { port = 0, host = '127.0.0.1', allowHosts = [] }: ListenOptions,
  publicUrl: string | undefined,
) {
  refuse('listen', 'port', integerProblem(port, 0, 65_535));
  // Node takes an empty one for every address of the machine.
  refuse('listen', 'host', host === '' ? 'pass an address, such as "127.0.0.1".' : undefined);
  const listener = getRequestListener(
    (request, { incoming }) =>
      handle(request).catch(async (error: unknown) => {
        if (!(error instanceof NetworkFault)) throw error;
        await spoil(incoming.socket, error.fault);
        return RESPONSE_ALREADY_SENT;
      }),
    // The adapter would replace the process's own Request and Response.
    { overrideGlobalObjects: false },
  );
  const allowed = allowHosts.map((name) => name.toLowerCase());
  const rule: HostRule = { publicUrl, allowed, local: true };
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

/** Produces a network fault: resets the socket, or keeps the caller waiting until it gives up. */
async function spoil(socket: Socket, fault: NetworkFault['fault']): Promise<void> {
  if (fault !== 'timeout') socket.resetAndDestroy();
  else if (!socket.destroyed) await once(socket, 'close');
}

/** Whether there is one Host header that names the sandbox, and a path instead of another server's address. */
function isForUs(request: IncomingMessage, rule: HostRule): boolean {
  const hosts = request.rawHeaders.filter((text, index) => index % 2 === 0 && text.toLowerCase() === 'host');
  const path = request.url ?? '';
  return hosts.length === 1 && path.startsWith('/') && hostAllowed(request.headers.host, path, rule);
}

/** The host names that a listening sandbox responds to. */
interface HostRule {
  /** Whether it listens on loopback alone. */
  local: boolean;
  publicUrl: string | undefined;
  /** More host names, in lower case as a URL has them, without port. */
  allowed: readonly string[];
}

/**
 * Whether a Host header names the sandbox, on any port, as a container's may be mapped, and not an attacker's host (DNS
 * rebinding). Any name does for a health check and, open to other machines, for the documented API: its key guards it.
 */
function hostAllowed(host: string | undefined, path: string, rule: HostRule): boolean {
  if (path === '/_sandbox/health' || (!rule.local && path.startsWith('/v1/'))) return true;
  if (host === undefined || !/^[\w.:[\]-]+$/.test(host) || !URL.canParse(`http://${host}`)) return false;
  const url = new URL(`http://${host}`);
  if (rule.publicUrl !== undefined && url.host === new URL(rule.publicUrl).host) return true;
  return isLoopback(url) || rule.allowed.includes(url.hostname);
}
