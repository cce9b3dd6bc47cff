import { type Examination, succeeded } from './examination.js';
import type { Finding, FindingCode } from './findings.js';
import { bodies, type ForgeryName, foreignNames, forgeryNames } from './probes.js';
import { outgoing } from './signed.js';

const digits = ['first_digit', 'middle_digit', 'last_digit'] as const;
const otherTypes = foreignNames.filter((name) => name.startsWith('unsigned_'));

/** What a receiver shows that accepts a forgery, the most serious first. */
const meanings: readonly [code: FindingCode, names: readonly ForgeryName[]][] = [
  ['accepts_unsigned', ['unsigned', ...otherTypes]],
  ['accepts_forged', ['foreign_half', 'no_timestamp', 'odd_timestamp', 'non_ascii_signature']],
  // One character is accepted by chance too.
  ['weak_comparison', ['first_half', 'second_half', 'truncated', 'padded', ...digits, 'one_character']],
  ['accepts_forged', ['other_prefix']],
  ['accepts_unsigned', ['empty', 'no_digits']],
  ['loose_signature', ['extended', 'preceded']],
  ['empty_secret', ['empty_secret', 'undefined_secret', 'null_secret', 'none_secret']],
  ['known_secret', ['promise_secret', 'object_secret', 'sandbox_secret']],
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
    const own = names.filter((name) => taken.includes(name));
    const [first] = own;
    if (first === undefined || findings.some(isDanger)) continue;
    const sporadic = await acceptedByChance(exam, first, code);
    if (sporadic) return [sporadic];
    const when = [own.includes('stale') && 'a day ago', own.includes('future') && 'a day ahead'];
    const facts = {
      when: when.filter(Boolean).join(' and '),
      evidence: exam.evidence(...own, 'compact'),
      ...(own.every((name) => otherTypes.includes(name)) && {
        unsigned: 'deliveries without a signature if their content type is not application/json alone',
      }),
    };
    findings.push(exam.finding(code, facts));
  }
  if (findings.some(isDanger)) return findings;
  const explained = isCalledDuplicate(exam) ? [...taken, 'known_order'] : taken;
  const other = forgeryNames.filter((name) => exam.succeeded(name) && !explained.includes(name));
  const repeats = other.length === 0 && exam.accepted('compact') && repeatsItself(exam);
  const [first, ...others] = repeats ? (['forged'] as const) : other;
  if (first === undefined) return findings;
  const refusing = exam.finding('refuses_with_success', {
    ...(repeats && {
      refuses: 'rejects a forged delivery by its status, but in the words that a valid one gets',
      say: 'say so in other words',
    }),
    forged: exam.response(first),
    evidence: exam.evidence(first, ...others.slice(0, 2), 'compact'),
  });
  return [...findings, refusing];
}

/** What is right on its own, and was only sent late or with more beside it: accepting that now and then forges nothing. */
const signedRight: readonly FindingCode[] = ['loose_signature', 'no_tolerance', 'trusts_known_orders'];

/** Whether what was accepted is refused once more, or what was refused is accepted: then it does not show the cause. */
async function acceptedByChance(exam: Examination, name: ForgeryName, code: FindingCode) {
  const before = exam.evidence(name);
  // A receiver may remember just the last signature that was right.
  const last = bodies.findLast(exam.succeeded);
  for (const again of [last ?? name, name]) await exam.probe(again, true);
  // One that compares a digit accepts each sixteenth.
  let isForged = true;
  for (let time = 0; time < 3 && isForged; time++) {
    await exam.probe('forged', true);
    isForged = exam.accepted('forged');
  }
  if (exam.over || (exam.accepted(name) && !isForged)) return undefined;
  const evidence = `${before} Once more: ${exam.evidence(name, 'forged')}`;
  const isDangerous = isForged || !signedRight.includes(code);
  return exam.finding(isDangerous ? 'accepts_forged' : 'inconsistent', { evidence });
}

/** Whether a forgery got the very body of a valid delivery, as from a handler that sets the status and goes on. */
function repeatsItself(exam: Examination): boolean {
  const { body = '' } = exam.sent('forged');
  return exam.refused('forged') && /\p{L}/u.test(body) && body === exam.sent('compact').body;
}

/** Whether a forgery about a known order got the words of a duplicate, which a new order does not get. */
export const isCalledDuplicate = (exam: Examination): boolean =>
  exam.succeeded('known_order') &&
  exam.alike('known_order', 'duplicate') &&
  !exam.alike('known_order', 'compact');

export const isDanger = ({ problem }: Finding): boolean => problem.startsWith('DANGER');

/** Without what says that there was no error, such as `"error":null` and `"failed":0`. */
const withoutNone = (body: string): string =>
  body.replaceAll(
    /"\w*(?:invalid|error|mismatch|reject|denied|fail)\w*"\s*:\s*(?:null|false|0|""|\[\s*\]|\{\s*\})/gi,
    '',
  );

const wordsOfRefusal =
  /invalid|error|mismatch|reject|denied|forbidden|unauthori[sz]ed|fail|^\W*no\W*$|\b(?:nok|not ok|ko|nack)\b|:\s*"?false\b|"(?:code|status\w*)"\s*:\s*"?[45]\d\d\b/i;

async function everythingAccepted(exam: Examination): Promise<Finding> {
  const evidence = exam.evidence(exam.accepted('unsigned') ? 'unsigned' : 'forged', 'compact');
  const { headers = {}, body = '', ...usual } = exam.sent('forged');
  // Words of refusal for everything: it may verify with another secret.
  if (wordsOfRefusal.test(withoutNone(body)))
    return exam.finding('refuses_with_success', { forged: exam.response('forged'), evidence });
  const everything =
    exam.accepted('unsigned') && (await exam.send(outgoing('neither signed nor JSON {', {})));
  if (!everything || !succeeded(everything)) return exam.finding('accepts_forged', { evidence });
  if (/text\/html/.test(headers['content-type'] ?? '') && /<(?:!doctype|html|head|form|title)\b/i.test(body))
    return exam.finding('login_page', { evidence });
  const everywhere = await exam.respondsElsewhere(usual);
  return exam.finding(everywhere ? 'answers_everything' : 'answers_before_verifying', { evidence });
}
