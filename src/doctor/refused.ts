import { newSecret } from '../sending/delivery.js';
import { type Examination, succeeded } from './examination.js';
import type { Finding, FindingCode } from './findings.js';
import { bodies, type ProbeName, paid, probes, withNote } from './probes.js';
import { signDelivery } from './signed.js';
import { comparison } from './symptoms.js';

/** Pauses that spread deliveries over a second: a receiver may take one in each, or only what comes at its beginning. */
const pausesMs = [0, 150, 150, 150, 150, 150, 150, 200];
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Whether a receiver that accepted a valid delivery rejects all that come after the forged ones, or some. */
export async function blocked(exam: Examination): Promise<Finding | undefined> {
  const last = bodies.findLast(exam.accepted);
  if (!last || ![...bodies, 'duplicate' as const].some(exam.refused)) return undefined;
  const forged = exam.results.filter(({ expected }) => expected === 'refused').length;
  const responses: string[] = [];
  const evidence = () => `${exam.evidence(last)} ${responses[0]} ${responses.at(-1)}`;
  for (const ms of pausesMs) {
    await pause(ms);
    const like = await exam.sendLike(last);
    if (!like || exam.over) return undefined;
    responses.push(exam.told(`the like, after ${forged} forged deliveries`, like.sent));
    if (succeeded(like.sent))
      return responses.length === 1 ? undefined : exam.finding('inconsistent', { evidence: evidence() });
  }
  return exam.finding('blocks_sender', { evidence: evidence() });
}

/** Whether a receiver accepts a valid delivery that it refused before. */
export async function changesItsMind(
  exam: Examination,
  names: ProbeName[],
  tries = pausesMs.length,
): Promise<Finding | undefined> {
  const refused = names.filter(exam.refused);
  const before = new Map(refused.map((name) => [name, exam.evidence(name)]));
  for (const ms of refused.length > 0 ? pausesMs.slice(0, tries) : []) {
    await pause(ms);
    for (const name of refused) {
      await exam.probe(name, true);
      const evidence = `${before.get(name)} Once more: ${exam.evidence(name)}`;
      if (exam.accepted(name)) return exam.finding('inconsistent', { evidence });
    }
  }
  return undefined;
}

/** What is wrong with a receiver that accepts some valid deliveries and rejects others. */
export async function refusedBodies(exam: Examination): Promise<Finding[]> {
  const inconsistent = await changesItsMind(exam, [...bodies, 'duplicate']);
  if (inconsistent) return [inconsistent];
  const findings: Finding[] = [];
  const found = (code: FindingCode, name: ProbeName, ...others: ProbeName[]) => {
    const compared = comparison(exam.sent(name).body ?? '', exam.body(name));
    findings.push(exam.finding(code, { evidence: `${exam.evidence(name, ...others)} ${compared}`.trim() }));
  };
  /** A finding on how the signature is verified, unless it was not the signature that was refused. */
  const misread = async (code: FindingCode, name: ProbeName, ...others: ProbeName[]) => {
    const failed = await failedBeside(exam, name);
    if (failed) findings.push(failed);
    else found(code, name, ...others);
  };
  if (exam.refused('spaced')) await misread('re_encodes', 'spaced', 'compact');
  else if (exam.refused('compact')) await misread('re_encodes', 'compact', 'spaced');
  else {
    if (exam.refused('newline')) await misread('trims', 'newline', 'spaced');
    if (exam.refused('non_ascii')) {
      const plain = await exam.send(
        signDelivery(withNote(paid(exam.newOrder()), 'plain'), exam.patient.signer),
      );
      if (succeeded(plain)) await misread('wrong_charset', 'non_ascii');
      else found('refuses_new_fields', 'non_ascii');
    }
  }
  if (exam.accepted('compact') && exam.refused('duplicate')) found('refuses_duplicates', 'duplicate');
  return exam.stopped ? [] : findings;
}

/**
 * A receiver that refuses a signature does it in the words that a different secret gets. Other words for a valid
 * delivery come after it was verified; if a forgery with that body gets them too, before.
 */
async function failedBeside(exam: Examination, name: ProbeName): Promise<Finding | undefined> {
  const forged = await exam.sendLike(name, newSecret(exam.patient.signer.scheme));
  if (!forged || exam.over || forged.isLike(name) === forged.isLike('forged')) return undefined;
  const [says] = probes[name];
  const fails = forged.isLike('forged')
    ? `verifies "${says}", and then rejects it`
    : `rejects "${says}", whoever signed it`;
  return exam.finding('handler_failed', {
    fails,
    likely:
      'It must take any JSON, as must what is in front of it: with uneven spaces, a newline at its end, letters of any script.',
    evidence: `${exam.evidence(name)} ${exam.told('the same, signed with a different secret', forged.sent)}`,
  });
}
