import { once } from 'node:events';
import { untilAborted } from '../../sending/abort.js';
import { SandboxError } from '../checks.js';
import { randomId } from '../service/ids.js';
import { fetchFailed, NetworkFault } from './fault-response.js';
import type { Guard } from './guard.js';
import { type Handle, type Listening, type ListenOptions, readListenOptions, serve } from './node.js';

/** Port on which the command serves by default, and on which the other commands look for a sandbox. */
export const usualPort = 4380;

/** Origin in process. It is a loopback name, so that clients accept it without https. */
const inProcessUrl = 'http://sandbox.localhost';

/** Creates the entrances of the sandbox: in process at once, and through a socket once it listens. */
export function newListening(handle: Handle, guard: Guard, publicUrl: string | undefined, tick: () => void) {
  let opening: Promise<Listening> | undefined;
  let server: Listening | undefined;
  let ticking: NodeJS.Timeout | undefined;
  let closing = new AbortController();

  /** Handles a request in process. A network fault rejects as it does with the platform's `fetch`. */
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
    const given = readListenOptions(options);
    server = await serve(handle, given, publicUrl);
    if (!server.local) guard.accessToken = given.accessToken || randomId();
    ticking = setInterval(tick, 200).unref();
    return server;
  }

  const listening = {
    get url(): string {
      return server?.url ?? inProcessUrl;
    },
    /** Origin by which a browser reaches the sandbox. */
    get origin(): string {
      return publicUrl ?? listening.url;
    },
    checkoutUrl: (id: string) => `${listening.origin}/pay/${id}`,
    get listens(): boolean {
      return server !== undefined;
    },
    /** Command that runs the doctor on the webhook that is set. */
    get doctorCommand(): string {
      if (server === undefined) return 'await sandbox.doctor()';
      const isUsual = new URL(server.url).port === String(usualPort);
      return `npx merchant-payments doctor${isUsual ? '' : ` --sandbox ${server.url}`}`;
    },
    /** Signal that `close()` aborts, to end all waits. */
    get closing(): AbortSignal {
      return closing.signal;
    },

    async fetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
      const address = typeof input === 'string' && input.startsWith('/') ? listening.url + input : input;
      const request = address instanceof Request && init === undefined ? address : new Request(address, init);
      request.signal.throwIfAborted();
      return untilAborted(inProcess(request), request.signal);
    },

    async listen(options: ListenOptions): Promise<void> {
      if (server)
        throw new SandboxError('invalid_options', `The sandbox listens already, on ${listening.url}.`);
      opening ??= open(options).finally(() => {
        opening = undefined;
      });
      await opening;
    },

    async close(): Promise<void> {
      const open = (await opening?.catch(() => undefined)) ?? server;
      server = undefined;
      guard.accessToken = undefined;
      clearInterval(ticking);
      closing.abort();
      closing = new AbortController();
      await open?.close();
    },
  };
  return listening;
}
