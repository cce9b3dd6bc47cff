import { carelessness } from './carelessness.js';
import type { Diagnosis, Finding } from './diagnosis.js';
import { Examination, type Patient } from './examination.js';
import { unreachable } from './reachability.js';
import { lastGuess, refusal } from './refusal.js';
import { expectation } from './second-step.js';
import { selectiveness } from './selectiveness.js';

const right = ['compact', 'spaced', 'newline', 'non_ascii'] as const;
const slowMs = 5_000;

/** Examines a webhook receiver from outside: sends the probes and names the fault that their answers show. */
export async function diagnose(patient: Patient): Promise<Diagnosis> {
  const exam = new Examination(patient);
  const blocked = await obstacle(exam);
  if (blocked) return report(exam, { findings: [blocked] });

  for (const name of ['forged', 'tampered', ...right, 'stale', 'duplicate'] as const) await exam.probe(name);
  const careless = await carelessness(exam);
  if (careless) return report(exam, { findings: [careless] });
  if (right.some((name) => exam.accepted(name)))
    return report(exam, { findings: await selectiveness(exam), warnings: warnings(exam) });

  const told = await refusal(exam);
  if (told) return report(exam, { findings: [told] });
  const { finding, expects, tried } = await expectation(exam);
  return report(exam, { findings: [finding ?? (await lastGuess(exam, tried))], expects, tried });
}

/** What keeps deliveries from the handler: the same for a delivery without a signature and for a right one. */
async function obstacle(exam: Examination): Promise<Finding | undefined> {
  const first = unreachable((await exam.probe('unsigned')).sent, exam.target, exam.framework);
  if (!first) return undefined;
  const second = unreachable((await exam.probe('compact')).sent, exam.target, exam.framework);
  return second?.code === first.code ? second : undefined;
}

function warnings(exam: Examination): Finding[] {
  const found: Finding[] = [];
  if (exam.accepted('stale'))
    found.push({
      code: 'no_tolerance',
      problem: 'Your handler accepts a delivery that was signed a day ago, so an old one can be sent again.',
      fix: 'Refuse timestamps more than 300 s from now, as webhooks.verify() does by default, and fulfil once per order_id.',
      evidence: 'The specification sets no tolerance.',
    });
  const slowest = Math.max(...exam.results.map(({ durationMs }) => durationMs));
  if (slowest > slowMs)
    found.push({
      code: 'slow',
      problem: `Your handler took ${(slowest / 1000).toFixed(1)} s to answer.`,
      fix: 'Answer first, work later: note the event, answer 200, fulfil in the background.',
    });
  return found;
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
  const { results } = exam;
  const taken = results.filter(({ outcome }) => outcome === 'accepted').length;
  return {
    ok: !first,
    target: exam.target,
    summary: first
      ? `${first.problem} ${first.fix}${others.length > 0 ? ` (And ${others.length} more, below.)` : ''}`
      : 'All well: your handler accepts right deliveries and refuses forged, changed and unsigned ones.',
    findings,
    warnings,
    notes:
      taken > 1
        ? [
            `The order ${exam.order} was delivered ${taken} times. Look in your shop: it must be fulfilled once, or not at all.`,
          ]
        : [],
    probes: results,
    tried,
    expects,
  };
}
