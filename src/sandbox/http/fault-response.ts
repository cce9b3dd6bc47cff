import type { malformedFaults, networkFaults, RequestFault } from '../faults.js';

/** The connection breaks, or nothing responds. It looks different in process and on a socket. */
export class NetworkFault extends Error {
  constructor(readonly fault: (typeof networkFaults)[number]) {
    super(`A fault was injected: ${fault}.`);
  }
}

/** What the platform's `fetch` rejects with when a connection breaks. */
export function fetchFailed({ fault }: NetworkFault): TypeError {
  const [code, syscall] = fault === 'refused' ? ['ECONNREFUSED', 'connect'] : ['ECONNRESET', 'read'];
  const cause = Object.assign(new Error(`${syscall} ${code}`), { code, syscall });
  return new TypeError('fetch failed', { cause });
}

export function comesAfterWork(fault: RequestFault): boolean {
  if ('status' in fault || 'network' in fault) return fault.when === 'after';
  return !('malformed' in fault) || (fault.when !== 'before' && fault.malformed !== 'code-not-zero');
}

/** The response of a fault. `real` is the sandbox's own, if the fault comes after the work. */
export async function spoiltResponse(fault: RequestFault, real: Response | undefined): Promise<Response> {
  if ('network' in fault) throw new NetworkFault(fault.network);
  if ('status' in fault) return withStatus(fault);
  if (!('malformed' in fault)) return real ?? withStatus({ status: 503 });
  return malformed[fault.malformed](real ? await real.text() : '{"code":0,"message":"success","data":{}}');
}

const malformed: Record<(typeof malformedFaults)[number], (text: string) => Response> = {
  html: () => responseOf('<!doctype html><title>Please wait</title><p>One moment, please.</p>', 'text/html'),
  truncated: (text) => responseOf(text.slice(0, Math.floor(text.length / 2))),
  empty: () => responseOf(''),
  'not-enveloped': (text) => {
    const { data = {} }: { data?: unknown } = JSON.parse(text);
    return Response.json(data);
  },
  'code-not-zero': () => Response.json({ code: 1, message: 'A fault was injected.' }),
};

const responseOf = (text: string, type = 'application/json') =>
  new Response(text, { headers: { 'content-type': type } });

function withStatus({
  status,
  body = { code: status, message: 'A fault was injected.' },
  headers = {},
}: Extract<RequestFault, { status: number }>): Response {
  const own = new Headers(headers);
  const isText = typeof body === 'string';
  if (!own.has('content-type')) own.set('content-type', isText ? 'text/plain' : 'application/json');
  const init = { status, headers: own };
  if (status === 204 || status === 205 || status === 304) return new Response(null, init);
  return new Response(isText ? body : JSON.stringify(body), init);
}
