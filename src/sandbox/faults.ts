import * as z from 'zod/mini';
import type { Duration } from '../input/duration.js';
import { integer } from '../input/read.js';
import { alike, checked, closed, InvalidField, oneOf, shown } from './checks.js';
import { type Tamper, tamper } from './delivery/signing.js';
import { duration } from './duration.js';
import { isOperation, operations } from './http/table.js';

interface FaultOfRequests {
  /** Such as `POST`. Default: every method. */
  method?: string | undefined;
  /** The exact path, such as `/v1/products`, without query, or a pattern. Default: every path. */
  path?: string | RegExp | undefined;
  /** How many requests. Default 1. */
  times?: number | undefined;
  /** `'after'`: done, and the response is lost. Default: `'before'`; for `malformed`, `'after'`. */
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
        /** No response: the connection is reset, or stays silent. */
        network: (typeof networkFaults)[number];
      }
    | {
        /** A response that breaks the contract. */
        malformed: (typeof malformedFaults)[number];
      }
    | {
        /** The normal response, this much later. */
        delay: Duration;
      }
  );

/** A fault in the first attempt to deliver an event. */
export interface WebhookFault {
  /** Marks it as a fault of a delivery. */
  webhook: true;
  /** How many events. Default 1. */
  times?: number | undefined;
  /** Sends the event this many more times. */
  duplicate?: number | undefined;
  /** Holds the event until `deliver()` or `redeliver()`: late, or after newer events. */
  hold?: boolean | undefined;
  /** Loses the attempt; retries follow. */
  drop?: boolean | undefined;
  /** Tampers with the delivery. */
  tamper?: Tamper | undefined;
  /** Sends the event this much later, on the sandbox's clock. */
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

function possible({ value, issues }: z.core.ParsePayload<object>): void {
  const fault: { method?: unknown; path?: unknown } = value;
  const method = fault.method === undefined ? undefined : String(fault.method).toUpperCase();
  const path = typeof fault.path === 'string' ? fault.path : undefined;
  if (isOperation(method, path)) return;
  const given = shown([method, path].filter(Boolean).join(' '));
  const wrong = isOperation(method, undefined) ? 'path' : 'method';
  const message = `no operation is ${given}. There are ${operations.join(', ')}, with an id for :id.`;
  issues.push({ code: 'custom', message, input: value, path: [wrong] });
}

const requestFault = <const Fields extends z.core.$ZodLooseShape>(fields: Fields) =>
  closed({ ...requests, ...fields }).check(possible);

const makes = (make: (value: unknown) => unknown) => (value: unknown) => {
  try {
    return make(value) !== undefined;
  } catch {
    return false;
  }
};

const isHeaders = makes((value) => new Headers(Object(value)));
const headers = z
  .record(z.string(), z.string('pass a string.'), 'pass an object of strings.')
  .check(z.refine(isHeaders, 'pass names and values that a header can have.'));

const saysHow = ({ webhook: _, times: _times, ...ways }: WebhookFault) => Object.values(ways).some(Boolean);

const kinds: Record<string, z.ZodMiniType<Fault>> = {
  webhook: closed({
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
    body: z.optional(z.custom(makes(JSON.stringify), 'pass what JSON can hold.')),
    headers: z.optional(headers),
  }),
  network: requestFault({ network: oneOf(networkFaults) }),
  malformed: requestFault({ malformed: oneOf(malformedFaults) }),
  delay: closed({ ...requests, delay: duration }).check(possible),
};

const anyField = alike(Object.keys({ ...kinds, ...requests }), z.unknown());

export function readFault(value: unknown, what: string): Fault {
  const names = Object.keys(value ?? {});
  const [kind = '', other] = Object.keys(kinds).filter((name) => names.includes(name));
  const schema = kinds[kind];
  // Every kind has a delay.
  const goesWith = other === undefined || other === 'delay';
  if (!goesWith) throw new InvalidField(what, other, ` does not go with ${kind}. Pass one of them.`);
  if (schema) return checked(schema, value, what);
  checked(anyField, { ...Object(value) }, what);
  throw new InvalidField(what, '', 'pass status, network, malformed, delay or webhook: what is to happen.');
}

/** Checks what the control route takes: a fault, or `{ clear: true }`, which is none. */
export function readOrder(value: object, what: string): Fault | undefined {
  if (!('clear' in value)) return readFault(value, what);
  checked(closed({ clear: z.literal(true, 'pass true.') }), value, what);
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

/** The faults that were set and have not happened yet. The oldest match happens first. */
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
