import * as z from 'zod/mini';
import { type Duration, duration } from '../input/duration.js';
import { integer } from '../input/read.js';
import { quote } from '../input/visible.js';
import { InvalidOptions, readOptions, refuse } from './checks.js';
import { type Tamper, tamper } from './delivery/signing.js';
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

const flag = z.optional(z.boolean());
const times = z.optional(integer(1, 1_000_000));
const requests = {
  method: z.optional(z.string()),
  path: z.optional(z.union([z.string(), z.instanceof(RegExp)], 'must be a string or a RegExp.')),
  times,
  when: z.optional(z.enum(['before', 'after'])),
  delay: z.optional(duration),
};

/** Reports a fault whose method and path no operation has. */
function checkOperation({ value, issues }: z.core.ParsePayload<object>): void {
  const fault: { method?: unknown; path?: unknown } = value;
  const method = fault.method === undefined ? undefined : String(fault.method).toUpperCase();
  const path = typeof fault.path === 'string' ? fault.path : undefined;
  if (isOperation(method, path)) return;
  const given = quote([method, path].filter(Boolean).join(' '));
  const wrong = isOperation(method, undefined) ? 'path' : 'method';
  const message = `${given} is no operation. There are ${operations.join(', ')}, with an id for :id.`;
  issues.push({ code: 'custom', message, input: value, path: [wrong] });
}

const requestFault = <const Fields extends z.core.$ZodLooseShape>(fields: Fields) =>
  z.strictObject({ ...requests, ...fields }).check(checkOperation);

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
  .record(z.string(), z.string(), 'must be an object of strings.')
  .check(z.refine(isHeaders, 'must be names and values that a header can have.'));

const hasWay = ({ webhook: _, times: _times, ...ways }: WebhookFault) =>
  Object.values(ways).some((way) => way !== undefined && way !== false);

/** The schema of each kind of fault. A fault is of the first kind whose name is one of its fields. */
const kinds: Record<string, z.ZodMiniType<Fault> & { readonly shape: object }> = {
  webhook: z
    .strictObject({
      webhook: z.literal(true),
      times,
      duplicate: z.optional(integer(1, 100)),
      hold: flag,
      drop: flag,
      tamper: z.optional(tamper),
      delay: z.optional(duration),
    })
    .check(
      z.refine(
        hasWay,
        'must have duplicate, hold, drop, tamper or delay, which says what happens to the delivery.',
      ),
    ),
  status: requestFault({
    status: integer(200, 599),
    body: z.optional(z.custom(canMake(JSON.stringify), 'must be data that JSON can hold.')),
    headers: z.optional(headers),
  }),
  network: requestFault({ network: z.enum(networkFaults) }),
  malformed: requestFault({ malformed: z.enum(malformedFaults) }),
  delay: z.strictObject({ ...requests, delay: duration }).check(checkOperation),
};

const noKind = `must have one of ${Object.keys(kinds).join(', ')}.`;
const fieldNames = Object.values(kinds).flatMap(({ shape }) => Object.keys(shape));
const anyField = z.strictObject(
  Object.fromEntries(fieldNames.map((name) => [name, z.optional(z.unknown())])),
  noKind,
);

export function readFault(value: unknown, what: string): Fault {
  const names = Object.keys(readOptions(what, anyField, value));
  const kind = Object.keys(kinds).find((name) => names.includes(name)) ?? '';
  const schema = kinds[kind];
  if (!schema) throw new InvalidOptions(what, [{ path: '', message: noKind }]);
  refuseOther(what, kind, schema, names);
  return readOptions(what, schema, value);
}

/** Throws if a field belongs to another kind of fault. */
function refuseOther(
  what: string,
  kind: string,
  { shape }: { shape: object },
  names: readonly string[],
): void {
  const other = names.find((name) => fieldNames.includes(name) && !Object.hasOwn(shape, name));
  if (other !== undefined) refuse(what, other, `does not go with ${kind}.`);
}

const clearOrder = z.strictObject({ clear: z.literal(true) });

/** Reads the body of the control route: a fault, or `{ clear: true }`, for which it returns `undefined`. */
export function readOrder(value: object, what: string): Fault | undefined {
  if (!('clear' in value)) return readFault(value, what);
  refuseOther(what, 'clear', clearOrder, Object.keys(value));
  readOptions(what, clearOrder, value);
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

  takeForRequest(method: string, path: string): RequestFault | undefined {
    return this.#take((fault): fault is RequestFault => {
      if ('webhook' in fault) return false;
      const { method: only, path: where } = fault;
      if (only !== undefined && only.toUpperCase() !== method) return false;
      return where === undefined || (typeof where === 'string' ? where === path : path.search(where) !== -1);
    });
  }

  takeForDelivery = () => this.#take((fault): fault is WebhookFault => 'webhook' in fault);

  #take<One extends Fault>(fits: (fault: Fault) => fault is One): One | undefined {
    const armed = this.waiting.find((one): one is Armed & { fault: One } => fits(one.fault));
    if (!armed) return undefined;
    armed.left--;
    this.waiting = this.waiting.filter(({ left }) => left > 0);
    return armed.fault;
  }
}
