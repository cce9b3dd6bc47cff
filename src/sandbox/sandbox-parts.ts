import type { Deliveries } from './delivery/queue.js';
import type { Faults } from './faults.js';
import type { Guard } from './http/guard.js';
import type { RequestLog } from './http/log.js';
import type { Reach } from './http/reach.js';
import type { Clock } from './service/clock.js';
import type { Payments } from './service/payments.js';
import type { Schedule } from './service/schedule.js';
import type { Store } from './service/store.js';
import type { Settings } from './settings.js';

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
}
