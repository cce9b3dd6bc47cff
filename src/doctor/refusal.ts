import type { Sent } from './delivery.js';
import type { Examination } from './examination.js';
import type { Finding } from './findings.js';
import { comparison, receivedBy, toldBy } from './symptoms.js';

/** Why a receiver rejects every valid delivery, if its response says so. */
export async function explainRefusal(exam: Examination): Promise<Finding | undefined> {
  const { sent, body, result } = await exam.probe('compact');
  const forged = await exam.probe('forged');
  const told = toldBy(sent, body, exam.framework);
  if (told)
    return {
      ...told,
      evidence: `Every valid delivery got ${result.status ?? 'no response'}. ${told.evidence ?? ''}`.trim(),
    };
  if (!differ(sent, forged.sent)) return undefined;
  return exam.finding('handler_failed', {
    fails: 'verifies the signature, and then fails',
    likely: 'Respond 200 to an unknown order and investigate it yourself: a retry will not help.',
    evidence: `A valid delivery got ${result.status ?? 'no response'}, a forged one ${forged.result.status ?? 'none'}.`,
  });
}

/** Why it rejects every valid delivery, if neither its response nor any scheme shows it. */
export async function lastGuess(exam: Examination, tried: number): Promise<Finding> {
  const { sent, body, result } = await exam.probe('compact');
  const evidence = `Every valid delivery got ${result.status ?? 'no response'}, and so did a forged one and ${tried} other ways to sign.`;
  const raw = exam.finding('parsed_object').fix;
  if ((sent.status ?? 0) >= 500)
    return exam.finding('handler_failed', {
      fails: 'fails on every delivery',
      likely: `Usually it verifies a parsed body, or has no secret. ${raw}`,
      evidence,
    });
  if ((sent.status === 401 || sent.status === 403) && (await exam.respondsElsewhere(sent)))
    return exam.finding('access_check', {
      evidence: `It responded ${sent.status} on a path beside your handler's, too.`,
    });
  return exam.finding('secret_or_scheme', {
    bytes: receivedBy(sent.body ?? '') ? 'the right bytes ' : '',
    evidence: `${evidence} ${comparison(sent.body ?? '', body)}`.trim(),
  });
}

/** Whether two responses differ in more than numbers and ids. */
function differ(one: Sent, other: Sent): boolean {
  const text = ({ body = '' }: Sent) => body.replaceAll(/[0-9a-f]{6,}|\d+/gi, '#');
  return one.status !== other.status || text(one) !== text(other);
}
