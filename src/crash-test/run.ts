// The crash test starts a program, kills it while it takes deliveries, and compares its books with what was sent.
import { setTimeout as wait } from 'node:timers/promises';
import type { Outgoing } from '../sending/delivery.js';
import { send } from '../sending/send.js';
import { type SignatureScheme, sign } from '../webhooks/index.js';
import type { Plan, PlannedDelivery } from './plan.js';
import type { Program } from './program.js';

/** One attempt to deliver, and what came back. */
export interface Answer {
  readonly delivery: PlannedDelivery;
  /** The status of the response; absent if there was none. */
  readonly status?: number | undefined;
  /** Milliseconds since the run began. */
  readonly sentAt: number;
  readonly endedAt: number;
  /** The signal that its instance got meanwhile or shortly after, and when. */
  readonly kill?: { readonly signal: string; readonly at: number } | undefined;
}

export interface RunOptions {
  plan: Plan;
  programs: readonly Program[];
  secret: string;
  scheme: Partial<SignatureScheme>;
  /** True if everything without a 2xx is sent again, with the waits of `retryMs`, in place of the plan's own repeats. */
  retryMs?: readonly number[] | undefined;
  signal: AbortSignal;
  /** Called after each delivery. What it returns is awaited before the next one is sent. */
  onProgress: (delivered: number, kills: number) => unknown;
}

const inFlight = 4;
const responseMs = 30_000;
const frozenMs = 3000;
const wrongSecret = 'whsec_of_somebody_else';

/** A delivery that waits to be sent. */
interface Waiting {
  readonly delivery: PlannedDelivery;
  readonly attempt: number;
  readonly notBefore: number;
}

export const hasSucceeded = ({ status = 0 }: Answer): boolean => status >= 200 && status < 300;

/** Sends everything of a plan, and kills as it says. Resolves to the answers in the order in which they came. */
export async function runPlan(options: RunOptions): Promise<Answer[]> {
  const { plan, programs, secret, scheme, retryMs, signal, onProgress } = options;
  const startedAt = performance.now();
  const now = (): number => performance.now() - startedAt;
  const answers: Answer[] = [];
  const accepted = new Set<string>();
  const durations: number[] = [];
  let waiting: Waiting[] = plan.deliveries.map((delivery) => ({ delivery, attempt: 0, notBefore: 0 }));
  const killsLeft = new Set(plan.deliveries.filter(({ kill }) => kill));
  let underway = 0;
  let kills = 0;

  await Promise.all(Array.from({ length: inFlight }, work));
  return answers;

  async function work(): Promise<void> {
    while (!signal.aborted) {
      const next = take();
      if (next) await sendOnce(next);
      else if (underway > 0 || waiting.some(({ notBefore }) => notBefore > now())) await wait(10);
      else return;
    }
  }

  /** Takes the first delivery that is due. A duplicate or a conflict is due only once its order was accepted. */
  function take(): Waiting | undefined {
    const isDue = ({ delivery: { kind, orderId }, notBefore }: Waiting): boolean =>
      notBefore <= now() && ((kind !== 'again' && kind !== 'conflict') || accepted.has(orderId));
    const next = waiting.find(isDue);
    waiting = waiting.filter((each) => each !== next);
    return next;
  }

  async function sendOnce(next: Waiting): Promise<void> {
    const { delivery, attempt } = next;
    underway++;
    try {
      // While a program starts again, nothing is sent.
      await Promise.all(programs.map((program) => program.waitUntilReady()));
      if (signal.aborted) return;
      const got = await Promise.all(delivery.instances.map((instance) => deliver(delivery, instance)));
      answers.push(...got.filter((answer) => answer !== undefined));
      // A refused connection carried nothing.
      if (got.every((answer) => answer === undefined)) waiting.unshift(next);
      else if (!got.some((answer) => answer && hasSucceeded(answer)))
        repeat(
          delivery,
          attempt,
          got.some((answer) => answer?.kill !== undefined),
        );
      else if (delivery.kind === 'payment') accepted.add(delivery.orderId);
      await onProgress(plan.deliveries.length - waiting.length, kills);
    } finally {
      underway--;
    }
  }

  async function deliver(delivery: PlannedDelivery, instance: number): Promise<Answer | undefined> {
    const program = programs[instance];
    if (!program) throw new RangeError(`There is no instance ${instance}.`);
    const sentAt = now();
    const response = send(program.url, signDelivery(delivery), { timeoutMs: responseMs, signal });
    const killed = scheduleKill(delivery, program, response);
    const { status, code } = await response;
    const endedAt = now();
    const kill = await killed;
    if (status !== undefined && kill === undefined) durations.push(endedAt - sentAt);
    return code === 'ECONNREFUSED' ? undefined : { delivery, status, sentAt, endedAt, kill };
  }

  async function scheduleKill(
    delivery: PlannedDelivery,
    program: Program,
    response: Promise<unknown>,
  ): Promise<Answer['kill']> {
    const { kill } = delivery;
    if (kill === undefined || !killsLeft.has(delivery)) return undefined;
    if (kill.share >= 1) await response;
    await wait((kill.share >= 1 ? kill.share - 1 : kill.share) * median(durations));
    const at = now();
    if (signal.aborted) return undefined;
    if (kill.signal === 'SIGSTOP') await program.freeze(frozenMs);
    else if (program.kill(kill.signal)) kills++;
    else return undefined; // another kill was first: this one is made up for when the delivery is sent again
    killsLeft.delete(delivery);
    return { signal: kill.signal, at };
  }

  function repeat(delivery: PlannedDelivery, attempt: number, wasKilled: boolean): void {
    if (delivery.kind === 'forged') return;
    const delay = retryMs?.[attempt];
    const isRepeated = retryMs
      ? delay !== undefined
      : attempt === 0 && (wasKilled ? delivery.repeatsAfterKill : delivery.repeatsAfterFailure);
    if (isRepeated) waiting.push({ delivery, attempt: attempt + 1, notBefore: now() + (delay ?? 0) });
  }

  function signDelivery({ kind, body }: PlannedDelivery): Outgoing {
    const signed = sign({ rawBody: body, secret: kind === 'forged' ? forgeSecret(scheme) : secret, scheme });
    return { body, headers: { 'content-type': 'application/json', ...signed } };
  }
}

/** Returns a secret that is not the merchant's, in the form that the scheme reads. */
function forgeSecret({ secretEncoding }: Partial<SignatureScheme>): string {
  const bytes = Buffer.from(wrongSecret);
  return secretEncoding === undefined || secretEncoding === 'utf8'
    ? wrongSecret
    : bytes.toString(secretEncoding);
}

/** Returns the median of response times; 20 ms before there was a response. */
function median(durations: readonly number[]): number {
  const sorted = durations.toSorted((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)] ?? 20;
}
