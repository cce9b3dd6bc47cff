import { Hono } from 'hono/tiny';
import * as z from 'zod/mini';
import { pause } from '../abort.js';
import { closed, problemOf } from '../closed.js';
import type { SandboxContext } from '../context.js';
import { describeArmed, readFault } from '../faults.js';
import { SandboxError } from '../sandbox-error.js';
import { declineReason, paymentMethod } from '../service/checkout.js';
import { duration, milliseconds } from '../service/duration.js';
import { readObject } from './body.js';
import { Refusal } from './notes.js';

const string = z.optional(z.string('pass a string.'));
const type = z.optional(
  z.literal('order.paid', 'pass "order.paid", the one type that the service documents.'),
);
const isDate = (value: unknown) => typeof value === 'string' && !Number.isNaN(Date.parse(value));
const date = z.custom<string>(isDate, { error: ({ input }) => `${JSON.stringify(input)} is not a date.` });
const field = 'a field of this body';
const bodies = {
  nothing: closed({}, field),
  clock: closed({ advance: z.optional(duration), to: z.optional(date) }, field),
  trigger: closed({ type, amount: string, currency: string }, field),
  doctor: closed({ target: string, amount: string, currency: string }, field),
  complete: closed({ method: z.optional(paymentMethod) }, field),
  fail: closed({ reason: z.optional(declineReason) }, field),
};

/**
 * The methods of `createSandbox()` for other processes, such as programs in other languages and our commands: JSON over
 * HTTP under `/_sandbox`, which nobody mistakes for a path of the service.
 */
export function controlRoutes(context: SandboxContext): Hono {
  const { sandbox } = context;
  const routes = new Hono();

  /** Takes a JSON body of this form. No other content type is accepted: a form of another site cannot send this one. */
  function post<T>(
    path: string,
    body: z.ZodMiniType<T>,
    example: string,
    run: (body: T, id: string) => object,
  ) {
    routes.post(path, async (c) => {
      const result = body.safeParse(await readObject(c.req.raw));
      if (result.success) return c.json(await run(result.data, c.req.param('id') ?? ''));
      const message = `The body is invalid: ${problemOf(result.error)} Send ${example}.`;
      throw new SandboxError('invalid_options', message);
    });
  }

  /** Takes an empty JSON object. */
  const postNothing = (path: string, run: (id: string) => object) =>
    post(path, bodies.nothing, '{}', (_, id) => run(id));

  routes.get('/health', (c) => c.json({ status: 'ok', now: sandbox.now() }));

  routes.get('/state', (c) => {
    const { url, balance, products, checkouts, orders, events, requests } = sandbox;
    return c.json({ url, now: sandbox.now(), balance, products, checkouts, orders, events, requests });
  });

  routes.delete('/state', (c) => {
    sandbox.reset();
    return c.json({ now: sandbox.now() });
  });

  const clockExample = '{"advance": "2h"} or {"to": "2026-01-01T00:00:00Z"}';
  post('/clock', bodies.clock, clockExample, async ({ advance, to }) => {
    if ((advance === undefined) === (to === undefined)) {
      const message = `The body is invalid: pass advance or to. Send ${clockExample}.`;
      throw new SandboxError('invalid_options', message);
    }
    if (to !== undefined) await sandbox.setTime(new Date(to));
    else if (advance !== undefined) await sandbox.advanceTime(advance);
    return { now: sandbox.now() };
  });

  /** Events and faults that wait, with each fault in words. */
  const waiting = () => ({
    faults: context.faults.waiting.map((armed) => ({ says: describeArmed(armed), ...armed })),
  });

  routes.get('/faults', (c) => c.json(waiting()));

  routes.post('/faults', async (c) => {
    const body = await readObject(c.req.raw);
    if (body.clear === true) sandbox.clearFaults();
    else sandbox.failNext(readFault(body, 'The fault is invalid'));
    return c.json(waiting());
  });

  const triggerExample = '{"type": "order.paid", "amount": "19.90", "currency": "USD"}';
  post('/trigger', bodies.trigger, triggerExample, ({ type = 'order.paid', ...options }) =>
    sandbox.trigger(type, options),
  );
  const doctorExample = '{"target": "http://127.0.0.1:3000/webhooks"}';
  post('/doctor', bodies.doctor, doctorExample, ({ target, ...price }) => sandbox.doctor(target, price));
  postNothing('/snapshot', () => sandbox.snapshot());
  postNothing('/key', () => ({ apiKey: sandbox.regenerateKey() }));

  post('/checkouts/:id/complete', bodies.complete, '{"method": "card"}', (options, id) =>
    sandbox.completeCheckout(id, options),
  );
  post('/checkouts/:id/fail', bodies.fail, '{"reason": "card_declined"}', async ({ reason }, id) => {
    await sandbox.failCheckout(id, reason);
    return { state: 'open' };
  });
  postNothing('/checkouts/:id/cancel', (id) => sandbox.cancelCheckout(id));
  postNothing('/checkouts/:id/expire', async (id) => {
    await sandbox.expireCheckout(id);
    return { state: 'expired' };
  });

  postNothing('/products/:id/archive', (id) => {
    sandbox.archiveProduct(id);
    return { status: 'ARCHIVED' };
  });
  postNothing('/products/:id/restore', (id) => {
    sandbox.restoreProduct(id);
    return { status: 'ACTIVE' };
  });

  routes.get('/events', async (c) => {
    const { after, wait = '0' } = c.req.query();
    const newer = () => {
      const { events } = sandbox;
      return after === undefined ? events : events.slice(events.findIndex(({ id }) => id === after) + 1);
    };
    if (after !== undefined) context.deliveries.event(after);
    const waitMs = Math.min(milliseconds(/^\d+$/.test(wait) ? Number(wait) : wait, 'wait'), longestWait);
    if (newer().length === 0 && waitMs > 0) {
      const arrived = new AbortController();
      const unsubscribe = context.deliveries.changed.subscribe(() => {
        if (newer().length > 0) arrived.abort();
      });
      await pause(waitMs, [arrived.signal, c.req.raw.signal, context.reach.closing]);
      unsubscribe();
    }
    return c.json({ events: newer() });
  });

  postNothing('/events/deliver', async () => ({ attempts: await sandbox.deliver() }));
  postNothing('/events/:id/redeliver', (id) => sandbox.redeliver(id));

  routes.all('*', (c) => {
    const message = 'There is no such control route, or not with this method.';
    return c.json({ error: { code: 'unknown_path', message } }, 404);
  });

  routes.onError((error, c) => {
    if (!(error instanceof SandboxError || error instanceof Refusal)) throw error;
    const code = error instanceof Refusal ? error.kind : error.code;
    return c.json({ error: { code, message: error.message } }, statuses.get(code) ?? 400);
  });

  return routes;
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
