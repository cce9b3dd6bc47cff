import type { Context, Env } from 'hono';
import { Hono } from 'hono/tiny';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import * as z from 'zod/mini';
import { closed } from '../closed.js';
import type { SandboxContext } from '../context.js';
import { tamper } from '../delivery/signing.js';
import { describeArmed, readFault } from '../faults.js';
import { problemOf, SandboxError } from '../sandbox-error.js';
import { declineReason, paymentMethod } from '../service/checkout.js';
import { duration, milliseconds } from '../service/duration.js';
import { eventType } from '../service/event-types.js';
import { checkResolved } from '../settings.js';
import { readObject } from './body.js';
import { Refusal } from './notes.js';
import { type Route, serveTable } from './table.js';

const text = z.string('pass a string.');
const string = z.optional(text);
const scheme = z.optional(z.looseObject({}, 'pass an object.'));
const isDate = (value: unknown) => typeof value === 'string' && !Number.isNaN(Date.parse(value));
const date = z.custom<string>(isDate, { error: ({ input }) => `${JSON.stringify(input)} is not a date.` });

/** A route, and what it responds. docs/sandbox.md lists what each stands for. */
type Control = readonly [route: string, respond: (c: Context) => object | Promise<object>];

/** An object with exactly one of these fields. */
const one = <const Shape extends z.core.$ZodLooseShape>(shape: Shape) =>
  fields(shape).check(
    z.refine((body) => Object.keys(body).length === 1, `pass one of ${Object.keys(shape).join(', ')}.`),
  );

const fields = <const Shape extends z.core.$ZodLooseShape>(shape: Shape) =>
  closed(shape, 'a field of this body');

/** A route that takes a JSON body. `example` is one, for messages. */
function takes<Body>(
  route: string,
  schema: z.ZodMiniType<Body>,
  example: string,
  run: (body: Body, id: string) => object | Promise<object>,
): Control {
  const respond = async (c: Context) => {
    const result = schema.safeParse(await readObject(c.req.raw));
    if (result.success) return run(result.data, c.req.param('id') ?? '');
    const problem = `The body is invalid: ${problemOf(result.error)} Send ${example}.`;
    throw new SandboxError('invalid_options', problem);
  };
  return [route, respond];
}

/** A route that takes an empty body. */
const takesNothing = (route: string, run: (id: string) => object | Promise<object>): Control =>
  takes(route, fields({}), '{}', (_, id) => run(id));

const lists = ['products', 'checkouts', 'orders', 'events', 'requests'] as const;

/**
 * What `createSandbox()` can do, for other processes, such as programs in other languages and our commands: JSON over
 * HTTP under `/_sandbox`, which nobody mistakes for a path of the service.
 */
export function controls(context: SandboxContext): readonly Control[] {
  const { sandbox, settings, payments } = context;
  const now = () => ({ now: sandbox.now() });
  const waiting = () => ({
    faults: context.faults.waiting.map((armed) => ({ says: describeArmed(armed), ...armed })),
  });
  const webhookUrl = () => (typeof settings.webhook === 'string' ? settings.webhook : null);

  return [
    ['GET /health', () => ({ status: 'ok', ...now() })],
    [
      'GET /state',
      () => {
        const { url, balance } = sandbox;
        const all = Object.fromEntries(lists.map((list) => [list, sandbox[list]]));
        return { url, ...now(), webhook: webhookUrl(), balance, ...all };
      },
    ],
    [
      'DELETE /state',
      (c) => {
        const seed = c.req.query('seed');
        sandbox.reset({ seed: seed === undefined ? undefined : Number(seed || 'none') });
        return now();
      },
    ],
    takes(
      'POST /clock',
      one({ advance: z.optional(duration), to: z.optional(date) }),
      '{"advance": "2h"} or {"to": "2026-01-01T00:00:00Z"}',
      async ({ advance, to }) => {
        if (to !== undefined) await sandbox.setTime(new Date(to));
        if (advance !== undefined) await sandbox.advanceTime(advance);
        return now();
      },
    ),
    ['GET /faults', waiting],
    [
      'POST /faults',
      async (c) => {
        const fault = await readObject(c.req.raw);
        if (fault.clear === true) sandbox.clearFaults();
        else sandbox.failNext(readFault(fault, 'The fault is invalid'));
        return waiting();
      },
    ],
    takes(
      'POST /trigger',
      fields({ type: z.optional(eventType), amount: string, currency: string }),
      '{"type": "order.paid", "amount": "19.90", "currency": "USD"}',
      ({ type = 'order.paid', ...options }) => sandbox.trigger(type, options),
    ),
    takes(
      'POST /doctor',
      fields({ target: string, amount: string, currency: string }),
      '{"target": "http://127.0.0.1:3000/webhooks"}',
      ({ target, ...price }) => sandbox.doctor(target, price),
    ),
    takes(
      'POST /webhook',
      fields({ url: z.optional(z.nullable(text)), secret: string, scheme }),
      '{"url": "http://127.0.0.1:3000/webhooks"} or {"url": null}',
      async ({ url, ...signing }) => {
        const target = url === undefined ? settings.webhook : (url ?? undefined);
        await checkResolved(settings, target);
        sandbox.setWebhook(target, signing);
        return { url: webhookUrl() };
      },
    ),
    takes(
      'POST /balance',
      one({ freeze: string, release: string, settle: z.optional(z.literal(true, 'pass true.')) }),
      '{"freeze": "5.00"}, {"release": "5.00"} or {"settle": true}',
      ({ freeze, release, settle }) => {
        if (freeze !== undefined) sandbox.freeze(freeze);
        if (release !== undefined) sandbox.release(release);
        if (settle) sandbox.settle();
        return sandbox.balance;
      },
    ),
    takes(
      'POST /signed-request',
      fields({ eventId: text, tamper: z.optional(tamper) }),
      '{"eventId": "evt_…", "tamper": "body"}',
      async ({ eventId, ...options }) => {
        const request = await sandbox.signedRequest(context.deliveries.event(eventId), options);
        const { method, url, headers } = request;
        return { method, url, headers: Object.fromEntries(headers), body: await request.text() };
      },
    ),
    takesNothing('POST /snapshot', () => sandbox.snapshot()),
    takesNothing('POST /key', () => ({ apiKey: sandbox.regenerateKey() })),
    takes(
      'POST /checkouts/:id/complete',
      fields({ method: z.optional(paymentMethod) }),
      '{"method": "card"}',
      (options, id) => sandbox.completeCheckout(id, options),
    ),
    takes(
      'POST /checkouts/:id/fail',
      fields({ reason: z._default(declineReason, 'card_declined') }),
      '{"reason": "card_declined"}',
      ({ reason }, id) => ({ state: payments.decline(id, reason).state }),
    ),
    takesNothing('POST /checkouts/:id/cancel', (id) => sandbox.cancelCheckout(id)),
    takesNothing('POST /checkouts/:id/expire', (id) => ({
      state: payments.expire(id).state,
    })),
    takesNothing('POST /products/:id/archive', (id) => ({
      status: payments.setStatus(id, 'ARCHIVED').status,
    })),
    takesNothing('POST /products/:id/restore', (id) => ({
      status: payments.setStatus(id, 'ACTIVE').status,
    })),
    ['GET /events', (c) => newEvents(context, c)],
    takesNothing('POST /events/deliver', async () => ({ attempts: await sandbox.deliver() })),
    takesNothing('POST /events/:id/redeliver', (id) => sandbox.redeliver(id)),
  ];
}

/** Serves them. Errors are JSON too. */
export function controlRoutes(context: SandboxContext): Hono {
  const routes = new Hono();
  const failed = (c: Context, status: ContentfulStatusCode, code: string, message: string) =>
    c.json({ error: { code, message } }, status);
  const operations = controls(context).map(([route, respond]): Route<Env> => {
    return [route, async (c) => c.json(await respond(c))];
  });
  serveTable(routes, operations, (c, allow) => {
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
