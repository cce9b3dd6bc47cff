import { untilAborted } from '../abort.js';
import { SandboxError } from '../sandbox-error.js';
import { randomId } from '../service/ids.js';
import type { Guard } from './guard.js';
import { type Listening, serve } from './node.js';
import { fetchFailed, NetworkFault } from './spoil.js';

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

/** The origin in process: a loopback name, so that clients accept it without https. */
const inProcessUrl = 'http://sandbox.localhost';

/** How often a listening sandbox looks whether something is due. */
const tickMs = 200;

/** How requests reach the sandbox: in process at once, and through a socket once it listens. */
export class Reach {
  readonly #handle: (request: Request) => Promise<Response>;
  readonly #guard: Guard;
  readonly #publicUrl: string | undefined;
  readonly #tick: () => void;
  #opening: Promise<Listening> | undefined;
  #listening: Listening | undefined;
  #ticking: NodeJS.Timeout | undefined;
  #closing = new AbortController();

  constructor(
    handle: (request: Request) => Promise<Response>,
    guard: Guard,
    publicUrl: string | undefined,
    tick: () => void,
  ) {
    this.#handle = handle;
    this.#guard = guard;
    this.#publicUrl = publicUrl;
    this.#tick = tick;
  }

  get url(): string {
    return this.#listening?.url ?? inProcessUrl;
  }

  /** Origin by which a browser reaches the sandbox. */
  get origin(): string {
    return this.#publicUrl ?? this.url;
  }

  get listens(): boolean {
    return this.#listening !== undefined;
  }

  /** Aborted by `close()`, to end what waits. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  /** In process. A path alone is taken to be under `url`. */
  async fetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
    const address = typeof input === 'string' && input.startsWith('/') ? this.url + input : input;
    const request = address instanceof Request && init === undefined ? address : new Request(address, init);
    request.signal.throwIfAborted();
    return untilAborted(this.#inProcess(request), request.signal);
  }

  /** A network fault as the platform's `fetch` shows it. */
  async #inProcess(request: Request): Promise<Response> {
    try {
      return await this.#handle(request);
    } catch (error) {
      if (!(error instanceof NetworkFault)) throw error;
      const silence = new Promise<never>(() => {});
      if (error.fault === 'timeout') await untilAborted(silence, this.closing).catch(() => undefined);
      throw fetchFailed(error.fault === 'refused' ? 'refused' : 'reset');
    }
  }

  /** Opens one socket, also for two calls at once. */
  async listen(options: ListenOptions): Promise<void> {
    if (this.#listening)
      throw new SandboxError('invalid_options', `The sandbox listens already, on ${this.url}.`);
    this.#opening ??= this.#open(options).finally(() => {
      this.#opening = undefined;
    });
    await this.#opening;
  }

  async #open({ port = 0, host = '127.0.0.1', allowHosts = [], accessToken }: ListenOptions) {
    const names = { publicUrl: this.#publicUrl, allowed: allowHosts };
    const listening = await serve(this.#handle, { port, host }, names);
    this.#listening = listening;
    if (!listening.local) this.#guard.accessToken = accessToken ?? randomId();
    this.#ticking = setInterval(this.#tick, tickMs);
    this.#ticking.unref();
    return listening;
  }

  async close(): Promise<void> {
    const listening = (await this.#opening?.catch(() => undefined)) ?? this.#listening;
    this.#listening = undefined;
    this.#guard.accessToken = undefined;
    clearInterval(this.#ticking);
    this.#closing.abort();
    this.#closing = new AbortController();
    await listening?.close();
  }
}
