import { Hono } from 'hono/tiny';
import * as z from 'zod/mini';
import type { SandboxContext } from '../context.js';
import { pause } from '../pause.js';
import { SandboxError } from '../sandbox-error.js';
import { milliseconds } from '../service/duration.js';
import type { SandboxEvent } from '../types.js';
import { readObject } from './body.js';
import { Exchange, Refusal } from './exchange.js';

const duration = z.union([z.number(), z.string()]);
const text = z.string();
const wait = z.pipe(
  duration,
  z.transform((value) => milliseconds(value, 'delay')),
);
const match = {
  method: z.optional(text),
  path: z.optional(text),
  times: z.optional(z.number()),
  when: z.optional(z.enum(['before', 'after'])),
  delay: z.optional(wait),
};
const fault = z.union([
  z.strictObject({ clear: z.literal(true) }),
  z.strictObject({
    webhook: z.literal(true),
    times: match.times,
    duplicate: z.optional(z.number()),
    hold: z.optional(z.boolean()),
    drop: z.optional(z.boolean()),
    tamper: z.optional(z.enum(['body', 'signature', 'timestamp', 'missing', 'secret', 'stale', 'future'])),
    delay: match.delay,
  }),
  z.strictObject({
    ...match,
    status: z.number(),
    body: z.unknown(),
    headers: z.optional(z.record(text, text)),
  }),
  z.strictObject({ ...match, status: z.number(), headers: z.optional(z.record(text, text)) }),
  z.strictObject({ ...match, network: z.enum(['reset', 'timeout', 'refused']) }),
  z.strictObject({ ...match, delay: wait }),
  z.strictObject({
    ...match,
    malformed: z.enum(['html', 'truncated', 'empty', 'not-enveloped', 'code-not-zero']),
  }),
]);
const clock = z.union([z.strictObject({ advance: duration }), z.strictObject({ to: text })]);
const trigger = z.strictObject({
  type: z.optional(z.literal('order.paid')),
  amount: z.optional(text),
  currency: z.optional(text),
});
const doctor = z.strictObject({
  target: z.optional(text),
  amount: z.optional(text),
  currency: z.optional(text),
});
const completion = z.strictObject({ method: z.optional(z.enum(['card', 'walletA', 'walletB'])) });
const decline = z.strictObject({
  reason: z.optional(z.enum(['card_declined', 'insufficient_funds', 'wallet_declined'])),
});
const nothing = z.strictObject({});

/**
 * What `createSandbox()` offers to a test in the same process, for programs in other languages and for the command:
 * JSON over HTTP under `/_sandbox`, a name that nobody takes for the service.
 */
export function controlRoutes(context: SandboxContext): Hono {
  const { sandbox } = context;
  const routes = new Hono();

  /** The request's JSON body. No other content type is taken: a form of another site cannot send this one. */
  async function read<T>(request: Request, schema: z.ZodMiniType<T>, usage: string): Promise<T> {
    const result = schema.safeParse(await readObject(request, new Exchange()));
    if (result.success) return result.data;
    throw new SandboxError('invalid_options', `The body cannot be meant. Send ${usage}.`);
  }

  routes.get('/health', (c) => c.json({ status: 'ok', now: sandbox.now() }));

  routes.get('/state', (c) =>
    c.json({
      url: sandbox.url,
      now: sandbox.now(),
      balance: sandbox.balance,
      products: sandbox.products,
      checkouts: sandbox.checkouts,
      orders: sandbox.orders,
      events: sandbox.events,
      requests: sandbox.requests,
    }),
  );

  routes.delete('/state', async (c) => {
    await read(c.req.raw, nothing, '{}');
    sandbox.reset();
    return c.json({ now: sandbox.now() });
  });

  routes.post('/clock', async (c) => {
    const move = await read(c.req.raw, clock, '{"advance": "2h"} or {"to": "2026-01-01T00:00:00Z"}');
    if ('to' in move) await sandbox.setTime(new Date(move.to));
    else await sandbox.advanceTime(milliseconds(move.advance, 'advance'));
    return c.json({ now: sandbox.now() });
  });

  routes.post('/faults', async (c) => {
    const order = await read(c.req.raw, fault, 'a fault such as {"status": 503}, or {"clear": true}');
    if ('clear' in order) sandbox.clearFaults();
    else sandbox.failNext(order);
    return c.json({ ordered: !('clear' in order) });
  });

  routes.post('/trigger', async (c) => {
    const { type = 'order.paid', ...options } = await read(
      c.req.raw,
      trigger,
      '{"type": "order.paid", "amount": "19.90", "currency": "USD"}',
    );
    return c.json(await sandbox.trigger(type, options));
  });

  routes.post('/doctor', async (c) => {
    const { target, ...price } = await read(
      c.req.raw,
      doctor,
      '{} or {"target": "http://127.0.0.1:3000/webhooks"}',
    );
    return c.json(await sandbox.doctor(target, price));
  });

  routes.post('/snapshot', async (c) => {
    await read(c.req.raw, nothing, '{}');
    return c.json(sandbox.snapshot());
  });

  routes.post('/key', async (c) => {
    await read(c.req.raw, nothing, '{}');
    return c.json({ apiKey: sandbox.regenerateKey() });
  });

  routes.post('/checkouts/:id/complete', async (c) =>
    c.json(
      await sandbox.completeCheckout(
        c.req.param('id'),
        await read(c.req.raw, completion, '{"method": "card"}'),
      ),
    ),
  );
  routes.post('/checkouts/:id/fail', async (c) => {
    const { reason } = await read(c.req.raw, decline, '{"reason": "card_declined"}');
    await sandbox.failCheckout(c.req.param('id'), reason);
    return c.json({ state: 'open' });
  });
  routes.post('/checkouts/:id/cancel', async (c) => {
    await read(c.req.raw, nothing, '{}');
    return c.json(await sandbox.cancelCheckout(c.req.param('id')));
  });
  routes.post('/checkouts/:id/expire', async (c) => {
    await read(c.req.raw, nothing, '{}');
    await sandbox.expireCheckout(c.req.param('id'));
    return c.json({ state: 'expired' });
  });

  routes.post('/products/:id/:change{archive|restore}', async (c) => {
    await read(c.req.raw, nothing, '{}');
    const { id, change } = c.req.param();
    if (change === 'archive') sandbox.archiveProduct(id);
    else sandbox.restoreProduct(id);
    return c.json({ status: context.payments.product(id).status });
  });

  routes.get('/events', async (c) => {
    const { after, wait = '0' } = c.req.query();
    const newer = (): SandboxEvent[] => {
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
    await read(c.req.raw, nothing, '{}');
    return c.json({ attempts: await sandbox.deliver() });
  });

  routes.post('/events/:id/redeliver', async (c) => {
    await read(c.req.raw, nothing, '{}');
    return c.json(await sandbox.redeliver(c.req.param('id')));
  });

  routes.all('*', (c) =>
    c.json(
      {
        error: { code: 'unknown_path', message: 'There is no such control route, or not with this method.' },
      },
      404,
    ),
  );

  routes.onError((error, c) => {
    if (error instanceof SandboxError) {
      const { code, message } = error;
      return c.json({ error: { code, message } }, statuses.get(code) ?? 400);
    }
    if (error instanceof Refusal) {
      const status = error.kind === 'content_type' ? 415 : error.kind === 'body_too_large' ? 413 : 400;
      return c.json({ error: { code: error.kind, message: error.message } }, status);
    }
    throw error;
  });

  return routes;
}

const longestWait = 60_000;

const statuses = new Map<string, 404 | 409>([
  ['unknown_id', 404],
  ['not_payable', 409],
  ['insufficient_balance', 409],
  ['no_webhook', 409],
]);
