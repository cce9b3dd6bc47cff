import type { ProbeName } from './diagnosis.js';
import { type Examination, wasAccepted } from './examination.js';
import type { Finding } from './findings.js';
import { probes, withNote } from './probes.js';
import { signDelivery } from './signed.js';
import { comparison } from './symptoms.js';

/** What is wrong with a receiver that accepts some valid deliveries and rejects others. */
export async function refusedBodies(exam: Examination): Promise<Finding[]> {
  const findings: Finding[] = [];
  if (exam.refused('compact') && exam.accepted('duplicate')) {
    const evidence = 'It rejected the first valid delivery, and accepted the same bytes later.';
    return [exam.finding('handler_failed', { fails: 'fails intermittently', evidence })];
  }
  if (exam.accepted('compact') && exam.refused('duplicate')) {
    const { status } = (await exam.probe('duplicate')).result;
    findings.push(
      exam.finding('refuses_duplicates', {
        evidence: `The same order again got ${status ?? 'no response'}.`,
      }),
    );
    // The others were duplicates too: ask again about orders that it has not seen.
    for (const name of ['spaced', 'newline', 'non_ascii'] as const) await exam.repeat(name);
  }
  if (exam.refused('spaced') || exam.refused('compact')) {
    const [taken, refused] = exam.refused('spaced')
      ? (['compact', 'spaced'] as const)
      : (['spaced', 'compact'] as const);
    const told = `The same event was accepted as "${probes[taken].says}" and rejected as "${probes[refused].says}".`;
    return [...findings, exam.finding('re_encodes', { evidence: await showing(exam, refused, told) })];
  }
  if (exam.refused('newline')) {
    const told = 'Only the body with a trailing newline was rejected.';
    findings.push(exam.finding('trims', { evidence: await showing(exam, 'newline', told) }));
  }
  if (exam.refused('non_ascii')) findings.push(await nonAscii(exam));
  return findings;
}

async function nonAscii(exam: Examination): Promise<Finding> {
  const plain = await exam.send(signDelivery(withNote(exam.order, 'plain'), exam.patient.signer));
  if (!wasAccepted(plain))
    return exam.finding('refuses_new_fields', {
      evidence: 'The event was accepted without an extra field and rejected with one.',
    });
  const told = 'Only the body with non-ASCII letters was rejected.';
  return exam.finding('wrong_charset', { evidence: await showing(exam, 'non_ascii', told) });
}

/** What the probes showed, and what the handler says it verified. */
async function showing(exam: Examination, name: ProbeName, told: string) {
  const { sent, body } = await exam.probe(name);
  return `${told} ${comparison(sent.body ?? '', body)}`.trim();
}
