import { setTimeout } from 'node:timers/promises';
import { TargetError } from '../sending/address.js';
import { type Outgoing, randomText, type Sent, type WebhookTarget } from '../sending/delivery.js';
import { type SendOptions, send } from '../sending/send.js';
import { probeOrder } from '../webhooks/probe.js';
import { type Facts, type Finding, type FindingCode, findingOf } from './findings.js';
import { frameworkOf } from './frameworks.js';
import { toServerResponse } from './obstacles.js';
import { bodies, isForgery, type ProbeName, probes } from './probes.js';
import { eventBody, type Order, type Signer, toOutgoing } from './signed.js';
import { responseText, shapeOf, wordsOf } from './words.js';

/** A receiver to examine, with the signer of its deliveries and the options of sending them. */
export interface Receiver extends SendOptions {
  /** The receiver's URL, or the route handler itself. */
  target: WebhookTarget;
  /** Secret and scheme that sign the deliveries. */
  signer: Signer;
  /** Price of every test order. */
  price: { amount: string; currency: string };
  /** Called before each step. */
  onStep?: ((step: string) => void) | undefined;
}

/** One delivery of the doctor, and the response to that delivery. */
export interface ProbeResult {
  /** The delivery's name, for programs. */
  name: ProbeName;
  /** The delivery in words, such as "signed with a different secret". */
  says: string;
  /** The outcome that a correct receiver produces. */
  expected: 'accepted' | 'refused';
  /** `accepted` for a 2xx status, `refused` for every other response. */
  outcome: 'accepted' | 'refused' | 'no response';
  /** HTTP status; `undefined` if there was no response. */
  status: number | undefined;
  /** Reason why there was no response. */
  error: string | undefined;
  /** Status and the first 200 characters of the response's body, or the error. Control characters are made visible. */
  response: string;
  /** Time from sending to the response, in milliseconds. */
  durationMs: number;
}

/** Says how many deliveries got the response of a correct receiver. */
export function tallyOf(results: readonly Pick<ProbeResult, 'expected' | 'outcome'>[]): string {
  const right = results.filter(({ expected, outcome }) => outcome === expected);
  return `${right.length} of ${results.length} deliveries got the response that they must get`;
}

type Probed = { order: Order; outgoing: Outgoing; sent: Sent; words: string; durationMs: number };

const patienceMs = 60_000;
const longestWaitMs = 5_000;

/** The deliveries sent to one receiver so far, with the responses to them. */
export class Examination {
  readonly run = `${probeOrder}${randomText()}`;
  /** Probes that were not sent, or got no response in time. */
  readonly untested = new Set<string>();
  /** Probes that the scheme cannot carry. */
  readonly impossible = new Set<string>();
  /** The finding that the server stopped listening during the examination, as a crashed process does. */
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

  /** The reason why nothing more is sent; `undefined` while the examination goes on. */
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
      outcome: sent.status === undefined ? 'no response' : is2xx(sent) ? 'accepted' : 'refused',
      status: sent.status,
      error: sent.error,
      response: this.#describe(sent),
      durationMs,
    }));
  }

  /** Returns an order that the receiver has not seen, because a receiver may look for duplicates before it verifies. */
  newOrder(): Order {
    this.#orders += 1;
    return { id: `${this.run}_${this.#orders}`, ...this.receiver.price };
  }

  /** Sends a probe once, if there is time left. `again` sends the probe a second time. */
  async probe(name: ProbeName, again = false): Promise<void> {
    const known = this.#probed.get(name);
    if (known && !again) return;
    const [says, make] = probes[name];
    // A receiver may refuse a known signature as a replay, so a repeated order is the one that came in other bytes.
    const seen = this.#probed.get(this.is2xx('spaced') ? 'spaced' : 'compact');
    const repeats = name === 'duplicate' || name === 'known_order';
    const order = (repeats ? seen?.order : undefined) ?? this.newOrder();
    // A receiver may remember only the last valid signature, so a tampered body reuses that one.
    const last = bodies.findLast(this.is2xx) ?? 'compact';
    const outgoing = make(order, this.receiver.signer, this.#probed.get(last)?.outgoing);
    if (!outgoing || this.over) return void (outgoing ? this.untested : this.impossible).add(says);
    this.receiver.onStep?.(says);
    const started = performance.now();
    const sent = await this.send(outgoing);
    if (this.stopped) return void this.untested.add(says);
    const durationMs = performance.now() - started;
    // A response may be long and is compared with many others, so its words are extracted once.
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

  /** True if the response has a 2xx status, whatever its body says. */
  is2xx = (name: ProbeName): boolean => is2xx(this.sent(name));

  /** True if a delivery was accepted. A forgery counts as accepted if it got a 2xx status and the words of an accepted valid delivery. */
  isAccepted = (name: ProbeName): boolean => {
    if (!this.is2xx(name)) return false;
    const valid = bodies.filter(this.is2xx);
    const wordsTo = (names: readonly ProbeName[]) => names.filter(this.is2xx).map(this.#words);
    const toForged = wordsTo(['unsigned', 'forged', 'one_character']);
    if (!isForgery(name)) return !this.#isRefusal(this.#words(name), toForged, wordsTo(valid));
    const toldApart = valid.filter((one) => !toForged.includes(this.#words(one)));
    const own = toldApart.length > 0 ? toldApart : valid;
    return own.length === 0 || own.some((one) => this.#words(one) === this.#words(name));
  };

  /**
   * True if a valid delivery got the words that forgeries got, from a receiver that refuses with a success status. No refusal is
   * assumed if the words differ among the forgeries, or among the other valid deliveries, or only in their numbers.
   */
  #isRefusal(words: string, toForged: readonly string[], toValid: readonly string[]): boolean {
    const refusals = new Set(toForged.map(shapeOf));
    const others = new Set(toValid.map(shapeOf).filter((shape) => !refusals.has(shape)));
    return refusals.size === 1 && others.size === 1 && refusals.has(shapeOf(words));
  }

  /** True if a delivery was sent and not accepted. After a timeout or a rate limit this is unknown, so false. */
  isRefused = (name: ProbeName): boolean =>
    this.#probed.has(name) &&
    !this.isAccepted(name) &&
    !this.isLate(name) &&
    !isLimited(this.sent(name)) &&
    // A delivery without a response may have crashed the receiver, which is no refusal.
    !(this.stopped && this.sent(name).status === undefined);

  isLate = (name: ProbeName): boolean => this.sent(name).code === 'timeout';

  /** True if two probes got the same response, apart from numbers, ids and text repeated from the delivery. */
  hasSameResponse = (name: ProbeName, other: ProbeName): boolean =>
    shapeOf(this.#words(name)) === shapeOf(this.#words(other));

  /** Sends a probe like an earlier one about a new order. `isLike()` of the result compares its response with the other probes' responses. */
  async sendLike(name: ProbeName, secret = this.receiver.signer.secret) {
    const order = this.newOrder();
    const outgoing = probes[name][1](order, { scheme: this.receiver.signer.scheme, secret }, undefined);
    if (!outgoing) return undefined;
    const sent = await this.send(outgoing);
    const words = shapeOf(wordsOf(sent, outgoing, order));
    return { sent, isLike: (other: ProbeName) => words === shapeOf(this.#words(other)) };
  }

  evidence = (...names: ProbeName[]): string =>
    names.map((name) => this.describe(probes[name][0], this.sent(name))).join(' ');

  get slowest(): { seconds: number; evidence: string } {
    const responses = this.results.filter(({ status }) => status !== undefined);
    const [slow] = responses.sort((a, b) => b.durationMs - a.durationMs);
    const seconds = (slow?.durationMs ?? 0) / 1000;
    const took = slow && `${this.evidence(slow.name)} It took ${seconds.toFixed(1)} s.`;
    return { seconds, evidence: took ?? '' };
  }

  describe = (says: string, sent: Sent): string =>
    `"${says}" got ${this.#describe(sent).replace(/\.$/, '')}.`;
  response = (name: ProbeName): string => this.#describe(this.sent(name));

  /** Returns the beginning of a response, for a sentence whose evidence has more of it. */
  briefResponse = (name: ProbeName): string => responseText(this.sent(name), this.receiver.signer.secret, 60);

  finding = (code: FindingCode, facts: Facts = {}): Finding => findingOf(code, this.framework, facts);

  /** Sends any delivery, to the target by default. Retries if a rate limit names a short wait. */
  async send(outgoing: Outgoing, target = this.receiver.target, tries = 5): Promise<Sent> {
    const response = toServerResponse(await this.#sendOnce(target, outgoing), this.target);
    this.#responses.push(response);
    const last = [...this.#probed.keys()].at(-1);
    if (response.code === 'ECONNREFUSED' && last && this.sent(last).code !== 'ECONNREFUSED')
      this.stopped ??= this.finding('connection_lost', {
        lost: 'was reached, and then stopped listening',
        look: 'See its log: it died of the last delivery that it got',
        evidence: `${this.evidence(last)} After that: ${this.#describe(response)}.`,
      });
    if (!isLimited(response)) return response;
    const waitMs = Number(response.headers?.['retry-after']) * 1000;
    this.#limited ||= tries === 0 || !(waitMs <= longestWaitMs);
    if (this.#limited) return response;
    await setTimeout(waitMs);
    return this.send(outgoing, target, tries - 1);
  }

  /** Rejects with `TargetError` if the address is not allowed, which ends the examination. */
  async #sendOnce(target: WebhookTarget, outgoing: Outgoing): Promise<Sent> {
    const sent = await send(target, outgoing, this.receiver);
    if (sent.code === 'address_refused') throw new TargetError(sent.error);
    return sent;
  }

  async respondsElsewhere(usual: Sent): Promise<boolean> {
    if (typeof this.receiver.target !== 'string') return false;
    const beside = new URL(this.receiver.target);
    beside.pathname = `${beside.pathname.replace(/\/$/, '')}-${randomText()}`;
    const other = await this.send(toOutgoing(eventBody(this.newOrder()), {}), beside.href);
    return other.status === usual.status;
  }

  #describe = (sent: Sent): string => responseText(sent, this.receiver.signer.secret);

  #words = (name: ProbeName): string => this.#probed.get(name)?.words ?? '';
}

const isLimited = ({ status }: Sent): boolean => status === 429;
export const is2xx = ({ status = 0 }: Sent): boolean => status >= 200 && status < 300;
