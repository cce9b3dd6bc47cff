import { type Examination, succeeded } from './examination.js';
import type { Finding, FindingCode } from './findings.js';
import { bodies, type ForgeryName, forgeryNames, type ProbeName, probes, withNote } from './probes.js';
import { outgoing, signDelivery } from './signed.js';
import { comparison } from './symptoms.js';

const digits: readonly ForgeryName[] = ['first_digit', 'middle_digit', 'last_digit'];
const parts: readonly ForgeryName[] = ['one_character', 'first_half', 'second_half', 'truncated', ...digits];

const otherTypes: readonly ForgeryName[] = ['unsigned_text', 'unsigned_form'];

/** What a receiver shows that accepts a forgery, the most serious first. */
const meanings: readonly [code: FindingCode, names: readonly ForgeryName[]][] = [
  ['weak_comparison', parts],
  ['accepts_unsigned', ['unsigned', 'empty', ...otherTypes]],
  ['accepts_forged', ['no_timestamp', 'odd_timestamp', 'non_ascii_signature']],
  ['loose_signature', ['extended', 'preceded']],
  ['empty_secret', ['empty_secret', 'undefined_secret', 'null_secret', 'none_secret']],
  ['ignores_body', ['tampered', 'empty_body']],
  ['re_encodes', ['reencoded']],
  ['ignores_timestamp', ['redated']],
  ['trusts_known_orders', ['known_order']],
  ['no_tolerance', ['stale', 'future']],
];

/** What is wrong with a receiver that accepts forgeries, or responds to them with success. */
export async function acceptedForgeries(exam: Examination): Promise<Finding[]> {
  const taken = forgeryNames.filter(exam.accepted);
  // One that compares a part of the signature accepts some by chance.
  if (exam.accepted('forged') && !digits.some(exam.refused)) return [await everythingAccepted(exam)];
  const findings: Finding[] = [];
  for (const [code, names] of meanings) {
    const own = taken.filter((name) => names.includes(name));
    if (own.length === 0 || findings.some(isDanger)) continue;
    const when = [own.includes('stale') && 'a day ago', own.includes('future') && 'a day ahead'];
    const facts = {
      when: when.filter(Boolean).join(' and '),
      evidence: exam.evidence(...own, 'compact'),
      ...(own.every((name) => otherTypes.includes(name)) && {
        unsigned: 'deliveries without a signature if they are not application/json',
      }),
    };
    findings.push(exam.finding(code, facts));
  }
  const explained = isCalledDuplicate(exam) ? [...taken, 'known_order'] : taken;
  const other = forgeryNames.filter((name) => exam.succeeded(name) && !explained.includes(name));
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

/** Without what says that there was no error, such as `"error":null` and `"failed":0`. */
const withoutNone = (body: string): string =>
  body.replaceAll(
    /"\w*(?:invalid|error|mismatch|reject|denied|fail)\w*"\s*:\s*(?:null|false|0|""|\[\s*\]|\{\s*\})/gi,
    '',
  );

async function everythingAccepted(exam: Examination): Promise<Finding> {
  const evidence = exam.evidence(exam.accepted('unsigned') ? 'unsigned' : 'forged', 'compact');
  const { headers = {}, body = '', ...usual } = exam.sent('forged');
  // Words of refusal for everything: it may verify with another secret.
  if (
    /invalid|error|mismatch|reject|denied|forbidden|unauthori[sz]ed|fail|:\s*false\b/i.test(withoutNone(body))
  )
    return exam.finding('refuses_with_success', { forged: exam.response('forged'), evidence });
  const everything =
    exam.accepted('unsigned') && (await exam.send(outgoing('neither signed nor JSON {', {})));
  if (!everything || !succeeded(everything)) return exam.finding('accepts_forged', { evidence });
  if (/text\/html/.test(headers['content-type'] ?? '') && /<(?:!doctype|html|head|form|title)\b/i.test(body))
    return exam.finding('login_page', { evidence });
  const everywhere = await exam.respondsElsewhere(usual);
  return exam.finding(everywhere ? 'answers_everything' : 'answers_before_verifying', { evidence });
}

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
  if (exam.accepted('compact') && exam.refused('duplicate')) found('refuses_duplicates', 'duplicate');
  if (exam.refused('spaced')) await misread('re_encodes', 'spaced', 'compact');
  else if (exam.refused('compact')) await misread('re_encodes', 'compact', 'spaced');
  else {
    if (exam.refused('newline')) await misread('trims', 'newline', 'spaced');
    if (exam.refused('non_ascii')) {
      const plain = await exam.send(signDelivery(withNote(exam.newOrder(), 'plain'), exam.patient.signer));
      if (succeeded(plain)) await misread('wrong_charset', 'non_ascii');
      else found('refuses_new_fields', 'non_ascii');
    }
  }
  return exam.stopped ? [] : findings;
}

/**
 * A receiver that refuses a signature does it in the words that a different secret gets. Other words for a valid
 * delivery come after it was verified; if a forgery with that body gets them too, before.
 */
async function failedBeside(exam: Examination, name: ProbeName): Promise<Finding | undefined> {
  const forged = await exam.forge(name);
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
