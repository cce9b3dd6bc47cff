import type { Examination } from './examination.js';
import { type Expected, expectation } from './expectation.js';
import type { Finding } from './findings.js';
import { comparison, missesHeader, otherSecret, receivedBy, toldBy } from './symptoms.js';

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
  return {
    finding: finding ?? said ?? (verified || (await lastGuess(exam, words, evidence, more.tried))),
    ...more,
  };
}

function verifiedThen(exam: Examination, evidence: string): Finding {
  const { status = 500 } = exam.sent('compact');
  const isRedirect = status >= 300 && status < 400;
  return exam.finding('handler_failed', {
    fails: `verifies the signature, and then ${status < 500 ? 'rejects the event' : 'fails'}`,
    likely: isRedirect
      ? 'Respond 200 itself: redirects are not followed.'
      : 'Respond 200 to an unknown order and investigate it yourself: a retry will not help.',
    evidence,
  });
}

/** If neither its response nor anything that was tried shows it. */
async function lastGuess(exam: Examination, words: string, found: string, tried: number): Promise<Finding> {
  if (exam.stopped) return exam.stopped;
  const sent = exam.sent('compact');
  const evidence = `${found} So did ${tried} other ways to sign.`;
  if (missesHeader(sent)) return exam.finding('header_lost', { words, evidence });
  if ((sent.status ?? 500) >= 500)
    return exam.finding('handler_failed', {
      fails: 'fails on every delivery',
      likely: `It may have no secret, verify a parsed body, or return no response. ${exam.finding('parsed_object').fix}`,
      evidence,
    });
  // Whoever names the signature is the handler, even where every path is its own.
  const isOther = (sent.status === 401 || sent.status === 403) && !/signature/i.test(sent.body ?? '');
  if (isOther && (await exam.respondsElsewhere(sent)))
    return exam.finding('access_check', {
      evidence: `${found} A path beside your handler's got ${sent.status}, too.`,
    });
  return exam.finding('secret_or_scheme', {
    verdict: receivedBy(sent.body ?? '')
      ? otherSecret
      : `responds ${words} to every valid delivery, and nothing that was tried explains it`,
    evidence: `${evidence} ${comparison(sent.body ?? '', exam.body('compact'))}`.trim(),
  });
}
