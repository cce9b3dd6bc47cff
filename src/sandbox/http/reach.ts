import { once } from 'node:events';
import { untilAborted } from '../../sending/abort.js';
import { SandboxError } from '../checks.js';
import { randomId } from '../service/ids.js';
import { fetchFailed, NetworkFault } from './fault-response.js';
import type { Guard } from './guard.js';
import { type Handle, type Listening, type ListenOptions, serve } from './node.js';

/** The origin in process: a loopback name, so that clients accept it without https. */
const inProcessUrl = 'http://sandbox.localhost';

/** How requests reach the sandbox: in process at once, and through a socket once it listens. */
export function newReach(handle: Handle, guard: Guard, publicUrl: string | undefined, tick: () => void) {
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
      throw fetchFailed();
    }
  }

  async function open(options: ListenOptions) {
    listening = await serve(handle, options, publicUrl);
    if (!listening.local) guard.accessToken = options.accessToken || randomId();
    ticking = setInterval(tick, 200).unref();
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

    async fetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
      const address = typeof input === 'string' && input.startsWith('/') ? reach.url + input : input;
      const request = address instanceof Request && init === undefined ? address : new Request(address, init);
      request.signal.throwIfAborted();
      return untilAborted(inProcess(request), request.signal);
    },

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
