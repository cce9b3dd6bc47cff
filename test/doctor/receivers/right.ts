import { createHmac, randomUUID, timingSafeEqual } from 'node:crypto';
import { Hono } from 'hono';
import { handler } from 'merchant-payments/webhooks';
import {
  type Answer,
  event,
  html,
  type Incoming,
  invalid,
  isEqual,
  isFresh,
  isGenuine,
  macWith,
  order,
  type Receiver,
  received,
  row,
  seconds,
  secret,
  signatureOf,
  wait,
} from './kit.js';

/** A right verification, with the two responses of the row. */
const verifyAndAnswer =
  (good: Answer, bad: Answer = invalid): (() => Receiver) =>
  () =>
  (incoming) =>
    isGenuine(incoming) ? good : bad;

type Fetch = (request: Request) => Response | Promise<Response>;

/** Serves a Fetch handler. */
const serveFetch =
  (handle: Fetch): (() => Receiver) =>
  () =>
  async ({ method, path, request, body }) => {
    const headers = new Headers();
    for (let at = 0; at < request.rawHeaders.length; at += 2)
      headers.append(String(request.rawHeaders[at]), String(request.rawHeaders[at + 1]));
    const answer = await handle(
      new Request(`http://shop.test${path}`, { method, headers, body: new Uint8Array(body) }),
    );
    return [answer.status, await answer.text(), Object.fromEntries(answer.headers)];
  };

type Next = () => Answer | Promise<Answer>;
type Middleware = (incoming: Incoming, next: Next) => Answer | Promise<Answer>;
const runMiddleware =
  (...steps: Middleware[]): (() => Receiver) =>
  () =>
  (incoming) => {
    const step = (at: number): Answer | Promise<Answer> =>
      steps[at]?.(incoming, () => step(at + 1)) ?? [404, 'Cannot POST'];
    return step(0);
  };

const app = new Hono().post('/webhooks', async (c) => {
  const raw = await c.req.text();
  const time = c.req.header('x-service-timestamp') ?? '';
  const given = c.req.header('x-service-signature') ?? '';
  if (!/^[0-9a-f]{64}$/.test(given)) return c.json({ error: 'malformed signature' }, 400);
  if (Math.abs(seconds() - Number(time)) > 300) return c.json({ error: 'stale' }, 400);
  if (!isEqual(given, macWith(secret, `${time}.${raw}`))) return c.json({ error: 'signature mismatch' }, 400);
  return c.json({ ok: true });
});

export const right = [
  row(
    'a prefix',
    '',
    () => (incoming) => {
      const good = isEqual(incoming.signature, `sha256=${signatureOf(incoming)}`);
      return good && isFresh(incoming) ? received : invalid;
    },
    { scheme: { prefix: 'sha256=' } },
  ),
  row('plain node:http with JSON', '', verifyAndAnswer(received)),
  row('plain text', '', verifyAndAnswer([200, 'OK'], [400, 'Invalid signature'])),
  row(
    'ok as text/html',
    '',
    verifyAndAnswer(
      [200, 'ok', { 'content-type': 'text/html' }],
      [400, 'bad signature', { 'content-type': 'text/html; charset=utf-8' }],
    ),
  ),
  row('202 and an empty body', '', verifyAndAnswer([202], [401])),
  row('204', '', verifyAndAnswer([204], [400])),
  row(
    '201 with a location',
    '',
    verifyAndAnswer([201, { id: 7 }, { location: '/events/7' }], [403, { error: 'forbidden' }]),
  ),
  row(
    '401 with a challenge',
    '',
    verifyAndAnswer(received, [401, 'Unauthorized', { 'www-authenticate': 'Signature' }]),
  ),
  row(
    '403 in HTML to a forgery',
    '',
    verifyAndAnswer(received, [403, '<h1>Forbidden</h1>', { 'content-type': 'text/html' }]),
  ),
  row('hides: 404 to a forgery', '', verifyAndAnswer(received, [404, 'Not Found'])),
  row(
    '422 to a forgery',
    '',
    verifyAndAnswer(received, [422, { errors: [{ field: 'signature', message: 'is invalid' }] }]),
  ),
  row('a redirect to a forgery', '', verifyAndAnswer(received, [302, '', { location: '/error' }])),
  row('closes the connection on a forgery', '', verifyAndAnswer(received, 'hang up')),
  row('throws on a forgery, so the framework responds 500', '', () => (incoming) => {
    if (!isGenuine(incoming)) throw new Error('Webhook signature verification failed');
    return received;
  }),
  row('throws inside timingSafeEqual when the length differs', '', () => (incoming) => {
    const good = timingSafeEqual(Buffer.from(incoming.signature), Buffer.from(signatureOf(incoming)));
    return good && isFresh(incoming) ? received : invalid;
  }),
  row(
    'a chain of middleware',
    '',
    runMiddleware(
      (incoming, next) =>
        incoming.path === '/webhooks' && incoming.method === 'POST' ? next() : [404, 'Cannot POST'],
      (incoming, next) => (isGenuine(incoming) ? next() : [401, { message: 'Invalid signature' }]),
      (incoming) => [200, { status: event(incoming).type }],
    ),
  ),
  row(
    'a Fetch handler',
    '',
    serveFetch(async (request) => {
      const raw = Buffer.from(await request.arrayBuffer());
      const time = request.headers.get('x-service-timestamp');
      const given = request.headers.get('x-service-signature');
      if (time === null || given === null)
        return Response.json({ error: 'missing headers' }, { status: 401 });
      if (Math.abs(seconds() - Number(time)) > 300)
        return Response.json({ error: 'expired' }, { status: 401 });
      const good = isEqual(given, macWith(secret, `${time}.`, raw));
      return good ? Response.json({ success: true }) : Response.json({ success: false }, { status: 401 });
    }),
  ),
  row(
    'WebCrypto',
    '',
    serveFetch(async (request) => {
      const key = await crypto.subtle.importKey(
        'raw',
        new TextEncoder().encode(secret),
        { name: 'HMAC', hash: 'SHA-256' },
        false,
        ['verify'],
      );
      const raw = await request.text();
      const time = request.headers.get('x-service-timestamp') ?? '';
      const given = request.headers.get('x-service-signature') ?? '';
      if (!/^[0-9a-f]{64}$/i.test(given)) return new Response('bad', { status: 400 });
      const good = await crypto.subtle.verify(
        'HMAC',
        key,
        Buffer.from(given, 'hex'),
        new TextEncoder().encode(`${time}.${raw}`),
      );
      const late = Math.abs(seconds() - Number(time)) > 300;
      return good && !late ? new Response(null, { status: 204 }) : new Response('bad', { status: 400 });
    }),
  ),
  row(
    'a Hono app',
    '',
    serveFetch((request) => app.fetch(request)),
  ),
  row(
    'the handler of this package',
    '',
    serveFetch(handler({ secret, on: { 'order.paid': () => undefined }, onError: () => undefined })),
  ),
  row(
    'decodes the hex before it compares',
    '',
    () => (incoming) => {
      const given = Buffer.from(incoming.signature, 'hex');
      const wanted = Buffer.from(signatureOf(incoming), 'hex');
      return given.length === wanted.length && timingSafeEqual(given, wanted) && isFresh(incoming)
        ? received
        : invalid;
    },
    { warnings: 'loose_signature' },
  ),
  row(
    'compares with ===',
    '',
    () => (incoming) =>
      incoming.signature === signatureOf(incoming) && isFresh(incoming) ? received : invalid,
  ),
  row(
    'ignores the case of the hex',
    '',
    () => (incoming) =>
      isEqual(incoming.signature.toLowerCase(), signatureOf(incoming)) && isFresh(incoming)
        ? received
        : invalid,
  ),
  row('hashes both sides before it compares', '', () => (incoming) => {
    const sha = (text: string) => createHmac('sha256', 'fixed').update(text).digest('hex');
    return sha(incoming.signature) === sha(signatureOf(incoming)) && isFresh(incoming) ? received : invalid;
  }),
  row('says what is wrong', '', () => (incoming) => {
    if (!incoming.signature) return [401, { error: 'signature missing' }];
    if (!incoming.timestamp) return [401, { error: 'timestamp missing' }];
    if (!isFresh(incoming))
      return [400, { error: `timestamp ${incoming.timestamp} is outside the tolerance` }];
    if (!isEqual(incoming.signature, signatureOf(incoming))) return [401, { error: 'signature mismatch' }];
    return [200, { order: order(incoming), status: 'paid' }];
  }),
  row('verifies before it looks at the time', '', () => (incoming) => {
    if (!isEqual(incoming.signature, signatureOf(incoming))) return [401, 'signature'];
    return isFresh(incoming) ? [200, 'thank you'] : [400, 'too old'];
  }),
  row(
    'tolerance of 60 seconds',
    '',
    () => (incoming) =>
      isFresh(incoming, 60) && isEqual(incoming.signature, signatureOf(incoming)) ? received : invalid,
  ),
  row(
    'tolerance of ten minutes',
    '',
    () => (incoming) =>
      isFresh(incoming, 600) && isEqual(incoming.signature, signatureOf(incoming)) ? received : invalid,
  ),
  row(
    'seconds only',
    '',
    () => (incoming) => (/^\d{10}$/.test(incoming.timestamp) && isGenuine(incoming) ? received : invalid),
  ),
  row('seconds or milliseconds', '', () => (incoming) => {
    const time = Number(incoming.timestamp);
    const at = time > 1e11 ? time / 1000 : time;
    return Math.abs(seconds() - at) < 300 && isEqual(incoming.signature, signatureOf(incoming))
      ? received
      : invalid;
  }),
  row('two secrets in rotation', '', () => (incoming) => {
    const keys = ['whsec_the_next_one', secret];
    const good = keys.some((key) =>
      isEqual(incoming.signature, macWith(key, `${incoming.timestamp}.`, incoming.body)),
    );
    return good && isFresh(incoming) ? received : invalid;
  }),
  row('strict content type', '', () => (incoming) => {
    if (incoming.headers['content-type'] !== 'application/json') return [415, 'Unsupported Media Type'];
    return isGenuine(incoming) ? received : invalid;
  }),
  row('POST on its path only', '', () => (incoming) => {
    if (incoming.path !== '/webhooks') return [404, 'Not Found'];
    if (incoming.method !== 'POST') return [405, 'Method Not Allowed'];
    return isGenuine(incoming) ? received : invalid;
  }),
  row('queues what it verified', '', () => {
    const queue: string[] = [];
    return (incoming) => {
      if (!isGenuine(incoming)) return invalid;
      queue.push(incoming.text);
      return [202, { queued: queue.length }];
    };
  }),
  row('duplicates by order id, after it verified', '', () => {
    const seen = new Set<string>();
    return (incoming) => {
      if (!isGenuine(incoming)) return invalid;
      const known = seen.has(order(incoming));
      seen.add(order(incoming));
      return [200, { status: known ? 'already processed' : 'processed' }];
    };
  }),
  row('duplicates by order id, after it verified, in the same words', '', () => {
    const seen = new Set<string>();
    return (incoming) => {
      if (isGenuine(incoming)) seen.add(order(incoming));
      return isGenuine(incoming) ? received : invalid;
    };
  }),
  row(
    'duplicates by order id, before it verifies, in words of their own',
    '',
    () => {
      const seen = new Set<string>();
      return (incoming) => {
        if (seen.has(order(incoming))) return [200, 'already processed'];
        if (!isGenuine(incoming)) return [400, 'bad signature'];
        seen.add(order(incoming));
        return [200, 'processed'];
      };
    },
    { warnings: 'trusts_known_orders' },
  ),
  row('refuses what is older than the last that it took', '', () => {
    let last = 0;
    return (incoming) => {
      if (!isGenuine(incoming)) return invalid;
      if (Number(incoming.timestamp) < last) return [400, 'older than the last'];
      last = Number(incoming.timestamp);
      return received;
    };
  }),
  row(
    'hangs on the first delivery only',
    '',
    () => {
      let cold = true;
      return (incoming) => {
        if (!cold) return isGenuine(incoming) ? received : invalid;
        cold = false;
        return 'hang';
      };
    },
    { patienceMs: 500 },
  ),
  row(
    'Flask',
    '',
    verifyAndAnswer(
      [200, 'ok', { ...html, server: 'Werkzeug/3.0.1 Python/3.12.1' }],
      [400, '<!doctype html>\n<html lang=en>\n<title>400 Bad Request</title>\n<h1>Bad Request</h1>\n', html],
    ),
  ),
  row('Rails', '', verifyAndAnswer([204, '', { 'x-runtime': '0.002' }], [401, '', { 'x-runtime': '0.001' }])),
  row('FastAPI', '', () => (incoming) => {
    if (!incoming.signature || !incoming.timestamp)
      return [
        422,
        { detail: [{ type: 'missing', loc: ['header', 'x-service-signature'], msg: 'Field required' }] },
      ];
    return isGenuine(incoming) ? [200, 'null'] : [400, { detail: 'Bad signature' }];
  }),
  row(
    'Express, with a stack in its refusal',
    '',
    verifyAndAnswer(
      [200, 'OK'],
      [
        400,
        '<!DOCTYPE html><html><body><pre>Error: bad signature<br> at /app/server.js:12:9</pre></body></html>',
        html,
      ],
    ),
  ),
  row('refuses a signature that it has seen', '', () => {
    const seen = new Set<string>();
    return (incoming) => {
      if (!isGenuine(incoming)) return invalid;
      if (seen.has(incoming.signature)) return [409, { error: 'replayed signature' }];
      seen.add(incoming.signature);
      return received;
    };
  }),
  row(
    'HTML pages with a CSRF token in the head',
    '',
    verifyAndAnswer(
      [200, '<html><head><meta name="csrf-token" content="x"></head>Thanks</html>', html],
      [400, '<html><head><meta name="csrf-token" content="x"></head>Bad signature</html>', html],
    ),
  ),
  row(
    'echoes the order',
    '',
    () => (incoming) =>
      isGenuine(incoming) ? [200, { order: order(incoming), amount: event(incoming).data.amount }] : invalid,
  ),
  row(
    'echoes the order in its refusal',
    '',
    () => (incoming) =>
      isGenuine(incoming) ? received : [400, `Order ${order(incoming)}: signature does not match`],
  ),
  row(
    'gives every response an id and a time',
    '',
    () => (incoming) =>
      isGenuine(incoming)
        ? [200, { id: randomUUID(), at: new Date().toISOString(), ok: true }]
        : [400, { id: randomUUID(), at: new Date().toISOString(), ok: false }],
  ),
  row(
    'ignores orders that it does not know',
    '',
    verifyAndAnswer([200, { received: true, ignored: 'unknown order' }]),
  ),
  row('logs each request', '', () => {
    const log: string[] = [];
    return (incoming) => {
      log.push(`${incoming.method} ${incoming.path} ${incoming.body.byteLength}`);
      return isGenuine(incoming) ? received : invalid;
    };
  }),
  row('slow to everything', '', () => async (incoming) => {
    await wait(60);
    return isGenuine(incoming) ? received : invalid;
  }),
  row('slow work after it verified', '', () => async (incoming) => {
    if (!isGenuine(incoming)) return invalid;
    await wait(150);
    return received;
  }),
  row('makes forgers wait', '', () => async (incoming) => {
    if (isGenuine(incoming)) return received;
    await wait(80);
    return invalid;
  }),
  row(
    'slow to the first delivery',
    '',
    () => {
      let cold = true;
      return async (incoming) => {
        if (cold) await wait(5_050);
        cold = false;
        return isGenuine(incoming) ? received : invalid;
      };
    },
    { warnings: 'slow', patienceMs: 8_000 },
  ),
  row('rate limit of 20 a second, with Retry-After', '', () => {
    let free = 20;
    let since = Date.now();
    return (incoming) => {
      if (Date.now() - since > 1000) [free, since] = [20, Date.now()];
      free -= 1;
      if (free < 0) return [429, 'slow down', { 'retry-after': '1' }];
      return isGenuine(incoming) ? received : invalid;
    };
  }),
  row(
    'closes each connection',
    '',
    verifyAndAnswer([200, 'ok', { connection: 'close' }], [400, 'no', { connection: 'close' }]),
  ),
  row('a long response', '', verifyAndAnswer([200, 'thanks '.repeat(20_000)])),
  row(
    'a right one behind a proxy that speaks HTML errors',
    '',
    verifyAndAnswer(received, [
      400,
      '<html><head><title>400 Bad Request</title></head><body><center><h1>400 Bad Request</h1></center><hr><center>nginx</center></body></html>',
      { 'content-type': 'text/html' },
    ]),
  ),
  row(
    'a framework that says who it is',
    '',
    verifyAndAnswer(
      [200, 'OK', { 'x-powered-by': 'Express' }],
      [400, 'Webhook Error', { 'x-powered-by': 'Express' }],
    ),
  ),
  row(
    'a banner in its answer that contains the word login',
    '',
    verifyAndAnswer([200, { message: 'ok, see your login page' }]),
  ),
  row(
    'any of several signatures, divided by commas',
    '',
    () => (incoming) => {
      const good = incoming.signature.split(',').some((one) => isEqual(one.trim(), signatureOf(incoming)));
      return good && isFresh(incoming) ? received : invalid;
    },
    { warnings: 'loose_signature' },
  ),
  row(
    'reads the first of two headers, as Go and Starlette do',
    '',
    () => (incoming) => {
      const [one = ''] = incoming.request.headersDistinct['x-service-signature'] ?? [];
      return isEqual(one, signatureOf(incoming)) && isFresh(incoming) ? received : invalid;
    },
    { warnings: 'loose_signature' },
  ),
  row(
    'reads the last of two headers',
    '',
    () => (incoming) => {
      const one = incoming.request.headersDistinct['x-service-signature']?.at(-1) ?? '';
      return isEqual(one, signatureOf(incoming)) && isFresh(incoming) ? received : invalid;
    },
    { warnings: 'loose_signature' },
  ),
];
