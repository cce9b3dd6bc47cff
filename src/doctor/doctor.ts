import { refusedBodies } from './bodies.js';
import type { Diagnosis, DoctorOptions } from './diagnosis.js';
import { Examination, type Patient } from './examination.js';
import { expectation } from './expectation.js';
import type { Finding } from './findings.js';
import { acceptedForgery } from './forgeries.js';
import { explainRefusal, lastGuess } from './refusal.js';
import { unreachable } from './symptoms.js';

const bodies = ['compact', 'spaced', 'newline', 'non_ascii'] as const;
const slowMs = 5_000;

/** An amount that no shop charges, so that no open order of a customer has it. */
const unusualAmount = '98765.43';

/** The price of the test order, and what is wrong with it. */
export function readOrderPrice({ amount = unusualAmount, currency = 'USD' }: DoctorOptions) {
  const problem = !/^(?!0+(?:\.0+)?$)\d{1,12}(?:\.\d{1,2})?$/.test(amount)
    ? `amount ${JSON.stringify(amount.slice(0, 40))} is invalid. Pass a decimal amount above zero, such as "19.90".`
    : !/^[A-Z]{3}$/.test(currency)
      ? `currency ${JSON.stringify(currency.slice(0, 40))} is invalid. Pass a three-letter ISO code, such as "USD".`
      : undefined;
  return { price: { amount, currency }, problem };
}

/** Examines a webhook receiver from outside: sends the probes and names the fault that its responses show. */
export async function diagnose(patient: Patient): Promise<Diagnosis> {
  const exam = new Examination(patient);
  const blocked = await obstacle(exam);
  if (blocked) return report(exam, [blocked]);

  for (const name of ['forged', 'tampered', 'compact'] as const) await exam.probe(name);
  // Each further delivery would take as long, and shows no more.
  if (!exam.late('compact'))
    for (const name of [...bodies, 'stale', 'duplicate'] as const) await exam.probe(name);
  const fooled = await acceptedForgery(exam);
  if (fooled) return report(exam, [fooled]);
  if (exam.late('compact')) return report(exam, [late(exam)]);
  if (bodies.some((name) => exam.accepted(name))) {
    const findings = await refusedBodies(exam);
    if (exam.accepted('stale')) findings.push(exam.finding('no_tolerance'));
    if ([...bodies, 'duplicate' as const].some((name) => exam.late(name))) findings.push(late(exam));
    return report(exam, findings, { warnings: slow(exam) });
  }
  const told = await explainRefusal(exam);
  if (told) return report(exam, [told]);
  const { finding, expects, tried } = await expectation(exam);
  return report(exam, [finding ?? (await lastGuess(exam, tried))], { expects, tried });
}

/** Why deliveries do not reach the handler: the same for a delivery without a signature and for a valid one. */
async function obstacle(exam: Examination): Promise<Finding | undefined> {
  const first = unreachable((await exam.probe('unsigned')).sent, exam.target, exam.framework);
  if (!first) return undefined;
  const second = unreachable((await exam.probe('compact')).sent, exam.target, exam.framework);
  return second?.code === first.code ? second : undefined;
}

function late(exam: Examination): Finding {
  return exam.finding('slow', {
    slow: 'verifies the delivery, and then does not respond in time',
    evidence: 'It rejected a forged delivery at once, and did not respond to a valid one in time.',
  });
}

function slow(exam: Examination): Finding[] {
  const slowest = Math.max(
    ...exam.results.map(({ durationMs, status }) => (status === undefined ? 0 : durationMs)),
  );
  if (slowest <= slowMs) return [];
  return [exam.finding('slow', { slow: `took ${(slowest / 1000).toFixed(1)} s to respond` })];
}

function report(exam: Examination, findings: Finding[], more: Partial<Diagnosis> = {}): Diagnosis {
  const [first, ...others] = findings;
  return {
    ok: !first,
    target: exam.target,
    summary: first
      ? `${first.problem} ${first.fix}${others.length > 0 ? ` (And ${others.length} more, below.)` : ''}`
      : 'All good: your handler accepts valid deliveries and rejects forged, changed, unsigned and old ones.',
    findings,
    warnings: [],
    notes: notes(exam),
    probes: exam.results,
    tried: 0,
    expects: undefined,
    ...more,
  };
}

/** What only the merchant can see. */
function notes({ order, results }: Examination): string[] {
  const price = `${order.amount} ${order.currency}`;
  const look =
    order.amount === unusualAmount
      ? 'No shop charges that amount, so a shop that matches payments by amount marks no real order as paid.'
      : 'If your shop matches payments by amount, check that it marked no real order of that amount as paid.';
  if (results.every(({ status }) => status === undefined)) return [];
  const taken = results.filter(({ outcome }) => outcome === 'accepted').length;
  return [
    `Every delivery was about the order ${order.id} of ${price}. ${look}`,
    ...(taken > 1
      ? [`It was accepted ${taken} times. Check your shop: it must be fulfilled once, or not at all.`]
      : []),
  ];
}
