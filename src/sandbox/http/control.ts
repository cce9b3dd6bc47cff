import type { Context, Env } from 'hono';
import { Hono } from 'hono/tiny';
import * as z from 'zod/mini';
import { pause } from '../abort.js';
import { closed } from '../closed.js';
import type { SandboxContext } from '../context.js';
import { tamper } from '../delivery/signing.js';
import { resolvedProblem } from '../delivery/target.js';
import { describeArmed, readFault } from '../faults.js';
import type { Sandbox } from '../sandbox.js';
import { problemOf, SandboxError } from '../sandbox-error.js';
import { declineReason, paymentMethod } from '../service/checkout.js';
import { duration, milliseconds } from '../service/duration.js';
import { eventType } from '../service/event-types.js';
import { readObject } from './body.js';
import { Refusal } from './notes.js';
import { type RouteTable, serveTable } from './table.js';

const text = z.string('pass a string.');
const string = z.optional(text);
const isDate = (value: unknown) => typeof value === 'string' && !Number.isNaN(Date.parse(value));
const date = z.custom<string>(isDate, { error: ({ input }) => `${JSON.stringify(input)} is not a date.` });
const scheme = z.optional(z.looseObject({}, 'pass an object.'));

/** Responds to a JSON body with these fields. `example` is one, for messages. */
function takes<const Shape extends z.core.$ZodLooseShape>(
  shape: Shape,
  example: string,
  run: (
    body: z.output<z.ZodMiniObject<Shape, z.core.$strict>>,
    id: string,
    wrong: (problem: string) => Error,
  ) => object | Promise<object>,
): Respond {
  const wrong = (problem: string) =>
    new SandboxError('invalid_options', `The body is invalid: ${problem} Send ${example}.`);
  return async (c) => {
    const result = closed(shape, 'a field of this body').safeParse(await readObject(c.req.raw));
    if (!result.success) throw wrong(problemOf(result.error));
    return run(result.data, c.req.param('id') ?? '', wrong);
  };
}

/** Responds to an empty body. */
const takesNothing = (run: (id: string) => object | Promise<object>) => takes({}, '{}', (_, id) => run(id));

/** A route, the members of the sandbox that it stands for, and what it responds. */
type Control = readonly [
  route: `${'GET' | 'POST' | 'DELETE'} /${string}`,
  members: readonly (keyof Sandbox)[],
  respond: Respond,
];
type Respond = (c: Context) => object | Promise<object>;

/**
 * What `createSandbox()` can do, for other processes, such as programs in other languages and our commands: JSON over
 * HTTP under `/_sandbox`, which nobody mistakes for a path of the service.
 */
export function controls(context: SandboxContext): readonly Control[] {
  const { sandbox, settings } = context;
  const now = () => ({ now: sandbox.now() });
  const waiting = () => ({
    faults: context.faults.waiting.map((armed) => ({ says: describeArmed(armed), ...armed })),
  });
  const webhook = () => ({ url: typeof settings.webhook === 'string' ? settings.webhook : null });

  return [
    ['GET /health', ['now'], () => ({ status: 'ok', ...now() })],
    [
      'GET /state',
      ['url', 'now', 'balance', 'products', 'checkouts', 'orders', 'events', 'requests'],
      () => {
        const { url, balance, products, checkouts, orders, events, requests } = sandbox;
        return {
          url,
          ...now(),
          webhook: webhook().url,
          balance,
          products,
          checkouts,
          orders,
          events,
          requests,
        };
      },
    ],
    [
      'DELETE /state',
      ['reset'],
      (c) => {
        const seed = c.req.query('seed');
        sandbox.reset({ seed: seed === undefined ? undefined : Number(seed || 'none') });
        return now();
      },
    ],
    [
      'POST /clock',
      ['advanceTime', 'setTime'],
      takes(
        { advance: z.optional(duration), to: z.optional(date) },
        '{"advance": "2h"} or {"to": "2026-01-01T00:00:00Z"}',
        async ({ advance, to }, _, wrong) => {
          if ((advance === undefined) === (to === undefined)) throw wrong('pass advance or to.');
          if (to !== undefined) await sandbox.setTime(new Date(to));
          else if (advance !== undefined) await sandbox.advanceTime(advance);
          return now();
        },
      ),
    ],
    ['GET /faults', ['faults'], waiting],
    [
      'POST /faults',
      ['failNext', 'clearFaults'],
      async (c) => {
        const fault = await readObject(c.req.raw);
        if (fault.clear === true) sandbox.clearFaults();
        else sandbox.failNext(readFault(fault, 'The fault is invalid'));
        return waiting();
      },
    ],
    [
      'POST /trigger',
      ['trigger'],
      takes(
        { type: z.optional(eventType), amount: string, currency: string },
        '{"type": "order.paid", "amount": "19.90", "currency": "USD"}',
        ({ type = 'order.paid', ...options }) => sandbox.trigger(type, options),
      ),
    ],
    [
      'POST /doctor',
      ['doctor'],
      takes(
        { target: string, amount: string, currency: string },
        '{"target": "http://127.0.0.1:3000/webhooks"}',
        ({ target, ...price }) => sandbox.doctor(target, price),
      ),
    ],
    [
      'POST /webhook',
      ['setWebhook'],
      takes(
        { url: z.optional(z.nullable(text)), secret: string, scheme },
        '{"url": "http://127.0.0.1:3000/webhooks"} or {"url": null}',
        async ({ url, ...signing }) => {
          const target = url === undefined ? settings.webhook : (url ?? undefined);
          const problem = await resolvedProblem(target, settings.allowRemoteWebhooks);
          if (problem !== undefined) throw new SandboxError('invalid_options', `webhook: ${problem}`);
          sandbox.setWebhook(target, signing);
          return webhook();
        },
      ),
    ],
    [
      'POST /balance',
      ['freeze', 'release', 'settle'],
      takes(
        { freeze: string, release: string, settle: z.optional(z.literal(true, 'pass true.')) },
        '{"freeze": "5.00"}, {"release": "5.00"} or {"settle": true}',
        (move, _, wrong) => {
          if (Object.keys(move).length !== 1) throw wrong('pass one of freeze, release and settle.');
          if (move.freeze !== undefined) sandbox.freeze(move.freeze);
          else if (move.release !== undefined) sandbox.release(move.release);
          else sandbox.settle();
          return sandbox.balance;
        },
      ),
    ],
    [
      'POST /signed-request',
      ['signedRequest'],
      takes(
        { eventId: text, tamper: z.optional(tamper) },
        '{"eventId": "evt_…", "tamper": "body"}',
        async ({ eventId, ...options }) => {
          const request = await sandbox.signedRequest(context.deliveries.event(eventId), options);
          const { method, url, headers } = request;
          return { method, url, headers: Object.fromEntries(headers), body: await request.text() };
        },
      ),
    ],
    ['POST /snapshot', ['snapshot'], takesNothing(() => sandbox.snapshot())],
    ['POST /key', ['regenerateKey'], takesNothing(() => ({ apiKey: sandbox.regenerateKey() }))],
    [
      'POST /checkouts/:id/complete',
      ['completeCheckout'],
      takes({ method: z.optional(paymentMethod) }, '{"method": "card"}', (options, id) =>
        sandbox.completeCheckout(id, options),
      ),
    ],
    [
      'POST /checkouts/:id/fail',
      ['failCheckout'],
      takes({ reason: z.optional(declineReason) }, '{"reason": "card_declined"}', async ({ reason }, id) => {
        await sandbox.failCheckout(id, reason);
        return { state: 'open' };
      }),
    ],
    ['POST /checkouts/:id/cancel', ['cancelCheckout'], takesNothing((id) => sandbox.cancelCheckout(id))],
    [
      'POST /checkouts/:id/expire',
      ['expireCheckout'],
      takesNothing(async (id) => {
        await sandbox.expireCheckout(id);
        return { state: 'expired' };
      }),
    ],
    [
      'POST /products/:id/archive',
      ['archiveProduct'],
      takesNothing((id) => {
        sandbox.archiveProduct(id);
        return { status: 'ARCHIVED' };
      }),
    ],
    [
      'POST /products/:id/restore',
      ['restoreProduct'],
      takesNothing((id) => {
        sandbox.restoreProduct(id);
        return { status: 'ACTIVE' };
      }),
    ],
    ['GET /events', ['events', 'waitForEvent'], (c) => newEvents(context, c)],
    ['POST /events/deliver', ['deliver'], takesNothing(async () => ({ attempts: await sandbox.deliver() }))],
    ['POST /events/:id/redeliver', ['redeliver'], takesNothing((id) => sandbox.redeliver(id))],
  ];
}

/** Serves them. Errors are JSON too. */
export function controlRoutes(context: SandboxContext): Hono {
  const table: Record<string, RouteTable<Env>[string]> = {};
  for (const [route, , respond] of controls(context)) {
    const [method = '', path = ''] = route.split(' ');
    table[path] = { ...table[path], [method]: async (c) => c.json(await respond(c)) };
  }
  const routes = new Hono();
  serveTable(routes, table, (c, allow) => {
    const message = `${c.req.method} is not a method of this control route. It has ${allow}.`;
    return c.json({ error: { code: 'wrong_method', message } }, 405, { allow });
  });
  routes.all('*', (c) =>
    c.json({ error: { code: 'unknown_path', message: 'There is no such control route.' } }, 404),
  );
  routes.onError((error, c) => {
    if (!(error instanceof SandboxError || error instanceof Refusal)) throw error;
    const code = error instanceof Refusal ? error.kind : error.code;
    return c.json({ error: { code, message: error.message } }, statuses.get(code) ?? 400);
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
  if (newer().length === 0 && waitMs > 0) {
    const arrived = new AbortController();
    const unsubscribe = deliveries.changed.subscribe(() => {
      if (newer().length > 0) arrived.abort();
    });
    await pause(waitMs, [arrived.signal, c.req.raw.signal, reach.closing]);
    unsubscribe();
  }
  return { events: newer() };
}

const longestWait = 60_000;

const statuses = new Map<string, 404 | 409 | 413 | 415>([
  ['unknown_id', 404],
  ['not_payable', 409],
  ['insufficient_balance', 409],
  ['no_webhook', 409],
  ['body_too_large', 413],
  ['content_type', 415],
]);
