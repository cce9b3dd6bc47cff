import { newSecret, type Sent } from '../sending/delivery.js';
import { type Examination, is2xx } from './examination.js';
import { findExpectation } from './expectation.js';
import type { Finding, FindingCode } from './findings.js';
import {
  aboutSignature,
  aboutTime,
  aboutVerification,
  accessCheck,
  loginForm,
  loginScheme,
  missingHeader,
  notOnlyAge,
  orInvalid,
  tooOld,
  uncaughtError,
  unknownOrder,
} from './phrases.js';
import { bodies, type ProbeName, probes, withNote } from './probes.js';
import { paidEvent, signDelivery } from './signed.js';
import { compareBodies, findStatedFault, reportedBody } from './stated-fault.js';

/** Returns a finding if a receiver accepted valid deliveries at first, and rejects later ones. */
export async function findLaterRefusal(exam: Examination): Promise<Finding | undefined> {
  const last = bodies.findLast(exam.isAccepted);
  if (!last || ![...bodies, 'duplicate' as const].some(exam.isRefused)) return undefined;
  const like = await exam.sendLike(last);
  if (!like || exam.over || is2xx(like.sent)) return undefined;
  return exam.finding('handler_failed', {
    fails: 'accepted the first deliveries, and rejects later ones that are just as valid',
    likely:
      'Something may block the sender after forged deliveries, or it may have no open order of that amount left: respond 200 to an unknown order and investigate it yourself. Then run the doctor again, for what it could not test.',
    evidence: `${exam.evidence(last)} ${exam.describe('the like, later', like.sent)}`,
  });
}

/** Returns the faults of a receiver that accepts some valid deliveries and rejects others. */
export async function findRefusedBodies(exam: Examination): Promise<Finding[]> {
  const findings: Finding[] = [];
  const addFinding = (code: FindingCode, name: ProbeName, ...others: ProbeName[]) => {
    const compared = compareBodies(exam.sent(name).body ?? '', exam.body(name));
    const evidence = `${exam.evidence(name, ...others)} ${compared}`.trim();
    findings.push(exam.finding(code, { evidence, fails: 'fails, and responds with success all the same' }));
  };
  /** Adds a finding about the verified bytes, or `handler_failed` if something other than the signature was refused. */
  const addBodyFinding = async (code: FindingCode, name: ProbeName, ...others: ProbeName[]) => {
    const failed = await findOtherFailure(exam, name);
    if (failed) findings.push(failed);
    else addFinding(code, name, ...others);
  };
  if (exam.isRefused('spaced')) await addBodyFinding('re_encodes', 'spaced', 'compact');
  else if (exam.isRefused('compact')) await addBodyFinding('re_encodes', 'compact', 'spaced');
  else {
    if (exam.isRefused('newline')) await addBodyFinding('trims', 'newline', 'spaced');
    if (exam.isRefused('non_ascii')) {
      const plain = withNote(paidEvent(exam.newOrder()), 'plain');
      if (is2xx(await exam.send(signDelivery(plain, exam.receiver.signer))))
        await addBodyFinding('wrong_charset', 'non_ascii');
      else addFinding('refuses_new_fields', 'non_ascii');
    }
  }
  if (exam.isAccepted('compact') && exam.isRefused('duplicate') && !exam.is2xx('duplicate'))
    addFinding('refuses_duplicates', 'duplicate');
  const { body = '' } = exam.sent('compact');
  if (exam.is2xx('compact') && uncaughtError.test(body)) addFinding('handler_failed', 'compact');
  return findings;
}

/**
 * Returns `handler_failed` if something other than the signature was refused. The words show it: they differ from those that the
 * same delivery gets when it is signed with another secret.
 */
async function findOtherFailure(exam: Examination, name: ProbeName): Promise<Finding | undefined> {
  const forged = await exam.sendLike(name, newSecret(exam.receiver.signer.scheme));
  if (!forged || exam.over || forged.isLike(name) === forged.isLike('forged')) return undefined;
  const [says] = probes[name];
  return exam.finding('handler_failed', {
    fails: forged.isLike('forged')
      ? `verifies "${says}", and then rejects it`
      : `rejects "${says}", whoever signed it`,
    likely:
      'It must take any JSON, as must what is in front of it: with uneven spaces, a newline at its end, letters of any script.',
    evidence: `${exam.evidence(name)} ${exam.describe('the same, signed with a different secret', forged.sent)}`,
  });
}

/** Finds the reason why a receiver rejects every valid delivery: first in its response, then by other ways to sign. */
export async function explainRefusal(exam: Examination) {
  const sent = exam.sent('compact');
  const words = exam.response('compact');
  const evidence = exam.evidence('compact', 'forged');
  const stated = findStatedFault(sent, exam.body('compact'), exam.framework, words);
  const said = stated && {
    ...stated,
    evidence: `${exam.evidence('compact')} ${stated.evidence ?? ''}`.trim(),
  };
  if (said && said.code !== 'wrong_clock') {
    // Words that only a valid delivery gets are about a step after verification.
    const toForged = findStatedFault(exam.sent('forged'), exam.body('forged'), exam.framework);
    const isBefore = exam.hasSameResponse('compact', 'forged') || toForged?.code === said.code;
    return { finding: isBefore ? said : failureAfterVerifying(exam, evidence) };
  }
  const verified = !exam.hasSameResponse('compact', 'forged') && failureAfterVerifying(exam, evidence);
  // A receiver that verifies before it checks the time complains about the time only to a valid signature.
  if (verified && !aboutTime.test(sent.body ?? '')) return { finding: verified };
  const { finding, ...more } = await findExpectation(exam);
  const timed = !exam.stopped && saysTooOld(sent, verified) && exam.finding('wrong_clock', { evidence });
  const known = finding ?? said ?? (timed || verified);
  return { finding: known || (await guessFromWords(exam, words, evidence, more.tried)), ...more };
}

/** True if a refusal is about the age of the delivery and cannot be about its signature. */
const saysTooOld = ({ body = '' }: Sent, verified: unknown): boolean =>
  tooOld.test(body) && (Boolean(verified) || !notOnlyAge.test(body));

function failureAfterVerifying(exam: Examination, evidence: string): Finding {
  const { status = 500 } = exam.sent('compact');
  const verifies = 'verifies the signature, and then';
  if (status >= 500) return exam.finding('handler_failed', { fails: `${verifies} fails`, evidence });
  const likely =
    status < 400
      ? 'Respond 200 itself: redirects are not followed.'
      : 'Respond 200 to an unknown order and investigate it yourself: a retry will not help.';
  return exam.finding('handler_failed', { fails: `${verifies} rejects the event`, likely, evidence });
}

/** Returns the likeliest reason if neither the response nor another way to sign shows the fault. */
async function guessFromWords(
  exam: Examination,
  words: string,
  found: string,
  tried: number,
): Promise<Finding> {
  if (exam.stopped) return exam.stopped;
  const sent = exam.sent('compact');
  const { status = 500, headers = {}, body = '' } = sent;
  const evidence = tried > 0 ? `${found} None of ${tried} other ways to sign was accepted.` : found;
  const asksToLogIn = loginScheme.test(headers['www-authenticate'] ?? '') || loginForm.test(body);
  if (asksToLogIn && !aboutSignature.test(body)) return exam.finding('access_check', { evidence: found });
  if (missingHeader.test(body) && !orInvalid.test(body))
    return exam.finding('header_lost', { words, evidence });
  if (status >= 500 && !aboutSignature.test(body))
    return exam.finding('handler_failed', {
      fails: 'fails on every delivery',
      likely: `Its secret may not be the one that signs these deliveries, or it has none, verifies a parsed body, or returns no response. ${exam.finding('parsed_object').fix}`,
      evidence,
    });
  if (status !== 401 && speaksOfOrder(sent) && exam.hasSameResponse('compact', 'forged'))
    return exam.finding('handler_failed', {
      fails:
        'gives valid and forged deliveries the same words: it has another secret, or looks the order up before it verifies, or never verifies',
      likely:
        'Verify first, respond 200 to an unknown order, and investigate it yourself. Then run the doctor again.',
      evidence: found,
    });
  // A response that names the signature comes from the handler, even if the handler responds on every path.
  const isOther = (status === 401 || status === 403) && !aboutSignature.test(body);
  const isLikeUnsigned =
    exam.hasSameResponse('unsigned', 'compact') && exam.hasSameResponse('forged', 'compact');
  const elsewhere = isOther && isLikeUnsigned && (await exam.respondsElsewhere(sent));
  const beside = elsewhere ? ` A path beside your handler's got ${status}, too.` : '';
  if (elsewhere && accessCheck.test(body))
    return exam.finding('access_check', { evidence: `${found}${beside}` });
  const never = isLikeUnsigned && !isOther ? ' Unsigned ones got the same, so it may never verify.' : '';
  return exam.finding('secret_or_scheme', {
    rejects: reportedBody(body)
      ? undefined
      : `rejects every valid delivery, ${elsewhere ? 'on any path: a login or access check rejects it first, or' : 'and nothing that was tried explains it:'}`,
    again: ' and run the doctor again: it can judge nothing else until a delivery is accepted',
    evidence: `${evidence}${never}${beside} ${compareBodies(body, exam.body('compact'))}`.trim(),
  });
}

/** True if a handler says that there is no such order. A catch-all page or a refused signature may use these words too, so both are excluded. */
export const speaksOfOrder = ({ body = '' }: Sent): boolean =>
  unknownOrder.test(body) && !aboutVerification.test(body) && !/<\w/.test(body);
