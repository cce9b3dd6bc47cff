import type { Outcome, PaymentsClientOptions } from 'merchant-payments';
import { describe, expect, test } from 'vitest';
import type { Behaviour, FaultyServer } from './faulty-server.js';
import { type Carrier, carriers, factsOf, type Meeting, type Method, meet, methods } from './meeting.js';

/** A fault, and what a caller may rely on when it happens. */
export interface Fault {
  /** The fault, in words. */
  title: string;
  /** Made anew for each call: a behaviour, or a server that is started already. */
  fault: () => Behaviour | Promise<FaultyServer>;
  /** The error's class as `error`, and its facts. */
  expected: { error: string } & Record<string, unknown>;
  /** Facts that the platform's fetch gives another name, or cannot tell. */
  overFetch?: Record<string, unknown>;
  /** The number of requests that arrive. */
  get: number;
  write: number;
  outcome: Outcome;
  options?: PaymentsClientOptions;
  /** The shortest time that each request lasts. */
  least?: number;
  /** Anything else that holds. */
  also?: (meeting: Meeting, carrier: Carrier, method: Method) => void;
}

/** Tests each fault over both carriers with each method. */
export function faultTable(faults: readonly Fault[]): void {
  describe.each(carriers)('over %s', (carrier) => {
    for (const fault of faults) describe(fault.title, () => methodsMeet(fault, carrier));
  });
}

/** The code that `fetch` has for a response that is not HTTP: that of Node's parser, or, from Node 22 or 24 on, another word. */
export function notHttp(parserCode: string, newer = 'protocol'): unknown {
  return expect.stringMatching(new RegExp(`^(?:${parserCode}|${newer})$`));
}

function methodsMeet(fault: Fault, carrier: Carrier): void {
  for (const method of methods) {
    const requests = method === 'GET' ? fault.get : fault.write;
    const expected = {
      outcome: fault.outcome,
      ...fault.expected,
      ...(carrier === 'fetch' ? fault.overFetch : {}),
      attempts: requests,
    };
    test(`${method}: ${expected.error}, ${expected.outcome}, ${requests} request${requests === 1 ? '' : 's'}`, async () => {
      const meeting = await meet(await fault.fault(), carrier, method, fault.options);
      expect({ ...factsOf(meeting.error, Object.keys(expected)) }).toEqual(expected);
      expect(meeting.requests.map((request) => request.method)).toEqual(Array(requests).fill(method));
      // Node's timers count whole milliseconds, and may end within the last of them.
      expect(meeting.durationMs).toBeGreaterThan(requests * ((fault.least ?? 0) - 1));
      fault.also?.(meeting, carrier, method);
    });
  }
}
