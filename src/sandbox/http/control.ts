import type { Context } from 'hono';
import { Hono } from 'hono/tiny';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import * as z from 'zod/mini';
import { closed, duration, milliseconds, problemOf, SandboxError } from '../checks.js';
import type { SandboxContext } from '../context.js';
import { tamper } from '../delivery/signing.js';
import { describeArmed, readFault } from '../faults.js';
import { eventType } from '../service/event.js';
import { declineReason, paymentMethod } from '../service/records.js';
import { checkResolved } from '../settings.js';
import { readObject } from './input.js';
import { Refusal } from './log.js';
import { serveTable, type Table } from './table.js';

const text = z.string('pass a string.');
const string = z.optional(text);
const scheme = z.optional(z.looseObject({}, 'pass an object.'));
const isDate = (value: unknown) => typeof value === 'string' && !Number.isNaN(Date.parse(value));
const date = z.custom<string>(isDate, { error: ({ input }) => `${JSON.stringify(input)} is not a date.` });

const exactlyOne = <const Shape extends z.core.$ZodLooseShape>(shape: Shape) =>
  fields(shape).check(
    z.refine((body) => Object.keys(body).length === 1, `pass one of ${Object.keys(shape).join(', ')}.`),
  );

const fields = <const Shape extends z.core.$ZodLooseShape>(shape: Shape) =>
  closed(shape, 'a field of this body');

/** Takes a JSON body. `example` is one, for messages. */
function takes<Body>(
  schema: z.ZodMiniType<Body>,
  example: string,
  run: (body: Body, id: string) => object | Promise<object>,
) {
  return async (c: Context) => {
    const result = schema.safeParse(await readObject(c.req.raw));
    if (result.success) return run(result.data, c.req.param('id') ?? '');
    const problem = `The body is invalid: ${problemOf(result.error)} Send ${example}.`;
    throw new SandboxError('invalid_options', problem);
  };
}

const takesNothing = (run: (id: string) => object | Promise<object>) =>
  takes(fields({}), '{}', (_, id) => run(id));

const lists = ['products', 'checkouts', 'orders', 'events', 'requests'] as const;

/**
 * The control routes, which docs/sandbox.md lists: what `createSandbox()` can do, for programs in other languages and our
 * commands. JSON over HTTP under `/_sandbox`, which nobody mistakes for a path of the service.
 */
export function controls(context: SandboxContext): Table {
  const { sandbox, settings, payments } = context;
  const now = () => ({ now: sandbox.now() });
  const waiting = () => ({
    faults: context.faults.waiting.map((armed) => ({ says: describeArmed(armed), ...armed })),
  });
  const webhookUrl = () => (typeof settings.webhook === 'string' ? settings.webhook : null);

  return {
    'GET /health': () => ({ status: 'ok', ...now() }),
    'GET /state': () => {
      const { url, balance } = sandbox;
      const all = Object.fromEntries(lists.map((list) => [list, sandbox[list]]));
      return { url, ...now(), webhook: webhookUrl(), balance, ...all };
    },
    'DELETE /state': (c) => {
      const seed = c.req.query('seed');
      sandbox.reset({ seed: seed === undefined ? undefined : Number(seed || 'none') });
      return now();
    },
    'POST /clock': takes(
      exactlyOne({ advance: z.optional(duration), to: z.optional(date) }),
      '{"advance": "2h"} or {"to": "2026-01-01T00:00:00Z"}',
      async ({ advance, to }) => {
        if (to !== undefined) await sandbox.setTime(new Date(to));
        if (advance !== undefined) await sandbox.advanceTime(advance);
        return now();
      },
    ),
    'GET /faults': waiting,
    'POST /faults': async (c) => {
      const fault = await readObject(c.req.raw);
      if (fault.clear === true) sandbox.clearFaults();
      else sandbox.failNext(readFault(fault, 'The fault is invalid'));
      return waiting();
    },
    'POST /trigger': takes(
      fields({ type: z.optional(eventType), amount: string, currency: string }),
      '{"type": "order.paid", "amount": "19.90", "currency": "USD"}',
      ({ type = 'order.paid', ...options }) => sandbox.trigger(type, options),
    ),
    'POST /doctor': takes(
      fields({ target: string, amount: string, currency: string }),
      '{"target": "http://127.0.0.1:3000/webhooks"}',
      ({ target, ...price }) => sandbox.doctor(target, price),
    ),
    'POST /webhook': takes(
      fields({ url: z.optional(z.nullable(text)), secret: string, scheme }),
      '{"url": "http://127.0.0.1:3000/webhooks"} or {"url": null}',
      async ({ url, ...signing }) => {
        const target = url === undefined ? settings.webhook : (url ?? undefined);
        await checkResolved(settings, target);
        sandbox.setWebhook(target, signing);
        return { url: webhookUrl() };
      },
    ),
    'POST /balance': takes(
      exactlyOne({ freeze: string, release: string, settle: z.optional(z.literal(true, 'pass true.')) }),
      '{"freeze": "5.00"}, {"release": "5.00"} or {"settle": true}',
      ({ freeze, release, settle }) => {
        if (freeze !== undefined) sandbox.freeze(freeze);
        if (release !== undefined) sandbox.release(release);
        if (settle) sandbox.settle();
        return sandbox.balance;
      },
    ),
    'POST /signed-request': takes(
      fields({ eventId: text, tamper: z.optional(tamper) }),
      '{"eventId": "evt_…", "tamper": "body"}',
      async ({ eventId, ...options }) => {
        const request = await sandbox.signedRequest(context.deliveries.event(eventId), options);
        const { method, url, headers } = request;
        return { method, url, headers: Object.fromEntries(headers), body: await request.text() };
      },
    ),
    'POST /snapshot': takesNothing(sandbox.snapshot),
    'POST /key': takesNothing(() => ({ apiKey: sandbox.regenerateKey() })),
    'POST /checkouts/:id/complete': takes(
      fields({ method: z.optional(paymentMethod) }),
      '{"method": "card"}',
      (options, id) => sandbox.completeCheckout(id, options),
    ),
    'POST /checkouts/:id/fail': takes(
      fields({ reason: z._default(declineReason, 'card_declined') }),
      '{"reason": "card_declined"}',
      ({ reason }, id) => ({ state: payments.decline(id, reason).state }),
    ),
    'POST /checkouts/:id/cancel': takesNothing(sandbox.cancelCheckout),
    'POST /checkouts/:id/expire': takesNothing((id) => ({ state: payments.expire(id).state })),
    'POST /products/:id/archive': takesNothing((id) => ({
      status: payments.setStatus(id, 'ARCHIVED').status,
    })),
    'POST /products/:id/restore': takesNothing((id) => ({ status: payments.setStatus(id, 'ACTIVE').status })),
    'GET /events': (c) => newEvents(context, c),
    'POST /events/deliver': takesNothing(async () => ({ attempts: await sandbox.deliver() })),
    'POST /events/:id/redeliver': takesNothing(sandbox.redeliver),
  };
}

/** Serves them. Errors are JSON too. */
export function controlRoutes(context: SandboxContext): Hono {
  const routes = new Hono();
  const failed = (c: Context, status: ContentfulStatusCode, code: string, message: string) =>
    c.json({ error: { code, message } }, status);
  const respond = (c: Context, result: object) => c.json(result);
  serveTable(routes, controls(context), respond, (c, allow) => {
    c.header('allow', allow);
    const problem = `${c.req.method} is not a method of this control route. It has ${allow}.`;
    return failed(c, 405, 'wrong_method', problem);
  });
  routes.all('*', (c) => failed(c, 404, 'unknown_path', 'There is no such control route.'));
  routes.onError((error, c) => {
    if (!(error instanceof SandboxError || error instanceof Refusal)) throw error;
    const code = error instanceof Refusal ? error.kind : error.code;
    return failed(c, statuses.get(code) ?? 400, code, error.message);
  });
  return routes;
}

/** The events after one, or all; waits for some until `wait` is over. */
async function newEvents({ sandbox, deliveries, reach }: SandboxContext, c: Context): Promise<object> {
  const { after, wait = '0s' } = c.req.query();
  const newer = () => {
    const { events } = sandbox;
    return after === undefined ? events : events.slice(events.findIndex(({ id }) => id === after) + 1);
  };
  if (after !== undefined) deliveries.event(after);
  const waitMs = Math.min(milliseconds(wait, 'wait'), longestWait);
  if (newer().length === 0 && waitMs > 0)
    await deliveries.changed.first(() => newer().at(-1), waitMs, [c.req.raw.signal, reach.closing]);
  return { events: newer() };
}

const longestWait = 60_000;

const statuses = new Map<string, ContentfulStatusCode>([
  ['unknown_id', 404],
  ['not_payable', 409],
  ['insufficient_balance', 409],
  ['no_webhook', 409],
  ['body_too_large', 413],
  ['content_type', 415],
]);
