import type { malformedFaults, networkFaults, RequestFault } from '../faults.js';

/** A broken connection, or no response at all. In process and on a socket it is carried out differently. */
export class NetworkFault extends Error {
  constructor(readonly fault: (typeof networkFaults)[number]) {
    super(`A fault was injected: ${fault}.`);
  }
}

/** Returns the error that the platform's `fetch` rejects with when a connection breaks. */
export function fetchFailed(): TypeError {
  const cause = Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET', syscall: 'read' });
  return new TypeError('fetch failed', { cause });
}

/** Returns the response of a fault that happens before or after the work. `work` returns the sandbox's own response. */
export async function faultyResponse(fault: RequestFault, work: () => Promise<Response>): Promise<Response> {
  if ('status' in fault || 'network' in fault) {
    if (fault.when === 'after') await work();
    if ('status' in fault) return withStatus(fault);
    throw new NetworkFault(fault.network);
  }
  if (!('malformed' in fault)) return work();
  const real =
    fault.when === 'before' ? '{"code":0,"message":"success","data":{}}' : await (await work()).text();
  return malformed[fault.malformed](real);
}

const malformed: Record<(typeof malformedFaults)[number], (text: string) => Response> = {
  html: () => responseOf('<!doctype html><title>Please wait</title><p>One moment, please.</p>', 'text/html'),
  truncated: (text) => responseOf(text.slice(0, Math.floor(text.length / 2))),
};

const responseOf = (text: string, type = 'application/json') =>
  new Response(text, { headers: { 'content-type': type } });

function withStatus(fault: Extract<RequestFault, { status: number }>): Response {
  const { status, body = { code: status, message: 'A fault was injected.' }, headers = {} } = fault;
  const init = { status, headers };
  if (status === 204 || status === 205 || status === 304) return new Response(null, init);
  return typeof body === 'string' ? new Response(body, init) : Response.json(body, init);
}
