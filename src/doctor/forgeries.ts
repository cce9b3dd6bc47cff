import { type Examination, wasAccepted } from './examination.js';
import type { Finding } from './findings.js';
import { probes } from './probes.js';
import { outgoing } from './signed.js';

/** What is wrong with a receiver that accepts a forged delivery. */
export async function acceptedForgery(exam: Examination): Promise<Finding | undefined> {
  const taken = (['unsigned', 'forged', 'tampered'] as const).filter((name) => exam.accepted(name));
  if (taken.length === 0) return undefined;
  const evidence = `It accepted: ${taken.map((name) => probes[name].says).join('; ')}.`;
  if (taken.length === 3) return everythingAccepted(exam, evidence);
  if (taken.includes('forged')) return exam.finding('accepts_forged', { evidence });
  return exam.finding(taken.includes('unsigned') ? 'accepts_unsigned' : 'ignores_body', { evidence });
}

async function everythingAccepted(exam: Examination, evidence: string): Promise<Finding> {
  const { sent } = await exam.probe('forged');
  if (/text\/html/.test(sent.headers?.['content-type'] ?? ''))
    return exam.finding('login_page', { evidence });
  const garbage = await exam.send(outgoing('neither signed nor JSON {', {}));
  if (!wasAccepted(garbage)) return exam.finding('accepts_forged', { evidence });
  const everywhere = await exam.respondsElsewhere(sent);
  return exam.finding(everywhere ? 'answers_everything' : 'answers_before_verifying', { evidence });
}
