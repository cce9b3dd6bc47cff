import { TargetError, targetProblem } from '../sending/address.js';
import { newSecret, type WebhookTarget } from '../sending/delivery.js';
import type { SendOptions } from '../sending/send.js';
import type { SignatureScheme } from '../webhooks/index.js';
import { Examination, type ProbeResult, succeeded } from './examination.js';
import type { Finding } from './findings.js';
import { bodies, forgeryNames, type ProbeName } from './probes.js';
import { explainRefusal, refusedBodies, rejectsLater, speaksOfOrder } from './refused.js';
import { toldBy, unreachable } from './symptoms.js';
import { acceptedForgeries, isCalledDuplicate, isDanger } from './verdicts.js';

/** Options of `sandbox.doctor()`. */
export interface DoctorOptions {
  /** Amount of the test order. Default `'98765.43'`: no shop charges that, so matching by amount marks no real order as paid. */
  amount?: string | undefined;
  /** Currency of `amount`. Default `'USD'`. */
  currency?: string | undefined;
  /** Called before each step, because a slow receiver takes a while. */
  onStep?: ((step: string) => void) | undefined;
}

/** A receiver to examine, with what signs its deliveries, and the options of the examination. */
export interface DiagnoseOptions extends DoctorOptions, SendOptions {
  /** The receiver's URL, or the route handler itself. */
  target: WebhookTarget;
  /** What signs its deliveries. */
  secret: string;
  /** What differs from the default scheme. */
  scheme?: Partial<SignatureScheme> | undefined;
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

const slowMs = 5_000;
const unusualAmount = '98765.43';

export function readOrderPrice({ amount = unusualAmount, currency = 'USD' }: DoctorOptions) {
  const problemOf = (name: string, text: string, form: RegExp, wanted: string) =>
    form.test(text) ? undefined : `${name} ${JSON.stringify(text.slice(0, 40))} is invalid. Pass ${wanted}.`;
  const decimal = /^(?!0+(?:\.0+)?$)\d{1,12}(?:\.\d{1,2})?$/;
  const problem =
    problemOf('amount', amount, decimal, 'a decimal amount above zero, such as "19.90"') ??
    problemOf('currency', currency, /^[A-Z]{3}$/, 'a three-letter ISO code, such as "USD"');
  return { price: { amount, currency }, problem };
}

/**
 * Examines a webhook receiver from outside: sends the probes and names the fault that its responses show.
 *
 * @throws {TargetError} nothing may be sent to the target.
 */
export async function diagnose(order: DiagnoseOptions): Promise<Diagnosis> {
  const { target, secret, scheme = {}, amount, currency, ...how } = order;
  const problem = targetProblem(target, how.allowRemote ?? false);
  if (problem !== undefined) throw new TargetError(problem);
  const { price } = readOrderPrice({ amount, currency });
  const exam = new Examination({ target, signer: { secret, scheme }, price, ...how });
  const unreached = await obstacle(exam);
  if (unreached) return report(exam, [unreached]);
  // Bodies before forgeries, which may kill a receiver or have the sender blocked. Where no response comes in time, each
  // further delivery would take as long, and shows no more.
  const isLate = exam.late('compact');
  for (const name of isLate ? [] : bodies) await exam.probe(name);
  await exam.probe('forged');
  if (isLate) exam.leaveOutRest();
  const reached = bodies.some((name) => exam.succeeded(name));
  for (const name of reached ? forgeryNames : (['empty_secret'] as const)) await exam.probe(name);
  if (reached) await exam.probe('duplicate');

  const fooled = await acceptedForgeries(exam);
  if (exam.stopped) return report(exam, [...fooled, ...(await judgeUntilStopped(exam, reached))]);
  if (exam.accepted('forged') || (fooled.length > 0 && !reached)) return report(exam, fooled);
  const late = [...bodies, 'duplicate' as const].find(exam.late);
  if (late) fooled.push(exam.finding('slow', { evidence: exam.evidence('forged', late) }));
  else if (!reached) {
    const { finding, ...more } = await explainRefusal(exam);
    return report(exam, [finding], more);
  }
  const later = await rejectsLater(exam);
  const refused = later ? [later] : await refusedBodies(exam);
  if (fooled.length + refused.length === 0) refused.push(...(await blockedForgeries(exam)));
  const known = refused.map(({ code }) => code);
  const others = fooled.filter(({ code }) => !known.includes(code));
  const dangers = others.filter(isDanger);
  return report(exam, [...dangers, ...refused, ...others.filter((one) => !dangers.includes(one))], {
    warnings: warningsOf(exam, fooled.length > 0),
  });
}

/** Returns what a receiver's answers show that stopped listening since. Nothing more can be sent to it. */
async function judgeUntilStopped(exam: Examination, reached: boolean): Promise<Finding[]> {
  if (reached) return refusedBodies(exam);
  const said = toldBy(exam.sent('compact'), exam.body('compact'), exam.framework);
  return said ? [{ ...said, evidence: exam.evidence('compact') }] : [];
}

/** Why deliveries do not reach the handler: the same for a delivery without a signature and for a valid one. */
async function obstacle(exam: Examination): Promise<Finding | undefined> {
  const found = async (name: ProbeName) => {
    await exam.probe(name);
    const sent = exam.sent(name);
    const finding = unreachable(sent, exam.target, exam.framework, exam.evidence(name));
    return finding?.code === 'not_found' && speaksOfOrder(sent) ? undefined : finding;
  };
  const first = await found('compact');
  if (exam.over) return exam.stopped ?? first;
  const second = await found('unsigned');
  if (exam.stopped) return exam.stopped;
  if (first && second?.code === first.code) return first;
  // The first response was that of a server that still starts.
  if (first && (exam.sent('compact').status ?? 500) >= 500) await exam.probe('compact', true);
  return undefined;
}

function warningsOf(exam: Examination, hasFindings: boolean): Finding[] {
  const warnings: Finding[] = [];
  const { seconds, evidence } = exam.slowest;
  if (seconds * 1000 > slowMs)
    warnings.push(exam.finding('slow', { slow: `took ${seconds.toFixed(1)} s to respond`, evidence }));
  if (hasFindings) return warnings;
  const taken = (['right_first', 'right_last'] as const).filter(exam.accepted);
  if (taken.length > 0) warnings.push(exam.finding('loose_signature', { evidence: exam.evidence(...taken) }));
  if (isCalledDuplicate(exam)) {
    const evidence = exam.evidence('known_order', 'duplicate');
    warnings.push(exam.finding('trusts_known_orders', { evidence }));
  }
  return warnings;
}

async function report(exam: Examination, found: Finding[], more: Partial<Diagnosis> = {}) {
  const why = exam.over ?? 'the receiver was too slow';
  const findings = [...new Set([...found, exam.stopped ?? []].flat())];
  if (findings.length === 0 && exam.untested.size > 0) findings.push(await unfinished(exam));
  return {
    ok: findings.length === 0,
    target: exam.target,
    summary: summaryOf(findings, more.warnings),
    findings,
    warnings: [],
    notes: [
      ...notes(exam),
      ...listed(why, exam.untested),
      ...listed('the scheme or the secret does not allow it', exam.impossible),
    ],
    probes: exam.results,
    tried: 0,
    expects: undefined,
    ...more,
  };
}

/** What blocks forgeries after a while, and lets valid ones through, hides what the handler accepts. */
async function blockedForgeries(exam: Examination): Promise<Finding[]> {
  const again = await exam.sendLike('compact', newSecret(exam.receiver.signer.scheme));
  if (!again || exam.over || again.sent.status === exam.sent('forged').status) return [];
  return [
    exam.finding('not_tested', {
      because: 'something rejects later forged ones before your handler verifies them',
      first: 'Turn it off where you examine it.',
      evidence: `${exam.evidence('forged')} ${exam.told('the like, after all others', again.sent)}`,
    }),
  ];
}

async function unfinished(exam: Examination): Promise<Finding> {
  const limited = exam.results.find(({ status }) => status === 429)?.name;
  const late = exam.results.find(({ name }) => exam.late(name))?.name;
  if (!limited)
    return exam.finding('not_tested', { evidence: late ? exam.evidence(late) : exam.slowest.evidence });
  const valid = await exam.sendLike('compact');
  if (valid && succeeded(valid.sent))
    return exam.finding('not_tested', {
      because: 'a rate limit rejects many forged ones; valid ones still get through',
      first: 'Turn the limit off where you examine it.',
      evidence: `${exam.evidence(limited)} ${exam.told('valid again', valid.sent)}`,
    });
  const accepted = exam.results.findLast(({ outcome }) => outcome === 'accepted')?.name;
  return exam.finding('rate_limited', {
    since: accepted && ', or blocks the sender after forged ones: it accepted valid ones before',
    evidence: exam.evidence(...(accepted ? [accepted] : []), limited),
  });
}

function summaryOf([first, ...others]: readonly Finding[], warnings: readonly Finding[] = []): string {
  const rest = others.length > 0 ? ` (And ${others.length} more, below.)` : '';
  if (first) return `${first.problem} ${first.fix}${rest}`;
  const warning = warnings.find(({ code }) => code !== 'slow');
  if (warning) return `Forged orders are rejected, but: ${warning.problem} ${warning.fix}`;
  return 'All good: your handler accepts valid deliveries and rejects forged, changed and unsigned ones, and those signed a day ago or ahead. Other paths, methods and types of event were not tried, and whether your shop goes on after a rejection cannot be seen from here.';
}

const listed = (why: string, what: ReadonlySet<string>): string[] =>
  what.size > 0 ? [`Not tested, because ${why}: ${[...what].join('; ')}.`] : [];

function notes({ run, receiver, results }: Examination): string[] {
  const { amount, currency } = receiver.price;
  const look =
    amount === unusualAmount
      ? 'No shop charges that amount, so a shop that matches payments by amount marks no real order as paid.'
      : 'If your shop matches payments by amount, check that it marked no real order of that amount as paid.';
  if (results.every(({ status }) => status === undefined)) return [];
  const taken = results.filter(({ outcome }) => outcome === 'accepted').length;
  const refused = results.filter(
    ({ expected, outcome }) => expected === 'refused' && outcome === expected,
  ).length;
  const own = `The deliveries were about orders of the doctor's own, ${run}_…, of ${amount} ${currency}. ${look}`;
  const same = `${taken} were accepted, some of them about the same order: it must be fulfilled once, or not at all.`;
  const others = `${refused} forged ones were rejected: none may be in your shop. If one is, your handler goes on after its rejection: return there.`;
  return [own, ...(taken > 1 ? [same] : []), ...(refused > 0 ? [others] : [])];
}
