import { Hono } from 'hono/tiny';
import type { SandboxContext } from '../context.js';
import { comesAfterWork, describeFault, faultyAnswer, NetworkFault } from '../faults.js';
import { dashboardPages } from '../pages/dashboard/routes.js';
import { payPages } from '../pages/payment/routes.js';
import { walletPages } from '../pages/payment/wallet.js';
import { pause } from '../pause.js';
import { milliseconds } from '../service/duration.js';
import { livePrefix, type Settings } from '../settings.js';
import { refused, unauthorized } from './answers.js';
import { documentedApi, isDocumentedPath } from './api.js';
import { controlRoutes } from './control.js';
import { type ApiEnv, Exchange, Refusal } from './exchange.js';
import { sameText } from './guard.js';

/** The whole sandbox as one function from request to answer: no socket, no timer. */
export function sandboxApp(context: SandboxContext): (request: Request) => Promise<Response> {
  const { guard, settings, faults } = context;
  const app = new Hono<ApiEnv>();

  app.use('*', (c, next) => {
    const { path } = c.req;
    if (c.req.method !== 'OPTIONS' && (path === '/v1' || path.startsWith('/v1/'))) return next();
    return guard.protect(c.req.raw, path, context.origin, next);
  });

  app.use('/v1/*', async (c, next) => {
    const started = performance.now();
    const exchange = new Exchange();
    c.set('exchange', exchange);
    exchange.key = keyState(c.req.header('x-api-key'), settings);
    if (exchange.key === 'live') exchange.warnings.push('A live key reached the sandbox. It was not kept.');
    const log = (status: number | undefined) => {
      context.requests.add({
        at: new Date(context.clock.now()),
        method: c.req.method,
        path: c.req.url.slice(c.req.url.indexOf('/', 'https://'.length)),
        status,
        durationMs: performance.now() - started,
        fault: fault && describeFault(fault),
        key: exchange.key,
        unspecified: [...exchange.unspecified],
        warnings: exchange.warnings,
        body: exchange.body,
        responseBody: exchange.responseBody,
      });
    };
    const answer = async () => {
      const known = isDocumentedPath(c.req.path);
      if (exchange.key !== 'ok' && !known) exchange.mark('authOrder');
      if (exchange.key === 'ok' || (!known && settings.choices.authOrder === 'after-path')) await next();
      else c.res = unauthorized(exchange);
      if (exchange.unspecified.size > 0)
        c.res.headers.set('x-sandbox-unspecified', [...exchange.unspecified].join(', '));
    };

    const fault = faults.forRequest(c.req.method, c.req.path);
    if (!fault) {
      await answer();
      return log(c.res.status);
    }
    if (fault.delay !== undefined)
      await pause(milliseconds(fault.delay, 'delay'), [c.req.raw.signal, context.closing]);
    const after = comesAfterWork(fault);
    if (after) await answer();
    try {
      const spoilt = await faultyAnswer(fault, after ? c.res : undefined);
      c.res = undefined;
      c.res = spoilt;
      log(spoilt.status);
    } catch (error) {
      if (error instanceof NetworkFault) log(undefined);
      throw error;
    }
  });

  const api = documentedApi(context);
  api.onError((error, c) => {
    if (error instanceof Refusal) return refused(error, c.get('exchange'), settings.choices);
    throw error;
  });
  app.route('/v1', api);
  app.route('/_sandbox', controlRoutes(context));
  app.route('/', payPages(context));
  app.route('/', walletPages(context));
  app.route('/', dashboardPages(context));
  app.notFound((c) => c.text('There is nothing here. The documented API is under /v1.', 404));
  app.onError((error, c) => {
    if (error instanceof NetworkFault) throw error;
    return c.json({ code: 500, message: 'The sandbox failed. Please report what you sent.' }, 500);
  });
  return async (request) => app.fetch(request);
}

function keyState(given: string | undefined, settings: Settings): Exchange['key'] {
  if (given === undefined) return 'missing';
  if (sameText(given, settings.apiKey)) return 'ok';
  return given.startsWith(livePrefix) ? 'live' : 'wrong';
}
