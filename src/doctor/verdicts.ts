import { type Examination, is2xx } from './examination.js';
import type { Finding, FindingCode } from './findings.js';
import { refusal } from './phrases.js';
import { type ForgeryName, foreignNames, forgeryNames } from './probes.js';
import { toOutgoing } from './signed.js';

const digits = ['first_digit', 'middle_digit', 'last_digit'] as const;
const otherTypes = foreignNames.filter((name) => name.startsWith('unsigned_'));

/** Faults that accepted forgeries show, the most serious first. */
const meanings: readonly [code: FindingCode, names: readonly ForgeryName[]][] = [
  ['accepts_unsigned', ['unsigned', ...otherTypes]],
  ['accepts_forged', ['foreign_half', 'no_timestamp', 'odd_timestamp', 'non_ascii_signature']],
  // One character may also be accepted by chance.
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

/** Returns the faults of a receiver that accepts forgeries, or responds to them with success. */
export async function findAcceptedForgeries(exam: Examination): Promise<Finding[]> {
  const taken = forgeryNames.filter(exam.isAccepted);
  if (exam.isAccepted('forged') && !digits.some(exam.isRefused)) return [await explainAcceptance(exam)];
  const findings: Finding[] = [];
  for (const [code, names] of meanings) {
    const own = names.filter((name) => taken.includes(name));
    const [first] = own;
    if (first === undefined || findings.some(isDanger)) continue;
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
  const other = forgeryNames.filter((name) => exam.is2xx(name) && !explained.includes(name));
  const repeats = other.length === 0 && exam.isAccepted('compact') && repeatsItself(exam);
  const [first, ...others] = repeats ? (['forged'] as const) : other;
  if (first === undefined) return findings;
  const refusing = exam.finding('refuses_with_success', {
    ...(repeats && {
      refuses: 'rejects a forged delivery by its status, but in the words that a valid one gets',
      say: 'Say so in other words',
    }),
    valid: exam.briefResponse('compact'),
    forged: exam.briefResponse(first),
    evidence: exam.evidence(first, ...others.slice(0, 2), 'compact'),
  });
  return [...findings, refusing];
}

/** True if a refused forgery got exactly the body of a valid delivery, as from a handler that sets the status and goes on. */
function repeatsItself(exam: Examination): boolean {
  const { body = '' } = exam.sent('forged');
  return exam.isRefused('forged') && /\p{L}/u.test(body) && body === exam.sent('compact').body;
}

/** True if a forgery about a known order got the words of a duplicate, which a new order does not get. */
export const isCalledDuplicate = (exam: Examination): boolean =>
  exam.is2xx('known_order') &&
  exam.hasSameResponse('known_order', 'duplicate') &&
  !exam.hasSameResponse('known_order', 'compact');

export const isDanger = ({ severity }: Finding): boolean => severity === 'danger';

/** Removes fields that report no error, such as `"error":null` and `"failed":0`. */
const removeEmptyErrors = (body: string): string =>
  body.replaceAll(
    /"\w*(?:invalid|error|mismatch|reject|denied|fail)\w*"\s*:\s*(?:null|false|0|""|\[\s*\]|\{\s*\})/gi,
    '',
  );

async function explainAcceptance(exam: Examination): Promise<Finding> {
  const evidence = exam.evidence(exam.isAccepted('unsigned') ? 'unsigned' : 'forged', 'compact');
  const { headers = {}, body = '', ...usual } = exam.sent('forged');
  // A receiver that refuses everything in words may verify with another secret.
  if (refusal.test(removeEmptyErrors(body)))
    return exam.finding('refuses_with_success', {
      refuses: 'responds with success to valid and forged deliveries, in the same words of refusal',
      say: 'If they mean refused, its secret is probably not the one that signs these deliveries: set the same on both sides, and respond 400 to what you refuse. If not, anybody can forge orders',
      valid: exam.briefResponse('compact'),
      forged: exam.briefResponse('forged'),
      evidence,
    });
  const everything =
    exam.isAccepted('unsigned') && (await exam.send(toOutgoing('neither signed nor JSON {', {})));
  if (!everything || !is2xx(everything)) return exam.finding('accepts_forged', { evidence });
  if (/text\/html/.test(headers['content-type'] ?? '') && /<(?:!doctype|html|head|form|title)\b/i.test(body))
    return exam.finding('login_page', { evidence });
  const everywhere = await exam.respondsElsewhere(usual);
  return exam.finding(everywhere ? 'answers_everything' : 'answers_before_verifying', { evidence });
}
