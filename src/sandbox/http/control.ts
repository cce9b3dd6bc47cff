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
const field = 'a field of this body';
const bodies = {
  nothing: closed({}, field),
  clock: closed({ advance: z.optional(duration), to: string }, field),
  trigger: closed(
    {
      type: z.optional(
        z.literal('order.paid', 'pass "order.paid", the one type that the service documents.'),
      ),
      amount: string,
      currency: string,
    },
    field,
  ),
  doctor: closed({ target: string, amount: string, currency: string }, field),
  complete: closed({ method: z.optional(paymentMethod) }, field),
  fail: closed({ reason: z.optional(declineReason) }, field),
};

/**
 * What `createSandbox()` offers to a test in the same process, for programs in other languages and for the command:
 * JSON over HTTP under `/_sandbox`, a name that nobody takes for the service.
 */
export function controlRoutes(context: SandboxContext): Hono {
  const { sandbox } = context;
  const routes = new Hono();

  /** The request's JSON body. No other content type is accepted: a form of another site cannot send this one. */
  async function read<T>(request: Request, schema: z.ZodMiniType<T>, example = '{}'): Promise<T> {
    const result = schema.safeParse(await readObject(request));
    if (result.success) return result.data;
    throw new SandboxError(
      'invalid_options',
      `The body is invalid: ${problemOf(result.error)} Send ${example}.`,
    );
  }

  routes.get('/health', (c) => c.json({ status: 'ok', now: sandbox.now() }));

  routes.get('/state', (c) => {
    const { url, balance, products, checkouts, orders, events, requests } = sandbox;
    return c.json({ url, now: sandbox.now(), balance, products, checkouts, orders, events, requests });
  });

  routes.delete('/state', (c) => {
    sandbox.reset();
    return c.json({ now: sandbox.now() });
  });

  routes.post('/clock', async (c) => {
    const example = '{"advance": "2h"} or {"to": "2026-01-01T00:00:00Z"}';
    const { advance, to } = await read(c.req.raw, bodies.clock, example);
    if ((advance === undefined) === (to === undefined))
      throw new SandboxError('invalid_options', `The body is invalid: pass advance or to. Send ${example}.`);
    if (to !== undefined) await sandbox.setTime(new Date(to));
    else if (advance !== undefined) await sandbox.advanceTime(advance);
    return c.json({ now: sandbox.now() });
  });

  /** What waits, with each fault in words. */
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

  routes.post('/trigger', async (c) => {
    const example = '{"type": "order.paid", "amount": "19.90", "currency": "USD"}';
    const { type = 'order.paid', ...options } = await read(c.req.raw, bodies.trigger, example);
    return c.json(await sandbox.trigger(type, options));
  });

  routes.post('/doctor', async (c) => {
    const { target, ...price } = await read(
      c.req.raw,
      bodies.doctor,
      '{"target": "http://127.0.0.1:3000/webhooks"}',
    );
    return c.json(await sandbox.doctor(target, price));
  });

  routes.post('/snapshot', async (c) => {
    await read(c.req.raw, bodies.nothing);
    return c.json(sandbox.snapshot());
  });

  routes.post('/key', async (c) => {
    await read(c.req.raw, bodies.nothing);
    return c.json({ apiKey: sandbox.regenerateKey() });
  });

  routes.post('/checkouts/:id/complete', async (c) => {
    const options = await read(c.req.raw, bodies.complete, '{"method": "card"}');
    return c.json(await sandbox.completeCheckout(c.req.param('id'), options));
  });

  routes.post('/checkouts/:id/fail', async (c) => {
    const { reason } = await read(c.req.raw, bodies.fail, '{"reason": "card_declined"}');
    await sandbox.failCheckout(c.req.param('id'), reason);
    return c.json({ state: 'open' });
  });

  routes.post('/checkouts/:id/cancel', async (c) => {
    await read(c.req.raw, bodies.nothing);
    return c.json(await sandbox.cancelCheckout(c.req.param('id')));
  });

  routes.post('/checkouts/:id/expire', async (c) => {
    await read(c.req.raw, bodies.nothing);
    await sandbox.expireCheckout(c.req.param('id'));
    return c.json({ state: 'expired' });
  });

  routes.post('/products/:id/:change{archive|restore}', async (c) => {
    await read(c.req.raw, bodies.nothing);
    const { id, change } = c.req.param();
    if (change === 'archive') sandbox.archiveProduct(id);
    else sandbox.restoreProduct(id);
    return c.json({ status: context.payments.product(id).status });
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
      await pause(waitMs, [arrived.signal, c.req.raw.signal, context.closing]);
      unsubscribe();
    }
    return c.json({ events: newer() });
  });

  routes.post('/events/deliver', async (c) => {
    await read(c.req.raw, bodies.nothing);
    return c.json({ attempts: await sandbox.deliver() });
  });

  routes.post('/events/:id/redeliver', async (c) => {
    await read(c.req.raw, bodies.nothing);
    return c.json(await sandbox.redeliver(c.req.param('id')));
  });

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
