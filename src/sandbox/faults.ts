import * as z from 'zod/mini';
import type { Duration } from '../input/duration.js';
import { integer } from '../input/read.js';
import { InvalidField, oneOf, optionalFields, parseWith, quoteValue, strictObject } from './checks.js';
import { type Tamper, tamper } from './delivery/signing.js';
import { duration } from './duration.js';
import { isOperation, operations } from './http/table.js';

interface FaultOfRequests {
  /** Method of the requests, such as `POST`. Default: every method. */
  method?: string | undefined;
  /** Exact path of the requests without query, such as `/v1/products`, or a pattern. Default: every path. */
  path?: string | RegExp | undefined;
  /** Number of requests. Default 1. */
  times?: number | undefined;
  /** `'after'` does the work and then loses the response. Default `'before'`; for `malformed`, `'after'`. */
  when?: 'before' | 'after' | undefined;
  /** Delay before the fault, in real time. */
  delay?: Duration | undefined;
}

export const networkFaults = ['reset', 'timeout'] as const;
export const malformedFaults = ['html', 'truncated'] as const;

/** A fault of a request to the documented API. */
export type RequestFault = FaultOfRequests &
  (
    | {
        /** The HTTP status of the response. */
        status: number;
        /** The body of the response. */
        body?: unknown;
        /** Headers of the response, such as `retry-after`. */
        headers?: Record<string, string> | undefined;
      }
    | {
        /** Sends no response: the connection is reset, or stays silent. */
        network: (typeof networkFaults)[number];
      }
    | {
        /** Sends a response that breaks the contract. */
        malformed: (typeof malformedFaults)[number];
      }
    | {
        /** Delay of the normal response. */
        delay: Duration;
      }
  );

/** A fault of the first attempt to deliver an event. */
export interface WebhookFault {
  /** Marks the fault as one of a delivery. */
  webhook: true;
  /** Number of events. Default 1. */
  times?: number | undefined;
  /** Number of times that the event is sent in addition. */
  duplicate?: number | undefined;
  /** Holds the event until `deliver()` or `redeliver()`, so that it arrives late or after newer events. */
  hold?: boolean | undefined;
  /** Loses the attempt; retries follow. */
  drop?: boolean | undefined;
  /** Way to tamper with the delivery. */
  tamper?: Tamper | undefined;
  /** Delay of the event, on the sandbox's clock. */
  delay?: Duration | undefined;
}

/** A fault for `failNext()`. */
export type Fault = RequestFault | WebhookFault;

const flag = z.optional(z.boolean('pass true or false.'));
const times = z.optional(integer(1, 1_000_000));
const requests = {
  method: z.optional(z.string('pass a string.')),
  path: z.optional(z.union([z.string(), z.instanceof(RegExp)], 'pass a string.')),
  times,
  when: z.optional(oneOf(['before', 'after'])),
  delay: z.optional(duration),
};

/** Reports a fault whose method and path no operation has. */
function checkOperation({ value, issues }: z.core.ParsePayload<object>): void {
  const fault: { method?: unknown; path?: unknown } = value;
  const method = fault.method === undefined ? undefined : String(fault.method).toUpperCase();
  const path = typeof fault.path === 'string' ? fault.path : undefined;
  if (isOperation(method, path)) return;
  const given = quoteValue([method, path].filter(Boolean).join(' '));
  const wrong = isOperation(method, undefined) ? 'path' : 'method';
  const message = `no operation is ${given}. There are ${operations.join(', ')}, with an id for :id.`;
  issues.push({ code: 'custom', message, input: value, path: [wrong] });
}

const requestFault = <const Fields extends z.core.$ZodLooseShape>(fields: Fields) =>
  strictObject({ ...requests, ...fields }).check(checkOperation);

/** Returns a predicate that is true if `make` returns a value and does not throw. */
const canMake = (make: (value: unknown) => unknown) => (value: unknown) => {
  try {
    return make(value) !== undefined;
  } catch {
    return false;
  }
};

const isHeaders = canMake((value) => new Headers(Object(value)));
const headers = z
  .record(z.string(), z.string('pass a string.'), 'pass an object of strings.')
  .check(z.refine(isHeaders, 'pass names and values that a header can have.'));

const saysHow = ({ webhook: _, times: _times, ...ways }: WebhookFault) => Object.values(ways).some(Boolean);

const kinds: Record<string, z.ZodMiniType<Fault>> = {
  webhook: strictObject({
    webhook: z.literal(true, 'pass true.'),
    times,
    duplicate: z.optional(integer(1, 100)),
    hold: flag,
    drop: flag,
    tamper: z.optional(tamper),
    delay: z.optional(duration),
  }).check(z.refine(saysHow, 'pass duplicate, hold, drop, tamper or delay: what happens to the delivery.')),
  status: requestFault({
    status: integer(200, 599),
    body: z.optional(z.custom(canMake(JSON.stringify), 'pass what JSON can hold.')),
    headers: z.optional(headers),
  }),
  network: requestFault({ network: oneOf(networkFaults) }),
  malformed: requestFault({ malformed: oneOf(malformedFaults) }),
  delay: strictObject({ ...requests, delay: duration }).check(checkOperation),
};

const anyField = optionalFields(Object.keys({ ...kinds, ...requests }), z.unknown());

export function readFault(value: unknown, what: string): Fault {
  const names = Object.keys(value ?? {});
  const [kind = '', other] = Object.keys(kinds).filter((name) => names.includes(name));
  const schema = kinds[kind];
  // A delay goes with every kind.
  const goesWith = other === undefined || other === 'delay';
  if (!goesWith) throw new InvalidField(what, other, ` does not go with ${kind}. Pass one of them.`);
  if (schema) return parseWith(schema, value, what);
  parseWith(anyField, { ...Object(value) }, what);
  throw new InvalidField(what, '', 'pass status, network, malformed, delay or webhook: what is to happen.');
}

/** Reads the body of the control route: a fault, or `{ clear: true }`, for which it returns `undefined`. */
export function readOrder(value: object, what: string): Fault | undefined {
  if (!('clear' in value)) return readFault(value, what);
  parseWith(strictObject({ clear: z.literal(true, 'pass true.') }), value, what);
  return undefined;
}

export function describeFault(fault: Fault): string {
  const { when = 'before', network, malformed, ...given }: Record<string, unknown> = { ...fault };
  const ways = ['status', 'duplicate', 'hold', 'drop', 'tamper', 'delay'].map((name) => {
    const value = given[name];
    if (value === true) return name;
    return value !== undefined && value !== false && `${name} ${value}`;
  });
  return [network && `${network} ${when}`, malformed, ...ways].filter(Boolean).join(', ');
}

export function describeArmed({ fault, left }: Armed): string {
  const which = 'webhook' in fault ? ['event'] : [fault.method?.toUpperCase(), fault.path, 'request'];
  const words = [left > 1 && left, ...which].filter(Boolean).join(' ');
  return `${describeFault(fault)} · next ${words}${left > 1 ? 's' : ''}`;
}

type Armed = { readonly fault: Fault; left: number };

/** The pending faults. Of several that match, the oldest happens first. */
export class Faults {
  waiting: readonly Armed[] = [];

  add(fault: Fault): Armed {
    const armed = { fault, left: fault.times ?? 1 };
    this.waiting = [...this.waiting, armed];
    return armed;
  }

  ofRequest(method: string, path: string): RequestFault | undefined {
    return this.#take((fault): fault is RequestFault => {
      if ('webhook' in fault) return false;
      const { method: only, path: where } = fault;
      if (only !== undefined && only.toUpperCase() !== method) return false;
      return where === undefined || (typeof where === 'string' ? where === path : path.search(where) !== -1);
    });
  }

  ofDelivery = () => this.#take((fault): fault is WebhookFault => 'webhook' in fault);

  #take<One extends Fault>(fits: (fault: Fault) => fault is One): One | undefined {
    const armed = this.waiting.find((one): one is Armed & { fault: One } => fits(one.fault));
    if (!armed) return undefined;
    armed.left--;
    this.waiting = this.waiting.filter(({ left }) => left > 0);
    return armed.fault;
  }
}
