import type { SignatureScheme } from '../webhooks/index.js';
import type { Finding } from './findings.js';

/** Options of `sandbox.doctor()`. */
export interface DoctorOptions {
  /**
   * What the throw-away order costs. Default `'98765.43'`: no shop asks for it, so a receiver that matches payments by
   * amount marks no waiting order as paid.
   */
  amount?: string | undefined;
  /** Of `amount`. Default `'USD'`. */
  currency?: string | undefined;
  /** Called with each step before it is taken: a slow receiver takes a while. */
  onStep?: ((step: string) => void) | undefined;
}

/** What `sandbox.doctor()` found out about a webhook receiver. None of it holds the secret. */
export interface Diagnosis {
  /** Whether there is no finding. Warnings do not count. */
  ok: boolean;
  /** The address; `(handler)` for a function. */
  target: string;
  /** The fault and the line to change, or that all is well: the first line of the report. */
  summary: string;
  /** What has to be changed, the gravest first. */
  findings: Finding[];
  /** What works, and could be better. */
  warnings: Finding[];
  /** What only the merchant can see. */
  notes: string[];
  /** What was sent and how the receiver responded, in order. */
  probes: ProbeResult[];
  /** How many other ways to sign were tried, because every valid delivery was refused. */
  tried: number;
  /** The scheme that the receiver expects, if it is another one than the sandbox's. */
  expects: Partial<SignatureScheme> | undefined;
}

/** What a delivery of the doctor is called. */
export type ProbeName =
  | 'unsigned'
  | 'forged'
  | 'tampered'
  | 'compact'
  | 'spaced'
  | 'newline'
  | 'non_ascii'
  | 'stale'
  | 'duplicate';

/** One delivery of the doctor and the response to it. */
export interface ProbeResult {
  /** Which delivery it is. */
  name: ProbeName;
  /** In words, such as "the amount was raised after signing". */
  says: string;
  /** What a correct receiver does. */
  expected: 'accepted' | 'refused';
  /** 2xx is accepted; every other response is refused. */
  outcome: 'accepted' | 'refused' | 'no response';
  /** The status, if there was a response. */
  status: number | undefined;
  /** Why there was none. */
  error: string | undefined;
  /** From sending to the response, in milliseconds. */
  durationMs: number;
}
