import { asServed, type Outgoing, type Sent, type WebhookTarget } from './delivery.js';
import type { ProbeName, ProbeResult } from './diagnosis.js';
import { type Finding, type FindingCode, findingOf } from './findings.js';
import { type Framework, frameworkOf } from './frameworks.js';
import { eventBody, newOrderId, type Order, probes } from './probes.js';
import { outgoing, randomText, type Signer } from './signed.js';

/** The receiver, how deliveries to it are signed, and what sends them. */
export interface Patient {
  target: WebhookTarget;
  signer: Signer;
  /** The price of the test order. */
  price: { amount: string; currency: string };
  /** Sends once. Rejects only if nothing may be sent there, which ends the examination. */
  send(target: WebhookTarget, outgoing: Outgoing): Promise<Sent>;
  /** Called before each step. */
  onStep?: ((step: string) => void) | undefined;
}

/** A probe that was sent, and all of its response. */
export interface Probed {
  result: ProbeResult;
  sent: Sent;
  body: string;
}

/** What has been sent to one receiver so far, and how it responded. */
export class Examination {
  readonly patient: Patient;
  readonly order: Order;
  readonly #probed = new Map<string, Probed>();
  readonly #responses: Sent[] = [];

  constructor(patient: Patient) {
    this.patient = patient;
    this.order = { id: newOrderId(), ...patient.price };
  }

  /** The address; `(handler)` for a function. */
  get target(): string {
    return typeof this.patient.target === 'string' ? this.patient.target : '(handler)';
  }

  get framework(): Framework | undefined {
    return frameworkOf(this.#responses);
  }

  /** In the order of the table. */
  get results(): ProbeResult[] {
    return Object.keys(probes).flatMap((name) => this.#probed.get(name)?.result ?? []);
  }

  /** Sends a probe once; a second call returns the same result. */
  async probe(name: ProbeName): Promise<Probed> {
    return this.#probed.get(name) ?? this.repeat(name, this.order);
  }

  /** Sends a probe again, for a new order unless one is given. */
  async repeat(name: ProbeName, order = { ...this.order, id: newOrderId() }): Promise<Probed> {
    const { says, expected, make } = probes[name];
    const outgoing = make(order, this.patient.signer);
    this.patient.onStep?.(says);
    const started = performance.now();
    const sent = await this.send(outgoing);
    const durationMs = performance.now() - started;
    const { status, error } = sent;
    const outcome = status === undefined ? 'no response' : wasAccepted(sent) ? 'accepted' : 'refused';
    const result = { name, says, expected, outcome, status, error, durationMs } as const;
    const probed = { result, sent, body: outgoing.body };
    this.#probed.set(name, probed);
    return probed;
  }

  accepted(name: ProbeName): boolean {
    return this.#probed.get(name)?.result.outcome === 'accepted';
  }

  /** Whether a probe was rejected: without a response in time it may have been accepted. */
  refused(name: ProbeName): boolean {
    return !this.accepted(name) && !this.late(name);
  }

  /** Whether no response to a probe came in time. */
  late(name: ProbeName): boolean {
    return this.#probed.get(name)?.sent.code === 'timeout';
  }

  finding(code: FindingCode, facts: { [fact: string]: string | undefined } = {}): Finding {
    return findingOf(code, this.framework, facts);
  }

  /** Sends anything, by default to the target. */
  async send(outgoing: Outgoing, target = this.patient.target): Promise<Sent> {
    const response = asServed(await this.patient.send(target, outgoing), this.target);
    this.#responses.push(response);
    return response;
  }

  /** Whether another address on the same host responds the same. */
  async respondsElsewhere(usual: Sent): Promise<boolean> {
    if (typeof this.patient.target !== 'string') return false;
    const beside = new URL(this.patient.target);
    beside.pathname = `${beside.pathname.replace(/\/$/, '')}-${randomText()}`;
    const other = await this.send(outgoing(eventBody(this.order), {}), beside.href);
    return other.status === usual.status;
  }
}

export const wasAccepted = ({ status = 0 }: Sent): boolean => status >= 200 && status < 300;
