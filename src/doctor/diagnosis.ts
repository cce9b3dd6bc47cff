import type { SignatureScheme } from '../webhooks/index.js';
import type { Finding } from './findings.js';
import type { ProbeName } from './probes.js';

/** Options of `sandbox.doctor()`. */
export interface DoctorOptions {
  /**
   * Amount of the test order. Default `'98765.43'`, which no shop charges, so that a receiver that matches payments by
   * amount marks no real order as paid.
   */
  amount?: string | undefined;
  /** Currency of `amount`. Default `'USD'`. */
  currency?: string | undefined;
  /** Called before each step, because a slow receiver takes a while. */
  onStep?: ((step: string) => void) | undefined;
}

/** What `sandbox.doctor()` found out about a webhook receiver. It never contains the secret. */
export interface Diagnosis {
  /** Whether there is no finding. Warnings do not count. */
  ok: boolean;
  /** The address; `(handler)` for a function. */
  target: string;
  /** First line of the report: the fault and the line to change, or that all is well. */
  summary: string;
  /** What must be changed, most serious first. */
  findings: Finding[];
  /** What works but could be better. */
  warnings: Finding[];
  /** What only the merchant can see, and what was not tested. */
  notes: string[];
  /** What was sent and how the receiver responded, in order. */
  probes: ProbeResult[];
  /** How many other ways to sign were tried, if every valid delivery was rejected. */
  tried: number;
  /** The scheme that the receiver expects, if it is not the sandbox's. */
  expects: Partial<SignatureScheme> | undefined;
}

/** One delivery of the doctor and the response to it. */
export interface ProbeResult {
  /** Which delivery it is. */
  name: ProbeName;
  /** In words, such as "signed with a different secret". */
  says: string;
  /** What a correct receiver does. */
  expected: 'accepted' | 'refused';
  /** 2xx is accepted; every other response is refused. */
  outcome: 'accepted' | 'refused' | 'no response';
  /** The status, if there was a response. */
  status: number | undefined;
  /** Why there was none. */
  error: string | undefined;
  /** Status and the first 200 characters of the response's body, or why there was none. Control characters are visible. */
  response: string;
  /** From sending to the response, in milliseconds. */
  durationMs: number;
}
