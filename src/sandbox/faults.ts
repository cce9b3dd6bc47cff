import { SandboxError } from './sandbox-error.js';
import { milliseconds } from './service/duration.js';
import type { EventRecord } from './service/records.js';
import type { Fault, RequestFault, WebhookFault } from './types.js';

type Armed<One> = { fault: One; left: number };

/** The faults that were ordered and have not happened yet. The oldest that fits happens. */
export class Faults {
  #requests: Armed<RequestFault>[] = [];
  #webhooks: Armed<WebhookFault>[] = [];

  add(fault: Fault): void {
    check(fault);
    const left = fault.times ?? 1;
    if ('webhook' in fault) this.#webhooks.push({ fault, left });
    else this.#requests.push({ fault, left });
  }

  clear(): void {
    this.#requests = [];
    this.#webhooks = [];
  }

  /** The fault for a request, which is then used up. */
  forRequest(method: string, path: string): RequestFault | undefined {
    return takeFirst(this.#requests, ({ method: only, path: where }) => {
      if (only !== undefined && only.toUpperCase() !== method) return false;
      return where === undefined || (typeof where === 'string' ? where === path : path.search(where) !== -1);
    });
  }

  /** The fault for the first attempt to deliver an event. */
  forDelivery(event: EventRecord): WebhookFault | undefined {
    return event.attempts.length > 0 ? undefined : takeFirst(this.#webhooks, () => true);
  }
}

function takeFirst<One>(list: Armed<One>[], fits: (fault: One) => boolean): One | undefined {
  const index = list.findIndex(({ fault }) => fits(fault));
  const armed = list[index];
  if (!armed) return undefined;
  armed.left--;
  if (armed.left === 0) list.splice(index, 1);
  return armed.fault;
}

/** A fault in a few words, for the log. */
export function describeFault(fault: RequestFault): string {
  if ('network' in fault) return `${fault.network} ${fault.when ?? 'before'}`;
  if ('status' in fault) return `status ${fault.status}`;
  return 'malformed' in fault ? fault.malformed : 'delay';
}

/** The connection breaks, or nothing answers. Each adapter shows it in its own way. */
export class NetworkFault extends Error {
  readonly fault: 'reset' | 'timeout' | 'refused';

  constructor(fault: 'reset' | 'timeout' | 'refused') {
    super(`A fault was ordered: ${fault}.`);
    this.fault = fault;
  }
}

/** What the platform's `fetch` rejects with when a connection breaks. */
export function fetchFailed(fault: 'reset' | 'refused'): TypeError {
  const [code, syscall] = fault === 'reset' ? ['ECONNRESET', 'read'] : ['ECONNREFUSED', 'connect'];
  const cause = Object.assign(new Error(`${syscall} ${code}`), { code, syscall });
  return new TypeError('fetch failed', { cause });
}

/** Whether the request is worked on before the fault. */
export function comesAfterWork(fault: RequestFault): boolean {
  if ('status' in fault || 'network' in fault) return fault.when === 'after';
  return !('malformed' in fault) || fault.when !== 'before';
}

/** The answer of a fault. `real` is what the sandbox answered, where the fault came after the work. */
export async function faultyAnswer(fault: RequestFault, real: Response | undefined): Promise<Response> {
  if ('network' in fault) throw new NetworkFault(fault.network);
  if ('status' in fault) return withStatus(fault);
  if (!('malformed' in fault)) return real ?? withStatus({ status: 503 });
  const text = real ? await real.text() : '{"code":0,"message":"success","data":{}}';
  const headers = { 'content-type': 'application/json' };
  switch (fault.malformed) {
    case 'html':
      return new Response('<!doctype html><title>Please wait</title><p>One moment, please.</p>', {
        headers: { 'content-type': 'text/html' },
      });
    case 'truncated':
      return new Response(text.slice(0, Math.floor(text.length / 2)), { headers });
    case 'empty':
      return new Response('', { headers });
    case 'not-enveloped':
      return new Response(JSON.stringify(dataOf(text)), { headers });
    case 'code-not-zero':
      return new Response(JSON.stringify({ code: 1, message: 'A fault was ordered.' }), { headers });
  }
}

function withStatus({
  status,
  body,
  headers,
}: {
  status: number;
  body?: unknown;
  headers?: unknown;
}): Response {
  const own = new Headers(Object.entries(headers ?? {}));
  const text =
    typeof body === 'string'
      ? body
      : JSON.stringify(body ?? { code: status, message: 'A fault was ordered.' });
  if (!own.has('content-type'))
    own.set('content-type', typeof body === 'string' ? 'text/plain' : 'application/json');
  const empty = status === 204 || status === 205 || status === 304;
  return new Response(empty ? null : text, { status, headers: own });
}

function dataOf(envelope: string): unknown {
  const parsed: unknown = JSON.parse(envelope);
  return typeof parsed === 'object' && parsed !== null && 'data' in parsed ? parsed.data : {};
}

const malformed = ['html', 'truncated', 'empty', 'not-enveloped', 'code-not-zero'];
const network = ['reset', 'timeout', 'refused'];
const tampers = ['body', 'signature', 'timestamp', 'missing', 'secret', 'stale', 'future'];

function check(fault: Fault): void {
  const { times = 1, delay } = fault;
  if (!Number.isInteger(times) || times < 1) throw invalid('times: pass an integer of at least 1.');
  if (delay !== undefined) milliseconds(delay, 'failNext: delay');
  if ('webhook' in fault) {
    if (fault.tamper !== undefined && !tampers.includes(fault.tamper))
      throw invalid(`tamper: pass one of ${tampers.join(', ')}.`);
    if (
      fault.duplicate !== undefined &&
      !(Number.isInteger(fault.duplicate) && fault.duplicate >= 1 && fault.duplicate <= 100)
    )
      throw invalid('duplicate: pass an integer from 1 to 100.');
    return;
  }
  if ('status' in fault) {
    if (!Number.isInteger(fault.status) || fault.status < 200 || fault.status > 599)
      throw invalid('status: pass an integer from 200 to 599.');
  } else if ('network' in fault) {
    if (!network.includes(fault.network)) throw invalid(`network: pass one of ${network.join(', ')}.`);
    if (fault.network === 'refused' && fault.when === 'after')
      throw invalid(
        'a refused connection carries no request: it cannot happen after the work. Pass network: "reset".',
      );
  } else if ('malformed' in fault) {
    if (!malformed.includes(fault.malformed))
      throw invalid(`malformed: pass one of ${malformed.join(', ')}.`);
  } else if (delay === undefined) {
    throw invalid('pass status, network, malformed, delay or webhook: what is to happen.');
  }
}

function invalid(message: string): SandboxError {
  return new SandboxError('invalid_options', `failNext: ${message}`);
}
