import { PaymentsClient, type PaymentsClientOptions } from 'merchant-payments';
import { HttpResponse, http } from 'msw';
import { setupServer } from 'msw/node';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';

/** A base address with a path prefix, as behind a gateway. */
export const baseUrl = 'https://api.example/pay';

/** Stands for the secret that must appear nowhere. */
export const apiKey = 'service_test_canary_8f2c1a';

/** Both ways in which requests travel: Node's own `http`, and a function of the Fetch standard's shape. */
export const carriers: [string, PaymentsClientOptions][] = [
  ['the default transport', {}],
  ['the option fetch', { fetch: (input, init) => globalThis.fetch(input, init) }],
];

/** A client of the mocked service. */
export function createClient(options: PaymentsClientOptions = {}): PaymentsClient {
  return new PaymentsClient({ apiKey, baseUrl, ...options });
}

/** A request as the service saw it. */
export interface SeenRequest {
  method: string;
  /** From the base address on, without the query. */
  path: string;
  query: Record<string, string>;
  headers: Headers;
  /** The JSON body; `undefined` when there was none. */
  body: unknown;
}

type Reply = Response | Promise<Response>;
type Responder = (request: SeenRequest) => Reply;

/** A JSON response. */
export function jsonResponse(
  body: unknown,
  status = 200,
  headers: Record<string, string> = {},
): () => Response {
  return text(JSON.stringify(body), status, { 'content-type': 'application/json', ...headers });
}

/** A response with exactly this body. */
export function text(body: string, status = 200, headers: Record<string, string> = {}): () => Response {
  return () => new HttpResponse(body, { status, headers });
}

/** A successful response with `data`. */
export function success(data: unknown): () => Response {
  return jsonResponse({ code: 0, message: 'success', data });
}

/**
 * The service, mocked. A request that no test has announced fails the test: the client under test catches what
 * the mock throws, so such requests are collected as well.
 */
export function mockService() {
  const server = setupServer();
  const requests: SeenRequest[] = [];
  const unexpected: string[] = [];
  server.events.on('request:unhandled', ({ request }) => {
    unexpected.push(`${request.method} ${request.url}`);
  });
  beforeAll(() => server.listen({ onUnhandledRequest: 'error' }));
  afterEach(() => {
    server.resetHandlers();
    requests.length = 0;
    expect(unexpected.splice(0), 'requests that no test announced').toEqual([]);
  });
  afterAll(() => server.close());

  return {
    /** Every request of this test, in order. */
    requests,
    /** Responds to an operation, such as `POST /v1/products`: with each response in turn, then always with the last. */
    on(operation: string, ...responders: [Responder, ...Responder[]]): void {
      const [method = '', path = ''] = operation.split(' ');
      const left = [...responders];
      server.use(
        http.all(`${baseUrl}${path}`, async ({ request }) => {
          if (request.method !== method) return undefined;
          const seen = await see(request);
          requests.push(seen);
          const next = left.length > 1 ? left.shift() : left[0];
          return next?.(seen);
        }),
      );
    },
  };
}

async function see(request: Request): Promise<SeenRequest> {
  const url = new URL(request.url);
  const body = await request.clone().text();
  return {
    method: request.method,
    path: url.pathname.slice(new URL(baseUrl).pathname.length),
    query: Object.fromEntries(url.searchParams),
    headers: request.headers,
    body: body === '' ? undefined : JSON.parse(body),
  };
}
