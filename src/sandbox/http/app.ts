// This folder serves the sandbox over HTTP: the documented API, the control routes and the pages.
import type { Context, Next } from 'hono';
import { Hono } from 'hono/tiny';
import { millisecondsOf } from '../../input/duration.js';
import { SandboxError } from '../checks.js';
import type { SandboxContext } from '../context.js';
import { describeFault } from '../faults.js';
import { dashboardPages } from '../pages/dashboard/routes.js';
import { payPages } from '../pages/payment/routes.js';
import { errorStatuses } from '../service/choices.js';
import { livePrefix, type Settings } from '../settings.js';
import { pause } from '../signal.js';
import { documentedApi, errorResponse, unauthorizedResponse } from './api.js';
import { controlRoutes } from './control.js';
import { faultyResponse, NetworkFault } from './fault-response.js';
import { sameText } from './guard.js';
import { type ApiEnv, type LoggedRequest, RequestNotes } from './log.js';
import { isOperation, nothingHere, Refusal } from './table.js';

/** Returns the whole sandbox as one function from request to response, without socket or timer. */
export function sandboxApp(context: SandboxContext): (request: Request) => Promise<Response> {
  const { guard, settings, faults, listening } = context;
  const app = new Hono<ApiEnv>();
  const api = documentedApi(context);

  app.use('*', (c, next) => {
    const { path, method } = c.req;
    if (method !== 'OPTIONS' && (path === '/v1' || path.startsWith('/v1/'))) return next();
    return guard.protect(c, listening.origin, next);
  });

  /** Checks the key, handles the request and names the choices that the response depended on. */
  async function work(c: Context<ApiEnv>, next: Next, notes: RequestNotes) {
    if (notes.key !== 'ok' && !isOperation(undefined, c.req.path)) notes.mark('authOrder');
    if (notes.key === 'ok') await next();
    else c.res = unauthorizedResponse(notes);
    if (notes.unspecified.length > 0) c.header('x-sandbox-unspecified', notes.unspecified.join(', '));
    return c.res;
  }

  app.use('/v1/*', async (c, next) => {
    const started = performance.now();
    const notes = new RequestNotes(settings.choices, keyState(c.req.header('x-api-key'), settings));
    c.set('notes', notes);
    if (notes.key === 'live') notes.warnings.push('A live key reached the sandbox. It was not kept.');
    const fault = faults.takeForRequest(c.req.method, c.req.path);
    let status: number | undefined;
    try {
      if (fault?.delay !== undefined)
        await pause(millisecondsOf(fault.delay), [c.req.raw.signal, listening.closing]);
      const respond = () => work(c, next, notes);
      const response = fault ? await faultyResponse(fault, respond) : await respond();
      c.res = undefined;
      c.res = response;
      status = response.status;
    } finally {
      const { choices: _, ...noted } = notes;
      context.requests.add({
        at: new Date(context.clock.now()),
        method: c.req.method,
        path: c.req.url.slice(c.req.url.indexOf('/', 'https://'.length)),
        status,
        durationMs: performance.now() - started,
        fault: fault && describeFault(fault),
        ...noted,
      });
    }
  });

  api.onError((error, c) => {
    if (error instanceof Refusal) return errorResponse(error, c.get('notes'));
    if (!(error instanceof SandboxError && error.code === 'unknown_id')) throw error;
    return errorResponse(new Refusal('unknown_id', error.message), c.get('notes'));
  });
  app.route('/', api);
  app.route('/_sandbox', controlRoutes(context));
  app.route('/', payPages(context));
  app.route('/', dashboardPages(context));
  app.notFound((c) => c.text(`${nothingHere} The documented API is under /v1.\n`, 404));
  app.onError((error, c) => {
    if (error instanceof NetworkFault) throw error;
    if (error instanceof Refusal) return c.text(`${error.message}\n`, errorStatuses[error.code]);
    // A client that hangs up is no failure of the sandbox, so its error is not printed.
    if (!c.req.raw.signal.aborted) console.error(error);
    const message =
      error instanceof SandboxError ? error.message : 'The sandbox failed. Please report what it printed.';
    return c.json({ code: 500, message }, 500);
  });
  return async (request) => app.fetch(request);
}

function keyState(given: string | undefined, settings: Settings): LoggedRequest['key'] {
  if (given === undefined) return 'missing';
  if (sameText(given, settings.apiKey)) return 'ok';
  return given.startsWith(livePrefix) ? 'live' : 'wrong';
}
