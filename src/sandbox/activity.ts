import type { LoggedRequest } from './http/log.js';
import { span } from './service/clock.js';
import type { Attempt, SandboxEvent } from './service/event.js';
import type { DeclineReason } from './service/records.js';
import { Signal } from './signal.js';

/** An action of a customer, the dashboard or a command. */
export type Action =
  | {
      type: 'checkout';
      checkout: string;
      state: 'paid' | 'declined' | 'cancelled' | 'expired';
      reason?: DeclineReason | undefined;
      order?: string | undefined;
    }
  | { type: 'product'; product: string; state: 'archived' | 'restored' }
  | { type: 'clock'; now: Date }
  | { type: 'fault'; says: string }
  | { type: 'reset' | 'faults_cleared' };

/** One entry of the activity log. */
export type Activity =
  | { type: 'request'; at: Date; request: LoggedRequest }
  | { type: 'delivery'; at: Date; event: SandboxEvent; attempt: Attempt | undefined }
  | { type: 'action'; at: Date; action: Action };

const kept = 500;

/** The log of a sandbox: the newest 500 entries, oldest first. */
export class ActivityLog {
  readonly added = new Signal<Activity>();
  entries: readonly Activity[] = [];

  add(activity: Activity): void {
    this.entries = [...this.entries.slice(1 - kept), activity];
    this.added.emit(activity);
  }
}

/** An entry in words, split into the parts that both the terminal and the dashboard show. */
export interface ActivityLine {
  /** A kind, such as `checkout`, or the method of a request. */
  kind: string;
  subject: string;
  outcome: string;
  tone: 'good' | 'bad' | 'warn' | 'calm';
  more: string;
  /** Path of the dashboard page that shows the entry. */
  href: string;
}

/** Returns an entry in words, describing the state at the time it was added. */
export function describeActivity(activity: Activity): ActivityLine {
  if (activity.type === 'request') return requestLine(activity.request);
  if (activity.type === 'delivery')
    return deliveryLine(activity.event, activity.attempt, activity.at.getTime());
  return actionLine(activity.action);
}

function requestLine({ method, path, status, durationMs, fault, key }: LoggedRequest): ActivityLine {
  const notes = [
    fault !== undefined && `fault: ${fault}`,
    status === 401 && key !== 'ok' && `key: ${key}`,
  ].filter((one) => one !== false);
  return {
    kind: method,
    subject: path,
    outcome: `${status ?? 'lost'}`,
    tone: status === undefined ? 'bad' : status < 400 ? 'good' : 'warn',
    more: [`${Math.round(durationMs)} ms`, ...notes].join(', '),
    href: '/requests',
  };
}

function deliveryLine(event: SandboxEvent, attempt: Attempt | undefined, now: number): ActivityLine {
  const { id, type, data, state, nextAttemptAt } = event;
  const wait = nextAttemptAt && span(nextAttemptAt.getTime() - now);
  const waits = {
    held: 'held until you deliver it',
    no_url: 'kept: no webhook is set',
    // Without a time, the attempt is in flight.
    pending: wait && `goes out in ${wait}`,
    retrying: wait && `next attempt in ${wait}`,
    delivered: undefined,
    failed: 'no more attempts',
  }[state];
  const line = { kind: type, subject: data.order_id, href: `/events/${id}` };
  if (!attempt) return { ...line, outcome: waits ?? state, tone: 'calm', more: '' };
  const { ok, status, error = '', durationMs, number, cause } = attempt;
  const which = cause === 'due' ? `attempt ${number}` : `attempt ${number}, ${cause}`;
  const took = status === undefined ? [] : [`${Math.round(durationMs)} ms`];
  return {
    ...line,
    outcome:
      status === undefined
        ? `failed: ${error.replace(/\.$/, '')}`
        : `${ok ? 'delivered' : 'refused'} ${status}`,
    tone: ok ? 'good' : 'bad',
    more: [...took, which, ...(ok || !waits ? [] : [waits])].join(', '),
  };
}

function actionLine(action: Action): ActivityLine {
  const line = { outcome: '', tone: 'calm', more: '', href: '/' } as const;
  switch (action.type) {
    case 'checkout': {
      const { checkout, state, reason, order } = action;
      const tone = ({ paid: 'good', declined: 'bad', cancelled: 'warn', expired: 'warn' } as const)[state];
      const outcome = reason === undefined ? state : `${state}: ${reason}`;
      const place = { kind: 'checkout', subject: checkout, href: '/checkouts' };
      return { ...line, ...place, outcome, tone, more: order ?? '' };
    }
    case 'product':
      return { ...line, kind: 'product', subject: action.product, outcome: action.state, href: '/products' };
    case 'clock':
      return { ...line, kind: 'clock', subject: `it is ${action.now.toISOString()}` };
    case 'fault':
      return { ...line, kind: 'fault', subject: action.says, href: '/requests' };
    case 'faults_cleared':
      return { ...line, kind: 'fault', subject: 'all are cleared', href: '/requests' };
    case 'reset':
      return { ...line, kind: 'reset', subject: 'all data is gone, and the clock is set back' };
  }
}
