import { hintFor } from '../doctor/symptoms.js';
import { newDeliveries } from './delivery/queue.js';
import { Faults } from './faults.js';
import { Guard } from './http/guard.js';
import { RequestLog } from './http/log.js';
import { newReach } from './http/reach.js';
import type { Sandbox } from './sandbox.js';
import { Clock, type Due, newSchedule } from './service/clock.js';
import { newPayments } from './service/payments.js';
import { readSnapshot, restore, Store } from './service/store.js';
import { readSettings, type SandboxOptions } from './settings.js';
import { Signal } from './signal.js';

/** Something that was done to the sandbox itself. */
export type Deed =
  | { type: 'reset' | 'faults_cleared' }
  | { type: 'clock'; now: Date }
  | { type: 'fault'; says: string };

/** What a sandbox is made of, without its public interface. */
export type SandboxParts = ReturnType<typeof newParts>;

/** Makes the parts of a new sandbox, or of the one that `options.from` holds. `app` handles its requests. */
export function newParts(options: SandboxOptions, app: (request: Request) => Promise<Response>) {
  const saved = options.from === undefined ? undefined : readSnapshot(options.from);
  const settings = readSettings(options, saved);
  const clock = new Clock(settings.clock);
  const store = new Store(clock.now(), settings.seed);
  if (saved) restore(store, saved);
  /** Emits after anything that may have changed the data to save. */
  const changed = new Signal<void>();
  /** Emits what is done to the sandbox itself, for the log of the command. */
  const deeds = new Signal<Deed>();
  const faults = new Faults();
  const deliveries = newDeliveries(settings, store, clock, faults, hintFor);
  deliveries.changed.subscribe(() => changed.emit());
  const payments = newPayments(store, clock, settings, deliveries.accept);
  const run = ({ kind, id }: Due) => (kind === 'deliver' ? deliveries.due(id) : payments[kind](id));
  const schedule = newSchedule(clock, store, run, deliveries.settled);
  if (store.products.size === 0) payments.stock();
  const guard = new Guard();
  const requests = new RequestLog();

  const handle = async (request: Request) => {
    payments.catchUp();
    return app(request).finally(() => {
      if (request.method !== 'GET') changed.emit();
    });
  };
  const tick = () => schedule.tick() && changed.emit();
  const reach = newReach(handle, guard, settings.publicUrl, tick);
  const service = { settings, store, clock, payments, schedule, deliveries, faults };
  return { ...service, requests, guard, reach, changed, deeds };
}

/**
 * One sandbox, as its routes see it. They read the parts, which are live, and change things through `payments` and
 * `sandbox` alone. Before a route runs, what is due was done and where the request comes from was checked; the routes of
 * forms check the form's token, whose scope is the checkout's id, or `'dashboard'`.
 */
export type SandboxContext = SandboxParts & { readonly sandbox: Sandbox };
