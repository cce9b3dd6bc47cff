import { setTimeout } from 'node:timers/promises';
import { TargetError } from '../sending/address.js';
import { type Outgoing, randomText, type Sent, type WebhookTarget } from '../sending/delivery.js';
import { type SendOptions, send } from '../sending/send.js';
import { probeOrder } from '../webhooks/probe.js';
import { type Facts, type Finding, type FindingCode, findingOf } from './findings.js';
import { frameworkOf } from './frameworks.js';
import { bodies, isForgery, type ProbeName, probes } from './probes.js';
import { eventBody, type Order, outgoing, type Signer } from './signed.js';
import { asServed } from './symptoms.js';
import { responseText, shapeOf, wordsOf } from './words.js';

/** A receiver to examine, how deliveries to it are signed, and how they are sent. */
export interface Receiver extends SendOptions {
  /** Its URL, or the route handler itself. */
  target: WebhookTarget;
  /** What signs its deliveries. */
  signer: Signer;
  /** What the test orders cost. */
  price: { amount: string; currency: string };
  /** Called before each step. */
  onStep?: ((step: string) => void) | undefined;
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

type Probed = { order: Order; outgoing: Outgoing; sent: Sent; words: string; durationMs: number };

const patienceMs = 60_000;
const longestWaitMs = 5_000;

/** What has been sent to one receiver so far, and how it responded. */
export class Examination {
  readonly run = `${probeOrder}${randomText()}`;
  /** What was not sent, or got no response in time; what the scheme cannot carry. */
  readonly untested = new Set<string>();
  readonly impossible = new Set<string>();
  /** That the server stopped listening, as a process does that dies. */
  stopped: Finding | undefined;
  readonly #started = performance.now();
  readonly #probed = new Map<ProbeName, Probed>();
  readonly #responses: Sent[] = [];
  #orders = 0;
  #limited = false;

  constructor(readonly receiver: Receiver) {}

  get target(): string {
    return typeof this.receiver.target === 'string' ? this.receiver.target : '(handler)';
  }

  get framework(): string | undefined {
    return frameworkOf(this.#responses);
  }

  /** Why no more is sent. */
  get over(): string | undefined {
    if (this.#limited) return 'of a rate limit';
    if (this.stopped) return 'the receiver stopped listening';
    return performance.now() - this.#started > patienceMs ? 'the receiver was too slow' : undefined;
  }

  get results(): ProbeResult[] {
    return [...this.#probed].map(([name, { sent, durationMs }]) => ({
      name,
      says: probes[name][0],
      expected: isForgery(name) ? 'refused' : 'accepted',
      outcome: sent.status === undefined ? 'no response' : succeeded(sent) ? 'accepted' : 'refused',
      status: sent.status,
      error: sent.error,
      response: this.#shown(sent),
      durationMs,
    }));
  }

  /** An order that the receiver has not seen: it may look for duplicates before it verifies. */
  newOrder(): Order {
    this.#orders += 1;
    return { id: `${this.run}_${this.#orders}`, ...this.receiver.price };
  }

  /** Sends a probe once, as far as there is time; `again` sends it a second time. */
  async probe(name: ProbeName, again = false): Promise<void> {
    const known = this.#probed.get(name);
    if (known && !again) return;
    const [says, make] = probes[name];
    // In other bytes than before: a receiver may refuse a signature that it has seen, as a replay.
    const seen = this.#probed.get(this.succeeded('spaced') ? 'spaced' : 'compact');
    const repeats = name === 'duplicate' || name === 'known_order';
    const order = (repeats ? seen?.order : undefined) ?? this.newOrder();
    // A receiver may remember just the last signature that was right.
    const last = bodies.findLast(this.succeeded) ?? 'compact';
    const outgoing = make(order, this.receiver.signer, this.#probed.get(last)?.outgoing);
    if (!outgoing || this.over) return void (outgoing ? this.untested : this.impossible).add(says);
    this.receiver.onStep?.(says);
    const started = performance.now();
    const sent = await this.send(outgoing);
    if (this.stopped) return void this.untested.add(says);
    const durationMs = performance.now() - started;
    // Read once: a response may be long, and is compared with many others.
    const words = wordsOf(sent, outgoing, order);
    this.#probed.set(name, { order, outgoing, sent, words, durationMs });
    if (isLimited(sent) || (isForgery(name) && sent.code === 'timeout')) this.untested.add(says);
  }

  leaveOutRest(): void {
    const sent = this.results.map(({ says }) => says);
    for (const [says] of Object.values(probes)) if (!sent.includes(says)) this.untested.add(says);
  }

  sent = (name: ProbeName): Sent => this.#probed.get(name)?.sent ?? {};
  body = (name: ProbeName): string => this.#probed.get(name)?.outgoing.body ?? '';

  /** Whether the response was a success, whatever it says. */
  succeeded = (name: ProbeName): boolean => succeeded(this.sent(name));

  /** True if a delivery was accepted: a forgery, with success in the words that an accepted valid one got. */
  accepted = (name: ProbeName): boolean => {
    if (!this.succeeded(name)) return false;
    const valid = bodies.filter(this.succeeded);
    const wordsTo = (names: readonly ProbeName[]) => names.filter(this.succeeded).map(this.#words);
    const toForged = wordsTo(['unsigned', 'forged', 'one_character']);
    if (!isForgery(name)) return !this.#isRefusal(this.#words(name), toForged, wordsTo(valid));
    const toldApart = valid.filter((one) => !toForged.includes(this.#words(one)));
    const own = toldApart.length > 0 ? toldApart : valid;
    return own.length === 0 || own.some((one) => this.#words(one) === this.#words(name));
  };

  /**
   * True if a valid delivery got the words of forgeries, from a receiver that refuses with a success status. Words that
   * differ among forgeries, or among the other valid deliveries, or in numbers alone, show no refusal.
   */
  #isRefusal(words: string, toForged: readonly string[], toValid: readonly string[]): boolean {
    const refusals = new Set(toForged.map(shapeOf));
    const others = new Set(toValid.map(shapeOf).filter((shape) => !refusals.has(shape)));
    return refusals.size === 1 && others.size === 1 && refusals.has(shapeOf(words));
  }

  /** Whether a delivery that was sent was not accepted: without a response in time it may have been. */
  refused = (name: ProbeName): boolean =>
    this.#probed.has(name) &&
    !this.accepted(name) &&
    !this.late(name) &&
    !isLimited(this.sent(name)) &&
    // What made it stop shows no refusal.
    !(this.stopped && this.sent(name).status === undefined);

  late = (name: ProbeName): boolean => this.sent(name).code === 'timeout';

  /** Whether two probes got the same response, but for numbers, ids and what it repeats of them. */
  alike = (name: ProbeName, other: ProbeName): boolean =>
    shapeOf(this.#words(name)) === shapeOf(this.#words(other));

  /** Sends the like of a valid probe, and tells which others got the same response. */
  async sendLike(name: ProbeName, secret = this.receiver.signer.secret) {
    const order = this.newOrder();
    const outgoing = probes[name][1](order, { scheme: this.receiver.signer.scheme, secret }, undefined);
    if (!outgoing) return undefined;
    const sent = await this.send(outgoing);
    const words = shapeOf(wordsOf(sent, outgoing, order));
    return { sent, isLike: (other: ProbeName) => words === shapeOf(this.#words(other)) };
  }

  evidence = (...names: ProbeName[]): string =>
    names.map((name) => this.told(probes[name][0], this.sent(name))).join(' ');

  get slowest(): { seconds: number; evidence: string } {
    const responses = this.results.filter(({ status }) => status !== undefined);
    const [slow] = responses.sort((a, b) => b.durationMs - a.durationMs);
    const seconds = (slow?.durationMs ?? 0) / 1000;
    const took = slow && `${this.evidence(slow.name)} It took ${seconds.toFixed(1)} s.`;
    return { seconds, evidence: took ?? '' };
  }

  told = (says: string, sent: Sent): string => `"${says}" got ${this.#shown(sent).replace(/\.$/, '')}.`;
  response = (name: ProbeName): string => this.#shown(this.sent(name));

  finding = (code: FindingCode, facts: Facts = {}): Finding => findingOf(code, this.framework, facts);

  /** Sends anything, by default to the target; again if a rate limit says when. */
  async send(outgoing: Outgoing, target = this.receiver.target, tries = 5): Promise<Sent> {
    const response = asServed(await this.#sendOnce(target, outgoing), this.target);
    this.#responses.push(response);
    const last = [...this.#probed.keys()].at(-1);
    if (response.code === 'ECONNREFUSED' && last && this.sent(last).code !== 'ECONNREFUSED')
      this.stopped ??= this.finding('connection_lost', {
        lost: 'was reached, and then stopped listening',
        look: 'See its log: it died of the last delivery that it got',
        evidence: `${this.evidence(last)} After that: ${this.#shown(response)}.`,
      });
    if (!isLimited(response)) return response;
    const waitMs = Number(response.headers?.['retry-after']) * 1000;
    this.#limited ||= tries === 0 || !(waitMs <= longestWaitMs);
    if (this.#limited) return response;
    await setTimeout(waitMs);
    return this.send(outgoing, target, tries - 1);
  }

  /** Rejects if nothing may be sent there, which ends the examination. */
  async #sendOnce(target: WebhookTarget, outgoing: Outgoing): Promise<Sent> {
    const sent = await send(target, outgoing, this.receiver);
    if (sent.code === 'address_refused') throw new TargetError(sent.error);
    return sent;
  }

  async respondsElsewhere(usual: Sent): Promise<boolean> {
    if (typeof this.receiver.target !== 'string') return false;
    const beside = new URL(this.receiver.target);
    beside.pathname = `${beside.pathname.replace(/\/$/, '')}-${randomText()}`;
    const other = await this.send(outgoing(eventBody(this.newOrder()), {}), beside.href);
    return other.status === usual.status;
  }

  #shown = (sent: Sent): string => responseText(sent, this.receiver.signer.secret);

  #words = (name: ProbeName): string => this.#probed.get(name)?.words ?? '';
}

const isLimited = ({ status }: Sent): boolean => status === 429;
export const succeeded = ({ status = 0 }: Sent): boolean => status >= 200 && status < 300;
