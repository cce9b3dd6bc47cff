import { factsOf } from './answers.js';
import type { Finding, ProbeName } from './diagnosis.js';
import { type Examination, isAccepted } from './examination.js';
import { rawBodyFix } from './frameworks.js';
import { signed, withNote } from './probes.js';

/** What is wrong with a receiver that takes some right deliveries and refuses others. */
export async function selectiveness(exam: Examination): Promise<Finding[]> {
  const findings: Finding[] = [];
  const duplicate = await exam.probe('duplicate');
  if (exam.accepted('compact') && duplicate.result.outcome !== 'accepted') {
    findings.push({
      code: 'refuses_duplicates',
      problem:
        'Your handler refuses an order that it has seen, so the sender tries again for as long as it can.',
      fix: 'Answer 200 to a duplicate and do nothing: INSERT … ON CONFLICT DO NOTHING, fulfil only where a row was inserted.',
      evidence: `The same order again was answered ${duplicate.result.status ?? 'nothing'}.`,
    });
    // The others were duplicates too: ask again about orders that it has not seen.
    for (const name of ['spaced', 'newline', 'non_ascii'] as const) await exam.repeat(name);
  }
  const refused = (name: ProbeName) => !exam.accepted(name);
  if (exam.accepted('compact') !== exam.accepted('spaced')) {
    const [passed, failed] = exam.accepted('compact')
      ? (['compact', 'spaced'] as const)
      : (['spaced', 'compact'] as const);
    findings.push({
      code: 're_encodes',
      problem: 'Your handler writes the body anew before it verifies it.',
      fix: rawBodyFix(exam.framework),
      evidence:
        `The same event was accepted as "${exam.says(passed)}" and refused as "${exam.says(failed)}". ${factsOf(await exam.probe(failed))}`.trim(),
    });
    return findings;
  }
  if (refused('newline'))
    findings.push({
      code: 'trims',
      problem: 'Your handler trims the body before it verifies it.',
      fix: `Leave every byte: no .trim(). ${rawBodyFix(exam.framework)}`,
      evidence:
        `Only the body that ends in a line feed was refused. ${factsOf(await exam.probe('newline'))}`.trim(),
    });
  if (refused('non_ascii')) findings.push(await nonAscii(exam));
  return findings;
}

async function nonAscii(exam: Examination): Promise<Finding> {
  const plain = await exam.send(signed(withNote(exam.order, 'plain'), exam.patient.signer));
  if (!isAccepted(plain))
    return {
      code: 'refuses_new_fields',
      problem:
        'Your handler refuses an event with a field that it does not know, so a new field would lose orders.',
      fix: 'Take unknown fields and leave them: no strict() schema, no additionalProperties: false.',
      evidence: 'The event was accepted without an extra field and refused with one.',
    };
  return {
    code: 'wrong_charset',
    problem: 'Your handler decodes the body in another charset than UTF-8 before it verifies it.',
    fix: `Verify bytes, or decode as UTF-8: never latin1, binary or ascii. ${rawBodyFix(exam.framework)}`,
    evidence:
      `Only the body with letters beyond ASCII was refused. ${factsOf(await exam.probe('non_ascii'))}`.trim(),
  };
}
