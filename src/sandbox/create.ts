import { hintFor } from '../doctor/hints.js';
import type { Deed, SandboxContext } from './context.js';
import { newDeliveries } from './delivery/queue.js';
import { Faults } from './faults.js';
import { sandboxApp } from './http/app.js';
import { Guard } from './http/guard.js';
import { RequestLog } from './http/log.js';
import { newReach } from './http/reach.js';
import { localSandbox } from './local-sandbox.js';
import type { Sandbox } from './sandbox.js';
import { Clock } from './service/clock.js';
import { newPayments } from './service/payments.js';
import { newSchedule } from './service/schedule.js';
import { readSnapshot, restore } from './service/snapshot.js';
import { Store } from './service/store.js';
import { readSettings, type SandboxOptions } from './settings.js';
import { Signal } from './signal.js';

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
  return openSandbox(options).sandbox;
}

/** The same for the command, which watches and saves what happens inside. */
export function openSandbox(options: SandboxOptions): SandboxContext {
  const saved = options.from === undefined ? undefined : readSnapshot(options.from);
  const settings = readSettings(options, saved);
  const clock = new Clock(settings.clock);
  const store = new Store(clock.now(), settings.seed);
  if (saved) restore(store, saved);
  const changed = new Signal<void>();
  const faults = new Faults();
  const deliveries = newDeliveries(settings, store, clock, faults, hintFor);
  deliveries.changed.subscribe(() => changed.emit());
  const payments = newPayments(store, clock, settings, (event) => deliveries.accept(event));
  const schedule = newSchedule(
    clock,
    store,
    payments,
    (id) => deliveries.due(id),
    () => deliveries.settled(),
  );
  if (store.products.size === 0) payments.stock();
  const guard = new Guard();
  const requests = new RequestLog();

  const handle = async (request: Request) => {
    payments.catchUp();
    try {
      return await app(request);
    } finally {
      if (request.method !== 'GET') changed.emit();
    }
  };
  const tick = () => {
    if (store.agenda.next <= clock.now()) void schedule.tick().then(() => changed.emit());
  };
  const reach = newReach(handle, guard, settings.publicUrl, tick);
  const deeds = new Signal<Deed>();
  const parts = {
    deeds,
    settings,
    clock,
    store,
    payments,
    faults,
    deliveries,
    schedule,
    requests,
    guard,
    reach,
  };
  const context = { ...parts, changed, sandbox: localSandbox(parts) };
  const app = sandboxApp(context);
  return context;
}
