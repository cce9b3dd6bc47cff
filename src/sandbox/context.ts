import type { Diagnosis } from '../doctor/doctor.js';
import { hintFor } from '../doctor/hint.js';
import { type Action, ActivityLog } from './activity.js';
import { newDeliveries } from './delivery/queue.js';
import { Faults } from './faults.js';
import { Guard } from './http/guard.js';
import { newListening } from './http/listening.js';
import { RequestLog } from './http/log.js';
import type { Sandbox } from './sandbox.js';
import { Clock, type Due, newSchedule } from './service/clock.js';
import { newPayments } from './service/payments.js';
import { readSnapshot, restore } from './service/snapshot.js';
import { Store } from './service/store.js';
import { readSettings, type SandboxOptions } from './settings.js';
import { Signal } from './signal.js';

/** The parts of a sandbox, without its public interface. */
export type SandboxParts = ReturnType<typeof createParts>;

/** Creates the parts of a new sandbox, or of the saved one in `options.from`. `app` handles its requests. */
export function createParts(options: SandboxOptions, app: (request: Request) => Promise<Response>) {
  const saved = options.from === undefined ? undefined : readSnapshot(options.from);
  const settings = readSettings(options, saved);
  const clock = new Clock(settings.clock);
  const store = new Store(clock.now(), settings.seed);
  if (saved) restore(store, saved);
  /** Emits after anything that may have changed the data to save. */
  const changed = new Signal<void>();
  const activity = new ActivityLog();
  const log = (action: Action) => activity.add({ type: 'action', at: new Date(clock.now()), action });
  /** The doctor's last report. */
  const diagnosis: { value: Diagnosis | undefined } = { value: undefined };
  const faults = new Faults();
  const hint: Parameters<typeof newDeliveries>[4] = (attempt, body) =>
    hintFor(attempt, body, listening.doctorCommand);
  const deliveries = newDeliveries(settings, store, clock, faults, hint);
  deliveries.changed.subscribe(() => changed.emit());
  deliveries.logged.subscribe((entry) => activity.add({ type: 'delivery', ...entry }));
  const payments = newPayments(store, clock, settings, { enqueue: deliveries.enqueue, log });
  const run = ({ kind, id }: Due) => (kind === 'deliver' ? deliveries.deliverDue(id) : payments[kind](id));
  const schedule = newSchedule(clock, store, run, deliveries.waitUntilSettled);
  if (store.products.size === 0) payments.stock();
  const guard = new Guard();
  const requests = new RequestLog();
  requests.added.subscribe((request) => activity.add({ type: 'request', at: request.at, request }));

  const handle = async (request: Request) => {
    payments.catchUp();
    return app(request).finally(() => {
      if (request.method !== 'GET') changed.emit();
    });
  };
  const tick = () => schedule.tick() && changed.emit();
  const listening = newListening(handle, guard, settings.publicUrl, tick);
  const service = { settings, store, clock, payments, schedule, deliveries, faults };
  return { ...service, requests, guard, listening, changed, activity, log, diagnosis };
}

/**
 * One sandbox, as its routes see it. Routes read the live parts directly, and change data only through `payments` and
 * `sandbox`. Before a route runs, everything due has been done and the request's origin has been checked. Routes of forms
 * check the form's token themselves; its scope is the checkout's id, or `'dashboard'`.
 */
export type SandboxContext = SandboxParts & { readonly sandbox: Sandbox };
