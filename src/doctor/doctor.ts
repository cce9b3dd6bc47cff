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
  if (blocked) return report(exam, { findings: [blocked] });

  for (const name of ['forged', 'tampered', 'compact'] as const) await exam.probe(name);
  // Each further delivery would take as long, and shows no more.
  if (!exam.late('compact'))
    for (const name of [...bodies, 'stale', 'duplicate'] as const) await exam.probe(name);
  const fooled = await acceptedForgery(exam);
  if (fooled) return report(exam, { findings: [fooled] });
  if (exam.late('compact')) return report(exam, { findings: [late(exam)] });
  if (bodies.some((name) => exam.accepted(name))) {
    const findings = [...(await refusedBodies(exam)), ...replay(exam), ...lateSometimes(exam)];
    return report(exam, { findings, warnings: slow(exam) });
  }
  const told = await explainRefusal(exam);
  if (told) return report(exam, { findings: [told] });
  const { finding, expects, tried } = await expectation(exam);
  return report(exam, { findings: [finding ?? (await lastGuess(exam, tried))], expects, tried });
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
    evidence: 'A forged delivery was refused at once; to a valid one there was no response in time.',
  });
}

function lateSometimes(exam: Examination): Finding[] {
  const names = [...bodies, 'duplicate'] as const;
  return names.some((name) => exam.late(name)) ? [late(exam)] : [];
}

function replay(exam: Examination): Finding[] {
  return exam.accepted('stale') ? [exam.finding('no_tolerance')] : [];
}

function slow(exam: Examination): Finding[] {
  const slowest = Math.max(
    ...exam.results.map(({ durationMs, status }) => (status === undefined ? 0 : durationMs)),
  );
  if (slowest <= slowMs) return [];
  return [exam.finding('slow', { slow: `took ${(slowest / 1000).toFixed(1)} s to respond` })];
}

function report(
  exam: Examination,
  {
    findings,
    warnings = [],
    expects,
    tried = 0,
  }: { findings: Finding[] } & Partial<Pick<Diagnosis, 'warnings' | 'expects' | 'tried'>>,
): Diagnosis {
  const [first, ...others] = findings;
  return {
    ok: !first,
    target: exam.target,
    summary: first
      ? `${first.problem} ${first.fix}${others.length > 0 ? ` (And ${others.length} more, below.)` : ''}`
      : 'All well: your handler accepts valid deliveries and refuses forged, changed, unsigned and old ones.',
    findings,
    warnings,
    notes: notes(exam),
    probes: exam.results,
    tried,
    expects,
  };
}

/** What only the merchant can see. */
function notes({ order, results }: Examination): string[] {
  const price = `${order.amount} ${order.currency}`;
  const look =
    order.amount === unusualAmount
      ? 'No shop asks for that amount, so a shop that matches payments by amount marks no waiting order as paid.'
      : 'If your shop matches payments by amount, look whether it marked a waiting order of that amount as paid.';
  if (results.every(({ status }) => status === undefined)) return [];
  const taken = results.filter(({ outcome }) => outcome === 'accepted').length;
  return [
    `Every delivery was about the order ${order.id} of ${price}. ${look}`,
    ...(taken > 1
      ? [`It was accepted ${taken} times. Look in your shop: it must be fulfilled once, or not at all.`]
      : []),
  ];
}
