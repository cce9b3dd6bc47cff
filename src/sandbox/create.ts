import * as z from 'zod/mini';
import { diagnose, priceShape } from '../doctor/doctor.js';
import { durationMs } from '../input/duration.js';
import { validDate } from '../input/fields.js';
import { functionSchema } from '../input/functions.js';
import { integer } from '../input/read.js';
import { TargetError, targetProblem } from '../sending/address.js';
import { toRequest } from '../sending/send.js';
import { readOptions, refuse, SandboxError } from './checks.js';
import { createParts, type SandboxContext, type SandboxParts } from './context.js';
import { signBody, tamper } from './delivery/signing.js';
import { describeArmed, readFault } from './faults.js';
import { sandboxApp } from './http/app.js';
import type { Paid, Sandbox } from './sandbox.js';
import type { SandboxEvent } from './service/event.js';
import { viewBalance } from './service/money.js';
import type { Payment } from './service/payments.js';
import { declineReason, paymentMethod, viewProduct } from './service/records.js';
import { takeSnapshot } from './service/snapshot.js';
import { Store } from './service/store.js';
import { causeEvent } from './service/trigger.js';
import { changeWebhook, newApiKey, type SandboxOptions, seedOption } from './settings.js';

/**
 * Starts a sandbox: an emulation of the whole API in this process, without a socket or a timer.
 *
 * @example
 * ```ts
 * import { PaymentsClient } from 'merchant-payments';
 * import { createSandbox } from 'merchant-payments/sandbox';
 *
 * const sandbox = createSandbox();
 * const client = new PaymentsClient(sandbox.clientOptions);
 * const product = await client.products.create({ name: 'Mug', price: '19.90' });
 * const { url } = await client.checkouts.create({ productId: product.id });
 * const { order } = await sandbox.completeCheckout(url);
 * console.log(order.amount);
 * ```
 */
export function createSandbox(options: SandboxOptions = {}): Sandbox {
  return createContext(options).sandbox;
}

/** Creates a sandbox with its parts, for the command, which logs and saves what they emit. */
export function createContext(options: SandboxOptions): SandboxContext {
  const parts = createParts(options, (request) => app(request));
  const context = { ...parts, sandbox: createInterface(parts) };
  const app = sandboxApp(context);
  return context;
}

const resetOptions = z.strictObject({ seed: z.optional(seedOption) });
const completeOptions = z.strictObject({ method: z._default(paymentMethod, 'card') });
const advanceParams = z.object({ by: durationMs() });
const setTimeParams = z.object({ to: validDate });
const failParams = z.object({ reason: declineReason });
const waitOptions = z.strictObject({ timeoutMs: z._default(integer(0, 2 ** 31 - 1), 5000) });
const signedRequestOptions = z.strictObject({ tamper: z.optional(tamper) });
const doctorOptions = z.strictObject({ ...priceShape, onStep: z.optional(functionSchema<[string]>()) });

function createInterface(parts: SandboxParts): Sandbox {
  const { settings, store, clock, payments, schedule, deliveries, faults, requests, listening, log } = parts;
  /** Resolves to the result of a payment, once the first attempt to deliver its event is over. */
  async function resultOf({ checkout, order, event }: Payment): Promise<Paid> {
    const delivery = await deliveries.inFlight(event);
    return structuredClone({ order, event, delivery, redirectUrl: checkout.successUrl });
  }

  async function logMove(move: Promise<void>): Promise<void> {
    await move;
    log({ type: 'clock', now: sandbox.now() });
  }

  // The members are on a prototype, so that printing a sandbox shows neither key nor secret.
  const sandbox: Sandbox = Object.create({
    get url() {
      return listening.url;
    },
    get apiKey() {
      return settings.apiKey;
    },
    get webhookSecret() {
      return settings.webhookSecret;
    },
    get clientOptions() {
      const options = { baseUrl: listening.url, apiKey: settings.apiKey };
      return listening.listens ? options : { ...options, fetch: sandbox.fetch };
    },
    get dashboardUrl() {
      const { accessToken } = parts.guard;
      return `${listening.origin}/${accessToken === undefined ? '' : `?token=${encodeURIComponent(accessToken)}`}`;
    },

    fetch: (input, init) => listening.fetch(input, init),
    async listen(options = {}) {
      await listening.listen(options);
      return sandbox;
    },
    close: async () => void (await Promise.all([listening.close(), deliveries.close()])),
    [Symbol.asyncDispose]: () => sandbox.close(),
    reset(options = {}) {
      const { seed = settings.seed } = readOptions('reset', resetOptions, options);
      schedule.reset();
      Object.assign(store, new Store(clock.now(), seed));
      requests.entries = [];
      parts.activity.entries = [];
      faults.waiting = [];
      deliveries.reset();
      payments.stock();
      log({ type: 'reset' });
    },

    async completeCheckout(ref, options = {}) {
      const { method } = readOptions('completeCheckout', completeOptions, options);
      return resultOf(payments.pay(ref, method));
    },
    async failCheckout(ref, reason = 'card_declined') {
      payments.decline(ref, readOptions('failCheckout', failParams, { reason }).reason);
    },
    cancelCheckout: async (ref) => ({ redirectUrl: payments.cancel(ref).cancelUrl }),
    expireCheckout: async (ref) => void payments.expire(ref),

    archiveProduct: (id) => void payments.setStatus(id, 'ARCHIVED'),
    restoreProduct: (id) => void payments.setStatus(id, 'ACTIVE'),
    regenerateKey() {
      settings.apiKey = newApiKey();
      return settings.apiKey;
    },
    setWebhook: (target, signing = {}) => changeWebhook(settings, target, signing),
    settle: () => payments.settle(),

    get products() {
      return [...store.products.values()].map(viewProduct);
    },
    get checkouts() {
      payments.catchUp();
      return [...store.checkouts.values()].map((checkout) => ({
        ...structuredClone(checkout),
        url: listening.checkoutUrl(checkout.id),
      }));
    },
    get orders() {
      payments.catchUp();
      return structuredClone([...store.orders.values()]);
    },
    get events() {
      return structuredClone([...store.events.values()]);
    },
    get requests() {
      return structuredClone([...requests.entries]);
    },
    get balance() {
      payments.catchUp();
      return viewBalance(store.ledger, settings.currency);
    },

    trigger: async (type, options) => resultOf(causeEvent(payments, type, options, settings.currency)),
    deliver: async () => structuredClone(await deliveries.deliver()),
    redeliver: async (id) => structuredClone(await deliveries.redeliver(id)),
    async waitForEvent(match = () => true, options = {}) {
      const { timeoutMs } = readOptions('waitForEvent', waitOptions, options);
      const look = (event: SandboxEvent) => {
        const copy = structuredClone(event);
        return match(copy) ? copy : undefined;
      };
      for (const event of store.events.values()) {
        const there = look(event);
        if (there) return there;
      }
      const found = await deliveries.changed.first(look, timeoutMs, [listening.closing]);
      if (found) return found;
      const problem = `no event matched within ${timeoutMs} ms; there are ${store.events.size} events`;
      throw new SandboxError('wait_timeout', `waitForEvent: ${problem}. Pay a checkout, or wait longer.`);
    },
    async signedRequest(event, options = {}) {
      const { body } = deliveries.event(event?.id);
      const { tamper: how } = readOptions('signedRequest', signedRequestOptions, options);
      return toRequest(settings.webhook, signBody(body, settings, clock, how));
    },
    async doctor(target, options = {}) {
      const given = readOptions('doctor', doctorOptions, options);
      const receiver = target ?? settings.webhook;
      refuse('doctor', 'target', targetProblem(receiver, settings.allowRemoteWebhooks));
      if (receiver === undefined)
        throw new SandboxError('no_webhook', 'doctor: pass the URL or the route handler, or set a webhook.');
      const diagnosis = await diagnose({
        target: receiver,
        secret: settings.webhookSecret,
        scheme: settings.choices.signature,
        ...given,
        timeoutMs: settings.choices.deliveryTimeout,
        allowRemote: settings.allowRemoteWebhooks,
        signal: listening.closing,
      }).catch((error: unknown) => {
        if (error instanceof TargetError) refuse('doctor', 'target', error.message);
        throw error;
      });
      parts.diagnosis.value = diagnosis;
      return diagnosis;
    },

    now: () => new Date(clock.now()),
    advanceTime: async (by) => logMove(schedule.moveBy(readOptions('advanceTime', advanceParams, { by }).by)),
    setTime: async (to) =>
      logMove(schedule.moveTo(readOptions('setTime', setTimeParams, { to }).to.getTime())),
    failNext(fault) {
      const says = describeArmed(faults.add(readFault(fault, 'failNext')));
      log({ type: 'fault', says });
    },
    get faults() {
      return faults.waiting.map(({ fault, left }) => ({ fault: { ...fault }, left }));
    },
    clearFaults() {
      faults.waiting = [];
      log({ type: 'faults_cleared' });
    },
    snapshot() {
      payments.catchUp();
      return takeSnapshot(store, clock, settings);
    },
  } satisfies Sandbox);
  return sandbox;
}
