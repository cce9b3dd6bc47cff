import { Hono } from 'hono/tiny';
import { refused, unauthorized } from './answers.js';
import { documentedApi, isDocumentedPath } from './api.js';
import type { SandboxContext } from './context.js';
import { type ApiEnv, Exchange, Refusal } from './exchange.js';
import { sameText } from './guard.js';
import { payPages } from './pages/pay.js';
import { livePrefix, type Settings } from './settings.js';

/** The whole sandbox as one function from request to answer: no socket, no timer. */
export function sandboxApp(context: SandboxContext): (request: Request) => Promise<Response> {
  const { guard, settings } = context;
  const api = documentedApi(context);
  const app = new Hono<ApiEnv>();

  app.use('*', async (c, next) => {
    if (c.req.method === 'OPTIONS') return c.text('No cross-origin access.', 405);
    if (c.req.path === '/v1' || c.req.path.startsWith('/v1/')) return next();
    const safe = c.req.method === 'GET' || c.req.method === 'HEAD';
    if (!safe && !guard.fromHere(c.req.raw, context.origin))
      return c.text("The request comes from another site's page.", 403);
    return next();
  });

  app.use('/v1/*', async (c, next) => {
    const started = performance.now();
    const exchange = new Exchange();
    c.set('exchange', exchange);
    exchange.key = keyState(c.req.header('x-api-key'), settings);
    if (exchange.key === 'live') exchange.warnings.push('A live key reached the sandbox. It was not kept.');
    const known = isDocumentedPath(c.req.path);
    if (!known) exchange.mark('authOrder');
    if (exchange.key === 'ok' || (!known && settings.choices.authOrder === 'after-path')) await next();
    else c.res = unauthorized(exchange);
    if (exchange.unspecified.size > 0)
      c.res.headers.set('x-sandbox-unspecified', [...exchange.unspecified].join(', '));
    const { pathname, search } = new URL(c.req.url);
    context.requests.add({
      at: new Date(context.clock.now()),
      method: c.req.method,
      path: pathname + search,
      status: c.res.status,
      durationMs: performance.now() - started,
      key: exchange.key,
      unspecified: [...exchange.unspecified],
      warnings: exchange.warnings,
      body: exchange.body,
      responseBody: exchange.responseBody,
    });
  });

  api.onError((error, c) => {
    if (error instanceof Refusal) return refused(error, c.get('exchange'), settings.choices);
    throw error;
  });
  app.route('/v1', api);
  app.route('/', payPages(context));
  app.notFound((c) => c.text('There is nothing here. The documented API is under /v1.', 404));
  return async (request) => app.fetch(request);
}

function keyState(given: string | undefined, settings: Settings): Exchange['key'] {
  if (given === undefined) return 'missing';
  if (sameText(given, settings.apiKey)) return 'ok';
  return given.startsWith(livePrefix) ? 'live' : 'wrong';
}
