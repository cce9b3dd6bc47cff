import type { SandboxParts } from './context.js';
import { asRequest } from './delivery/send.js';
import { signed } from './delivery/signing.js';
import { waitForEvent } from './delivery/wait.js';
import { examine } from './examine.js';
import { readFault } from './faults.js';
import type { Sandbox } from './sandbox.js';
import { SandboxError } from './sandbox-error.js';
import { milliseconds } from './service/duration.js';
import { viewBalance } from './service/ledger.js';
import { viewProduct } from './service/product.js';
import { takeSnapshot } from './service/snapshot.js';
import { testCheckout } from './service/test-checkout.js';
import { checkedTarget, newApiKey } from './settings.js';

/** The public interface over the parts, which do the work. */
export function localSandbox(parts: SandboxParts): Sandbox {
  const { settings, store, clock, payments, schedule, deliveries, faults, requests, guard, reach } = parts;
  // As a prototype, so that printing a sandbox shows neither key nor secret.
  const sandbox: Sandbox = Object.create({
    get url() {
      return reach.url;
    },
    get apiKey() {
      return settings.apiKey;
    },
    get webhookSecret() {
      return settings.webhookSecret;
    },
    get clientOptions() {
      const options = { baseUrl: reach.url, apiKey: settings.apiKey };
      return reach.listens ? options : { ...options, fetch: sandbox.fetch };
    },
    get dashboardUrl() {
      return `${reach.origin}/${guard.accessToken === undefined ? '' : `?token=${guard.accessToken}`}`;
    },

    fetch: (input, init) => reach.fetch(input, init),
    async listen(options = {}) {
      await reach.listen(options);
      return sandbox;
    },
    async close() {
      await Promise.all([reach.close(), deliveries.close()]);
    },
    [Symbol.asyncDispose]: () => sandbox.close(),
    reset({ seed = settings.seed } = {}) {
      schedule.reset();
      store.clear(clock.now(), seed);
      requests.clear();
      faults.clear();
      deliveries.reset();
    },

    async completeCheckout(ref, { method = 'card' } = {}) {
      const { checkout, order, event } = payments.pay(ref, method);
      const delivery = await deliveries.inFlight(event);
      return structuredClone({
        order,
        event,
        delivery,
        redirectUrl: payments.returnUrl(checkout, 'success'),
      });
    },
    async failCheckout(ref, reason = 'card_declined') {
      payments.decline(ref, reason);
    },
    async cancelCheckout(ref) {
      return { redirectUrl: payments.returnUrl(payments.cancel(ref), 'cancel') };
    },
    async expireCheckout(ref) {
      payments.expire(ref);
    },

    archiveProduct: (id) => payments.setStatus(id, 'ARCHIVED'),
    restoreProduct: (id) => payments.setStatus(id, 'ACTIVE'),
    regenerateKey() {
      settings.apiKey = newApiKey(settings.livePrefix);
      return settings.apiKey;
    },
    setWebhook(target) {
      settings.webhook = checkedTarget(target);
    },
    freeze: (amount) => payments.shift(amount, 'available'),
    release: (amount) => payments.shift(amount, 'frozen'),
    settle: () => payments.settle(),

    get products() {
      return [...store.products.values()].map(viewProduct);
    },
    get checkouts() {
      payments.catchUp();
      return [...store.checkouts.values()].map((checkout) => ({
        ...structuredClone(checkout),
        url: reach.checkoutUrl(checkout.id),
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

    async trigger(type, options) {
      if (type !== 'order.paid')
        throw new SandboxError('invalid_options', 'trigger: the service documents one event, "order.paid".');
      const { id } = testCheckout(payments, { currency: settings.currency, ...options });
      return sandbox.completeCheckout(id);
    },
    deliver: async () => structuredClone(await deliveries.deliver()),
    redeliver: async (eventId) => structuredClone(await deliveries.redeliver(eventId)),
    waitForEvent: (match, options) => waitForEvent(store, deliveries.changed, reach.closing, match, options),
    async signedRequest({ id }, { tamper } = {}) {
      const { body } = deliveries.event(id);
      return asRequest(settings.webhook, signed(body, settings, clock, tamper));
    },
    doctor: (target, options = {}) => examine(parts, target, options),

    now: () => new Date(clock.now()),
    async advanceTime(by) {
      await schedule.moveBy(milliseconds(by, 'advanceTime'));
    },
    async setTime(to) {
      if (!(to instanceof Date && Number.isFinite(to.getTime())))
        throw new SandboxError('invalid_options', 'setTime: pass a Date.');
      await schedule.moveTo(to.getTime());
    },
    failNext: (fault) => faults.add(readFault(fault, 'failNext')),
    get faults() {
      return faults.waiting.map(({ fault, left }) => ({ fault: { ...fault }, left }));
    },
    clearFaults: () => faults.clear(),
    snapshot() {
      payments.catchUp();
      return takeSnapshot(store, clock, settings);
    },
  } satisfies Sandbox);
  return sandbox;
}
