// The doctor finds the faults of a webhook receiver, and the scheme that signed a captured delivery.
import * as z from 'zod/mini';
import { mustBe } from '../input/read.js';
import { kindAndText } from '../input/visible.js';
import { TargetError, targetProblem } from '../sending/address.js';
import { newSecret, type WebhookTarget } from '../sending/delivery.js';
import type { SendOptions } from '../sending/send.js';
import type { SignatureScheme } from '../webhooks/index.js';
import { Examination, is2xx, type ProbeResult } from './examination.js';
import type { Finding, FindingCode } from './findings.js';
import { findUnreachable } from './obstacles.js';
import { bodies, forgeryNames, type ProbeName } from './probes.js';
import { explainRefusal, findLaterRefusal, findRefusedBodies, speaksOfOrder } from './refused.js';
import { findStatedFault } from './stated-fault.js';
import { findAcceptedForgeries, isCalledDuplicate, isDanger } from './verdicts.js';

/** Options of `sandbox.doctor()`. */
export interface DoctorOptions {
  /** Amount of the test order. Default `'98765.43'`: no shop charges that, so matching by amount marks no real order as paid. */
  amount?: string | undefined;
  /** Currency of `amount`. Default `'USD'`. */
  currency?: string | undefined;
  /** Called before each step, because a slow receiver takes a while. */
  onStep?: ((step: string) => void) | undefined;
}

/** A receiver to examine, the secret and scheme of its deliveries, and the options of the examination. */
export interface DiagnoseOptions extends DoctorOptions, SendOptions {
  /** The receiver's URL, or the route handler itself. */
  target: WebhookTarget;
  /** Secret that signs the deliveries. */
  secret: string;
  /** Fields in which the scheme differs from the default. */
  scheme?: Partial<SignatureScheme> | undefined;
}

/** The result of `sandbox.doctor()` for a webhook receiver. It never contains the secret. */
export interface Diagnosis {
  /** True if there is no finding. Warnings do not count. */
  ok: boolean;
  /** The receiver's URL; `(handler)` if the target is a function. */
  target: string;
  /** First line of the report: the fault and the line to change, or "All good". */
  summary: string;
  /** Faults to fix, most serious first. */
  findings: Finding[];
  /** Weaknesses that are not faults. */
  warnings: Finding[];
  /** Things to check in your shop, which the doctor cannot see, and the tests that were left out. */
  notes: string[];
  /** The deliveries sent and the responses to them, in order. */
  probes: ProbeResult[];
  /** Number of other ways to sign that were tried. Above 0 only if every valid delivery was rejected. */
  tried: number;
  /** The scheme that the receiver expects, if it differs from the sandbox's. */
  expects: Partial<SignatureScheme> | undefined;
}

const slowMs = 5_000;
const unusualAmount = '98765.43';

const decimal = /^(?!0+(?:\.0+)?$)\d{1,12}(?:\.\d{1,2})?$/;

/** The options for the price of the test order. */
export const priceShape = {
  amount: z._default(patternSchema(decimal, 'a decimal amount above zero, such as "19.90"'), unusualAmount),
  currency: z._default(patternSchema(/^[A-Z]{3}$/, 'a three-letter ISO code, such as "USD"'), 'USD'),
};

function patternSchema(form: RegExp, wanted: string) {
  const error = mustBe(wanted, wanted, kindAndText);
  return z.string({ error }).check(z.regex(form, { error }));
}

/**
 * Examines a webhook receiver from outside: sends the probes and names the fault that the responses show.
 *
 * @throws {TargetError} nothing may be sent to the target.
 */
export async function diagnose(order: DiagnoseOptions): Promise<Diagnosis> {
  const { target, secret, scheme = {}, amount = unusualAmount, currency = 'USD', ...how } = order;
  const problem = targetProblem(target, how.allowRemote ?? false);
  if (problem !== undefined) throw new TargetError(problem);
  const exam = new Examination({ target, signer: { secret, scheme }, price: { amount, currency }, ...how });
  const unreached = await findObstacle(exam);
  if (unreached) return report(exam, [unreached]);
  // Forgeries may crash a receiver or get the sender blocked, so the valid bodies are sent before them.
  // After a timeout the other bodies are skipped: each would take as long and show no more.
  const isLate = exam.isLate('compact');
  for (const name of isLate ? [] : bodies) await exam.probe(name);
  await exam.probe('forged');
  if (isLate) exam.leaveOutRest();
  const reached = bodies.some((name) => exam.is2xx(name));
  for (const name of reached ? forgeryNames : (['empty_secret'] as const)) await exam.probe(name);
  if (reached) await exam.probe('duplicate');

  const fooled = await findAcceptedForgeries(exam);
  if (exam.stopped) return report(exam, [...fooled, ...(await judgeUntilStopped(exam, reached))]);
  if (exam.isAccepted('forged') || (fooled.length > 0 && !reached)) return report(exam, fooled);
  const late = [...bodies, 'duplicate' as const].find(exam.isLate);
  if (late) fooled.push(exam.finding('slow', { evidence: exam.evidence('forged', late) }));
  else if (!reached) {
    const { finding, ...more } = await explainRefusal(exam);
    return report(exam, [finding], more);
  }
  const later = await findLaterRefusal(exam);
  const refused = later ? [later] : await findRefusedBodies(exam);
  if (fooled.length + refused.length === 0) refused.push(...(await findBlockedForgeries(exam)));
  const known = refused.map(({ code }) => code);
  const others = fooled.filter(({ code }) => !known.includes(code));
  const dangers = others.filter(isDanger);
  return report(exam, [...dangers, ...refused, ...others.filter((one) => !dangers.includes(one))], {
    warnings: findWarnings(exam, fooled.length > 0),
  });
}

/** Returns the findings from the responses that a receiver gave before it stopped listening. */
async function judgeUntilStopped(exam: Examination, reached: boolean): Promise<Finding[]> {
  if (reached) return findRefusedBodies(exam);
  const said = findStatedFault(exam.sent('compact'), exam.body('compact'), exam.framework);
  return said ? [{ ...said, evidence: exam.evidence('compact') }] : [];
}

/** Returns the reason why deliveries do not reach the handler, if a valid and an unsigned delivery show the same one. */
async function findObstacle(exam: Examination): Promise<Finding | undefined> {
  const probeObstacle = async (name: ProbeName) => {
    await exam.probe(name);
    const sent = exam.sent(name);
    const finding = findUnreachable(sent, exam.target, exam.framework, { evidence: exam.evidence(name) });
    return finding?.code === 'not_found' && speaksOfOrder(sent) ? undefined : finding;
  };
  const first = await probeObstacle('compact');
  if (exam.over) return exam.stopped ?? first;
  const second = await probeObstacle('unsigned');
  if (exam.stopped) return exam.stopped;
  if (first && second?.code === first.code) return first;
  // A server that is still starting may have sent the first 5xx, so the probe is sent again.
  if (first && (exam.sent('compact').status ?? 500) >= 500) await exam.probe('compact', true);
  return undefined;
}

function findWarnings(exam: Examination, hasFindings: boolean): Finding[] {
  const warnings: Finding[] = [];
  const { seconds, evidence } = exam.slowest;
  if (seconds * 1000 > slowMs)
    warnings.push(exam.finding('slow', { slow: `took ${seconds.toFixed(1)} s to respond`, evidence }));
  if (hasFindings) return warnings;
  const taken = (['right_first', 'right_last'] as const).filter(exam.isAccepted);
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
  if (findings.length === 0 && exam.untested.size > 0) findings.push(await describeUntested(exam));
  return {
    ok: findings.length === 0,
    target: exam.target,
    summary: summaryOf(findings, more.warnings),
    findings,
    warnings: [],
    notes: [
      ...notes(exam, findings),
      ...untestedNote(why, exam.untested),
      ...untestedNote('the scheme or the secret does not allow it', exam.impossible),
    ],
    probes: exam.results,
    tried: 0,
    expects: undefined,
    ...more,
  };
}

/** Returns `not_tested` if something in front of the handler blocks later forgeries: it hides what the handler accepts. */
async function findBlockedForgeries(exam: Examination): Promise<Finding[]> {
  const again = await exam.sendLike('compact', newSecret(exam.receiver.signer.scheme));
  if (!again || exam.over || again.sent.status === exam.sent('forged').status) return [];
  return [
    exam.finding('not_tested', {
      because: 'something rejects later forged ones before your handler verifies them',
      first: 'Turn it off where you examine it.',
      evidence: `${exam.evidence('forged')} ${exam.describe('the like, after all others', again.sent)}`,
    }),
  ];
}

async function describeUntested(exam: Examination): Promise<Finding> {
  const limited = exam.results.find(({ status }) => status === 429)?.name;
  const late = exam.results.find(({ name }) => exam.isLate(name))?.name;
  if (!limited)
    return exam.finding('not_tested', { evidence: late ? exam.evidence(late) : exam.slowest.evidence });
  const valid = await exam.sendLike('compact');
  if (valid && is2xx(valid.sent))
    return exam.finding('not_tested', {
      because: 'a rate limit rejects many forged ones; valid ones still get through',
      first: 'Turn the limit off where you examine it.',
      evidence: `${exam.evidence(limited)} ${exam.describe('valid again', valid.sent)}`,
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

const untestedNote = (why: string, what: ReadonlySet<string>): string[] =>
  what.size > 0 ? [`Not tested, because ${why}: ${[...what].join('; ')}.`] : [];

/** Faults in what is accepted, which do not explain that valid deliveries are rejected. */
const unexplaining: ReadonlySet<string> = new Set([
  'accepts_unsigned',
  'weak_comparison',
] satisfies FindingCode[]);

function notes(exam: Examination, findings: readonly Finding[]): string[] {
  const { run, receiver, results } = exam;
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
  const isUnjudged = bodies.every(exam.isRefused) && findings.some(({ code }) => unexplaining.has(code));
  const judged =
    'It rejected every valid delivery, too: its secret is probably not the one that signs these. Set the same on both sides (PAYMENTS_WEBHOOK_SECRET) and run the doctor again, for what it could not judge.';
  return [
    ...(isUnjudged ? [judged] : []),
    own,
    ...(taken > 1 ? [same] : []),
    ...(refused > 0 ? [others] : []),
  ];
}
