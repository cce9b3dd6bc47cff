import type { Context } from 'hono';
import { Hono } from 'hono/tiny';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import * as z from 'zod/mini';
import { duration, durationMs } from '../../input/duration.js';
import { issuesInWords } from '../../input/read.js';
import { quote } from '../../input/visible.js';
import { version } from '../../version.js';
import { InvalidOptions, readOptions, SandboxError } from '../checks.js';
import type { SandboxContext } from '../context.js';
import { tamper } from '../delivery/signing.js';
import { describeArmed, readOrder } from '../faults.js';
import { errorStatuses, signingScheme } from '../service/choices.js';
import { eventType } from '../service/event.js';
import { declineReason, paymentMethod } from '../service/records.js';
import { costs } from '../service/trigger.js';
import { checkResolved } from '../settings.js';
import { readObject } from './input.js';
import { Refusal, serveTable, type Table } from './table.js';

const string = z.optional(z.string());
/** Schema of a full ISO 8601 date. `Date` alone is too lenient: it reads "1" as the year 2001, and the 31st of February as a day in March. */
const date = z.iso.datetime({
  offset: true,
  error: ({ input }) => `${quote(input)} is not a date with time and zone in ISO 8601.`,
});

const exactlyOne = <const Shape extends z.core.$ZodLooseShape>(shape: Shape) =>
  z
    .strictObject(shape)
    .check(
      z.refine(
        (body) => Object.keys(body).length === 1,
        `must have one of ${Object.keys(shape).join(', ')}.`,
      ),
    );

/** Returns a route that reads the body of a POST, or the query of any other request. `example` is a valid one, for messages. */
function readingRoute<Given>(
  schema: z.ZodMiniType<Given>,
  example: string,
  run: (given: Given, id: string, signal: AbortSignal) => object | Promise<object>,
) {
  return async ({ req }: Context) => {
    const [what, sent] = req.method === 'POST' ? ['body', await readObject(req.raw)] : ['query', req.query()];
    try {
      return await run(readOptions(what, schema, sent), req.param('id') ?? '', req.raw.signal);
    } catch (error) {
      const issues = InvalidOptions.issuesOf(error);
      if (!issues) throw error;
      const says = `The ${what} is invalid: ${issuesInWords(issues, 'it')} Send ${example}.`;
      throw new SandboxError('invalid_options', says);
    }
  };
}

const plainRoute = (run: (id: string) => object | Promise<object>) =>
  readingRoute(z.strictObject({}), '{}', (_, id) => run(id));

/** Returns the control routes under `/_sandbox`, which offer the sandbox's methods to any language. docs/sandbox.md lists them. */
export function controls(context: SandboxContext): Table {
  const { sandbox, settings, payments, store, deliveries, listening } = context;
  const now = () => ({ now: sandbox.now() });
  const listFaults = () => ({
    faults: context.faults.waiting.map((armed) => ({ says: describeArmed(armed), ...armed })),
  });
  const webhookUrl = () => (typeof settings.webhook === 'string' ? settings.webhook : null);

  return {
    'GET /health': () => ({ status: 'ok', ...now(), version }),
    'GET /state': () => {
      const { url, balance, products, checkouts, orders, events, requests } = sandbox;
      return { url, ...now(), webhook: webhookUrl(), balance, products, checkouts, orders, events, requests };
    },
    'DELETE /state': readingRoute(z.strictObject({ seed: string }), '?seed=1', ({ seed }) => {
      sandbox.reset({ seed: seed === undefined ? undefined : Number(seed || 'none') });
      return now();
    }),
    'POST /clock': readingRoute(
      exactlyOne({ advance: z.optional(duration), to: z.optional(date) }),
      '{"advance": "2h"} or {"to": "2026-01-01T00:00:00Z"}',
      async ({ advance, to }) => {
        if (to !== undefined) await sandbox.setTime(new Date(to));
        if (advance !== undefined) await sandbox.advanceTime(advance);
        return now();
      },
    ),
    'GET /faults': listFaults,
    'POST /faults': readingRoute(z.looseObject({}), '{"status": 503} or {"clear": true}', (fault) => {
      const order = readOrder(fault, 'faults');
      if (order) sandbox.failNext(order);
      else sandbox.clearFaults();
      return listFaults();
    }),
    'POST /trigger': readingRoute(
      z.strictObject({ type: z.optional(eventType), ...costs }),
      '{"type": "order.paid", "amount": "19.90", "currency": "USD"}',
      ({ type = 'order.paid', ...options }) => sandbox.trigger(type, options),
    ),
    'POST /doctor': readingRoute(
      z.strictObject({ target: string, amount: string, currency: string }),
      '{"target": "http://127.0.0.1:3000/webhooks"}',
      ({ target, ...price }) => sandbox.doctor(target, price),
    ),
    'POST /webhook': readingRoute(
      z.strictObject({
        url: z.optional(z.nullable(z.string())),
        secret: string,
        scheme: z.optional(signingScheme),
      }),
      '{"url": "http://127.0.0.1:3000/webhooks"} or {"url": null}',
      async ({ url, ...signing }) => {
        const target = url === undefined ? settings.webhook : (url ?? undefined);
        await checkResolved(settings, target);
        sandbox.setWebhook(target, signing);
        return { url: webhookUrl() };
      },
    ),
    'POST /balance': readingRoute(z.strictObject({ settle: z.literal(true) }), '{"settle": true}', () => {
      sandbox.settle();
      return sandbox.balance;
    }),
    'POST /signed-request': readingRoute(
      z.strictObject({ eventId: z.string(), tamper: z.optional(tamper) }),
      '{"eventId": "evt_…", "tamper": "body"}',
      async ({ eventId, ...options }) => {
        const request = await sandbox.signedRequest(deliveries.event(eventId), options);
        const { method, url, headers } = request;
        return { method, url, headers: Object.fromEntries(headers), body: await request.text() };
      },
    ),
    'POST /snapshot': plainRoute(sandbox.snapshot),
    'POST /key': plainRoute(() => ({ apiKey: sandbox.regenerateKey() })),
    'POST /checkouts/:id/complete': readingRoute(
      z.strictObject({ method: z.optional(paymentMethod) }),
      '{"method": "card"}',
      (options, id) => sandbox.completeCheckout(id, options),
    ),
    'POST /checkouts/:id/fail': readingRoute(
      z.strictObject({ reason: z._default(declineReason, 'card_declined') }),
      '{"reason": "card_declined"}',
      ({ reason }, id) => ({ state: payments.decline(id, reason).state }),
    ),
    'POST /checkouts/:id/cancel': plainRoute(sandbox.cancelCheckout),
    'POST /checkouts/:id/expire': plainRoute((id) => ({ state: payments.expire(id).state })),
    'POST /products/:id/archive': plainRoute((id) => ({
      status: payments.setStatus(id, 'ARCHIVED').status,
    })),
    'POST /products/:id/restore': plainRoute((id) => ({ status: payments.setStatus(id, 'ACTIVE').status })),
    'GET /events': readingRoute(
      z.strictObject({ after: string, wait: z.optional(durationMs()) }),
      '?after=evt_…&wait=5s',
      async ({ after, wait = 0 }, _, gone) => {
        if (after !== undefined) deliveries.event(after);
        const listNewer = () => {
          const events = [...store.events.values()];
          return events.slice(events.findIndex(({ id }) => id === after) + 1);
        };
        const look = () => listNewer().at(-1);
        if (!look()) await deliveries.changed.first(look, Math.min(wait, 60_000), [gone, listening.closing]);
        return { events: listNewer() };
      },
    ),
    'POST /events/deliver': plainRoute(async () => {
      const attempts = await sandbox.deliver();
      const retrying = sandbox.events.filter(({ state }) => state === 'retrying');
      return { ...now(), attempts, retrying };
    }),
    'POST /events/:id/redeliver': plainRoute(sandbox.redeliver),
  };
}

export function controlRoutes(context: SandboxContext): Hono {
  const routes = new Hono();
  serveTable(routes, controls(context), (c, result) => c.json(result), '*');
  routes.onError((error, c) => {
    if (!(error instanceof SandboxError || error instanceof Refusal)) throw error;
    const { code, message } = error;
    const headers = error instanceof Refusal ? error.headers : {};
    return c.json({ error: { code, message } }, statuses.get(code) ?? 400, headers);
  });
  return routes;
}

const statuses = new Map<string, ContentfulStatusCode>(
  Object.entries({ ...errorStatuses, not_payable: 409, no_webhook: 409 } as const),
);
