import { type Examination, succeeded } from './examination.js';
import type { Finding } from './findings.js';
import { bodies, type ProbeName, withNote } from './probes.js';
import { signDelivery } from './signed.js';
import { comparison } from './symptoms.js';

/** What is wrong with a receiver that accepts some valid deliveries and rejects others. */
export async function refusedBodies(exam: Examination): Promise<Finding[]> {
  for (const name of [...bodies, 'duplicate' as const])
    if (exam.refused(name)) {
      const before = exam.evidence(name);
      for (let time = 0; time < 2 && exam.refused(name); time++) await exam.probe(name, true);
      if (exam.accepted(name))
        return [exam.finding('inconsistent', { evidence: `${before} Once more: ${exam.evidence(name)}` })];
    }
  const findings: Finding[] = [];
  const showing = (name: ProbeName, ...others: ProbeName[]) => ({
    evidence:
      `${exam.evidence(name, ...others)} ${comparison(exam.sent(name).body ?? '', exam.body(name))}`.trim(),
  });
  if (exam.accepted('compact') && exam.refused('duplicate'))
    findings.push(exam.finding('refuses_duplicates', showing('duplicate')));
  if (exam.refused('spaced')) findings.push(exam.finding('re_encodes', showing('spaced', 'compact')));
  else if (exam.refused('compact')) findings.push(exam.finding('re_encodes', showing('compact', 'spaced')));
  else {
    if (exam.refused('newline')) findings.push(exam.finding('trims', showing('newline', 'spaced')));
    if (exam.refused('non_ascii')) {
      const plain = await exam.send(signDelivery(withNote(exam.newOrder(), 'plain'), exam.patient.signer));
      findings.push(
        exam.finding(succeeded(plain) ? 'wrong_charset' : 'refuses_new_fields', showing('non_ascii')),
      );
    }
  }
  return findings;
}
