import type { Outgoing, Sent, WebhookTarget } from './delivery.js';
import type { ProbeName, ProbeResult } from './diagnosis.js';
import { type Framework, frameworkOf } from './frameworks.js';
import { eventBody, newOrder, outgoing, type Probe, probes, randomText, type Signer } from './probes.js';

/** The receiver, how deliveries to it are signed, and what sends them. */
export interface Patient {
  target: WebhookTarget;
  signer: Signer;
  /** Sends once. Rejects only where nothing may be sent, which ends the examination. */
  send(target: WebhookTarget, outgoing: Outgoing): Promise<Sent>;
}

/** A probe that was sent, and all of its answer. */
export interface Probed {
  result: ProbeResult;
  sent: Sent;
  body: string;
}

/** What has been sent to one receiver so far, and what it answered. */
export class Examination {
  readonly patient: Patient;
  readonly order = newOrder();
  readonly #probed = new Map<ProbeName, Probed>();
  readonly #answers: Sent[] = [];

  constructor(patient: Patient) {
    this.patient = patient;
  }

  /** The address; `(handler)` for a function. */
  get target(): string {
    return typeof this.patient.target === 'string' ? this.patient.target : '(handler)';
  }

  get framework(): Framework | undefined {
    return frameworkOf(this.#answers);
  }

  /** In the order of the table. */
  get results(): ProbeResult[] {
    return probes.flatMap(({ name }) => this.#probed.get(name)?.result ?? []);
  }

  /** Sends a probe once; a second call returns what came of the first. */
  async probe(name: ProbeName): Promise<Probed> {
    return this.#probed.get(name) ?? this.repeat(name, this.order);
  }

  /** Sends a probe anew, about an order of its own unless one is given. */
  async repeat(name: ProbeName, order = newOrder()): Promise<Probed> {
    const probe = find(name);
    const outgoing = probe.make(this.patient.signer, order);
    const started = performance.now();
    const sent = await this.send(outgoing);
    const durationMs = performance.now() - started;
    const probed = { result: resultOf(probe, sent, durationMs), sent, body: outgoing.body };
    this.#probed.set(name, probed);
    return probed;
  }

  /** A probe in words. */
  says(name: ProbeName): string {
    return find(name).says;
  }

  accepted(name: ProbeName): boolean {
    return this.#probed.get(name)?.result.outcome === 'accepted';
  }

  /** Sends anything, by default to the target. */
  async send(outgoing: Outgoing, target = this.patient.target): Promise<Sent> {
    const sent = await this.patient.send(target, outgoing);
    // A route handler that throws is answered 500 by whatever server calls it.
    const thrown = typeof target === 'function' && sent.status === undefined && sent.code !== 'timeout';
    const answer = thrown ? { status: 500, headers: {}, body: sent.error ?? '' } : sent;
    this.#answers.push(answer);
    return answer;
  }
}

export const isAccepted = ({ status = 0 }: Sent): boolean => status >= 200 && status < 300;

/** Whether an address beside the handler's gets the same answer. */
export async function answersElsewhere(exam: Examination, usual: Sent): Promise<boolean> {
  if (typeof exam.patient.target !== 'string') return false;
  const beside = new URL(exam.patient.target);
  beside.pathname = `${beside.pathname.replace(/\/$/, '')}-${randomText()}`;
  const other = await exam.send(outgoing(eventBody(exam.order), {}), beside.href);
  return other.status === usual.status;
}

function find(name: ProbeName): Probe {
  const probe = probes.find((one) => one.name === name);
  if (!probe) throw new Error(`There is no probe ${name}.`);
  return probe;
}

function resultOf({ name, says, expected }: Probe, sent: Sent, durationMs: number): ProbeResult {
  return {
    name,
    says,
    expected,
    outcome: sent.status === undefined ? 'no answer' : isAccepted(sent) ? 'accepted' : 'refused',
    status: sent.status,
    error: sent.error,
    durationMs,
  };
}
