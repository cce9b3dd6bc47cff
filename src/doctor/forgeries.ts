import { type Examination, succeeded } from './examination.js';
import type { Finding, FindingCode } from './findings.js';
import { type ForgeryName, forgeryNames } from './probes.js';
import { outgoing } from './signed.js';

const digits: readonly ForgeryName[] = ['first_digit', 'middle_digit', 'last_digit'];
const parts: readonly ForgeryName[] = ['one_character', 'first_half', 'second_half', 'truncated', ...digits];

/** What a receiver shows that accepts a forgery, the most serious first. */
const meanings: readonly [code: FindingCode, names: readonly ForgeryName[]][] = [
  ['weak_comparison', parts],
  ['accepts_unsigned', ['unsigned', 'empty']],
  ['loose_signature', ['extended', 'preceded']],
  ['empty_secret', ['empty_secret']],
  ['ignores_body', ['tampered', 'empty_body']],
  ['re_encodes', ['reencoded']],
  ['ignores_timestamp', ['redated']],
  ['trusts_known_orders', ['known_order']],
  ['no_tolerance', ['stale', 'future']],
];

/** What is wrong with a receiver that accepts forgeries, or responds to them with success. */
export async function acceptedForgeries(exam: Examination): Promise<Finding[]> {
  const taken = forgeryNames.filter((name) => exam.accepted(name));
  // One that compares a part of the signature accepts some by chance.
  if (exam.accepted('forged') && !digits.some(exam.refused)) return [await everythingAccepted(exam)];
  const findings: Finding[] = [];
  for (const [code, names] of meanings) {
    const own = taken.filter((name) => names.includes(name));
    if (own.length === 0 || findings.some(isDanger)) continue;
    const when = [own.includes('stale') && 'a day ago', own.includes('future') && 'a day ahead'];
    const facts = { when: when.filter(Boolean).join(' and '), evidence: exam.evidence(...own, 'compact') };
    findings.push(exam.finding(code, facts));
  }
  const other = forgeryNames.filter(
    (name) =>
      exam.succeeded(name) && !taken.includes(name) && !(name === 'known_order' && isCalledDuplicate(exam)),
  );
  const [first] = other;
  if (first === undefined || findings.some(isDanger)) return findings;
  const facts = { forged: exam.response(first), evidence: exam.evidence(...other.slice(0, 3), 'compact') };
  return [...findings, exam.finding('refuses_with_success', facts)];
}

/** Whether a forgery about a known order got the words of a duplicate, which a new order does not get. */
export const isCalledDuplicate = (exam: Examination): boolean =>
  exam.succeeded('known_order') &&
  exam.alike('known_order', 'duplicate') &&
  !exam.alike('known_order', 'compact');

const isDanger = ({ problem }: Finding): boolean => problem.startsWith('DANGER');

async function everythingAccepted(exam: Examination): Promise<Finding> {
  const evidence = exam.evidence(exam.accepted('unsigned') ? 'unsigned' : 'forged', 'compact');
  const { headers = {}, body = '', ...usual } = exam.sent('forged');
  // Words of refusal for everything: it may verify with another secret.
  if (/invalid|error|mismatch|reject|denied|forbidden|unauthori[sz]ed|fail|:\s*false\b/i.test(body))
    return exam.finding('refuses_with_success', { forged: exam.response('forged'), evidence });
  const everything =
    exam.accepted('unsigned') && (await exam.send(outgoing('neither signed nor JSON {', {})));
  if (!everything || !succeeded(everything)) return exam.finding('accepts_forged', { evidence });
  if (/text\/html/.test(headers['content-type'] ?? '') && /<(?:!doctype|html|head|form|title)\b/i.test(body))
    return exam.finding('login_page', { evidence });
  const everywhere = await exam.respondsElsewhere(usual);
  return exam.finding(everywhere ? 'answers_everything' : 'answers_before_verifying', { evidence });
}
