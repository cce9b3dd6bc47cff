import type { Deliveries } from './delivery/queue.js';
import type { Faults } from './faults.js';
import type { Guard } from './http/guard.js';
import type { RequestLog } from './http/log.js';
import type { Reach } from './http/reach.js';
import type { Sandbox } from './sandbox.js';
import type { Clock } from './service/clock.js';
import type { Payments } from './service/payments.js';
import type { Schedule } from './service/schedule.js';
import type { Store } from './service/store.js';
import type { Settings } from './settings.js';
import type { Signal } from './signal.js';

/** Something that was done to the sandbox itself. */
export type Deed =
  | { type: 'reset' }
  | { type: 'clock'; now: Date }
  | { type: 'fault'; says: string }
  | { type: 'faults_cleared' };

/** What a sandbox is made of. */
export interface SandboxParts {
  readonly settings: Settings;
  readonly store: Store;
  readonly clock: Clock;
  readonly payments: Payments;
  readonly schedule: Schedule;
  readonly deliveries: Deliveries;
  readonly faults: Faults;
  readonly requests: RequestLog;
  readonly guard: Guard;
  readonly reach: Reach;
  /** What is done to the sandbox itself, for the log of the command. */
  readonly deeds: Signal<Deed>;
}

/**
 * One sandbox, as its routes see it: the documented API, the pages and the control routes are each a function
 * `(context) => Hono` that is mounted beside the others and holds no state of its own.
 *
 * - Read from `store`, `settings`, `requests` and `clock`; what the store holds is live, so a page changes none of it.
 * - Change things through `payments` (what a customer does) and `sandbox` (what the dashboard does) alone. Their methods
 *   throw a `SandboxError` (`unknown_id`, `not_payable`) whose message may be shown; after that, look at the state
 *   again and show it. `payments` returns at once; webhooks are sent beside it, so no page waits for a receiver.
 * - Everything that is due is done before a route runs: an expired checkout's `state` is `expired`.
 * - The Host header has been checked, and so have `Origin` and `Sec-Fetch-Site` of unsafe methods. Forms carry
 *   `guard.token(scope)` in a hidden field named `token`, and their routes call `guard.checkToken(scope, token)`; the
 *   scope is the checkout's id on the payment page and `'dashboard'` on the dashboard.
 */
export interface SandboxContext extends SandboxParts {
  /** The public interface: what the dashboard's buttons do. */
  readonly sandbox: Sandbox;
  /** Emits after anything that may have changed the data to save. */
  readonly changed: Signal<void>;
}
