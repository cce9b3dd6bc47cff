import type { Sent } from '../sending/delivery.js';
import type { Examination } from './examination.js';
import { type Expected, expectation, unknownClock } from './expectation.js';
import type { Finding } from './findings.js';
import { changesItsMind } from './refused.js';
import {
  asksForLogin,
  comparison,
  missesHeader,
  namesAccessCheck,
  otherSecret,
  receivedBy,
  toldBy,
} from './symptoms.js';

/** Why a receiver rejects every valid delivery: what it says, then what it would accept. */
export async function explainRefusal(exam: Examination): Promise<Expected & { finding: Finding }> {
  const sent = exam.sent('compact');
  const words = exam.response('compact');
  const evidence = exam.evidence('compact', 'forged');
  const told = toldBy(sent, exam.body('compact'), exam.framework, { words });
  const said = told && { ...told, evidence: `${exam.evidence('compact')} ${told.evidence ?? ''}`.trim() };
  const untried = { expects: undefined, tried: 0 };
  if (said && said.code !== 'wrong_clock') return { finding: said, ...untried };
  const verified = !exam.alike('compact', 'forged') && verifiedThen(exam, evidence);
  // A receiver that verifies before it looks at the time says so only then.
  const time = /time|clock|date|old|expire|stale|toleran|future|fresh|recent|replay/i;
  if (verified && !time.test(sent.body ?? '')) return { finding: verified, ...untried };
  const { finding, ...more } = await expectation(exam);
  const timed =
    !exam.stopped && saysTooOld(sent, verified) && exam.finding('wrong_clock', { ...unknownClock, evidence });
  const known = finding ?? said ?? (timed || verified || (await changesItsMind(exam, ['compact'])));
  return { finding: known ?? (await lastGuess(exam, words, evidence, more.tried)), ...more };
}

/** Whether a refusal is about the age of the delivery, and may not be about its signature. */
const saysTooOld = ({ body = '' }: Sent, verified: unknown): boolean =>
  /too (?:old|new|late|early)|stale|expired|toleran|clock|skew|in the (?:past|future)|replay/i.test(body) &&
  (Boolean(verified) || !/signature|hmac|token|session|page/i.test(body));

function verifiedThen(exam: Examination, evidence: string): Finding {
  const { status = 500 } = exam.sent('compact');
  const fails = `verifies the signature, and then ${status < 500 ? 'rejects the event' : 'fails'}`;
  const likely =
    status < 400
      ? 'Respond 200 itself: redirects are not followed.'
      : 'Respond 200 to an unknown order and investigate it yourself: a retry will not help.';
  return exam.finding('handler_failed', { fails, likely: status < 500 ? likely : '', evidence });
}

/** If neither its response nor anything that was tried shows it. */
async function lastGuess(exam: Examination, words: string, found: string, tried: number): Promise<Finding> {
  if (exam.stopped) return exam.stopped;
  const sent = exam.sent('compact');
  const evidence = tried > 0 ? `${found} None of ${tried} other ways to sign was accepted.` : found;
  if (asksForLogin(sent)) return exam.finding('access_check', { evidence: found });
  if (missesHeader(sent)) return exam.finding('header_lost', { words, evidence });
  if ((sent.status ?? 500) >= 500)
    return exam.finding('handler_failed', {
      fails: 'fails on every delivery',
      likely: `It may have no secret, verify a parsed body, or return no response. ${exam.finding('parsed_object').fix}`,
      evidence,
    });
  // Whoever names the signature is the handler, even where every path is its own.
  const isOther = (sent.status === 401 || sent.status === 403) && !/signature/i.test(sent.body ?? '');
  const elsewhere = isOther && exam.alike('unsigned', 'compact') && (await exam.respondsElsewhere(sent));
  const beside = elsewhere ? ` A path beside your handler's got ${sent.status}, too.` : '';
  if (elsewhere && namesAccessCheck(sent))
    return exam.finding('access_check', { evidence: `${found}${beside}` });
  const cause = elsewhere
    ? 'on any path: a login or access check rejects it first, or its secret or scheme is a different one'
    : 'and nothing that was tried explains it';
  return exam.finding('secret_or_scheme', {
    verdict: receivedBy(sent.body ?? '')
      ? otherSecret
      : `rejects every valid delivery, the first with ${words}, ${cause}`,
    evidence: `${evidence}${beside} ${comparison(sent.body ?? '', exam.body('compact'))}`.trim(),
  });
}
