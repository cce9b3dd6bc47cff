import { differ, factsOf, fieldOf, receivedBy, sha256 } from './answers.js';
import type { Finding } from './diagnosis.js';
import { answersElsewhere, type Examination } from './examination.js';
import { exemptFix, rawBodyFix } from './frameworks.js';

/** Why a receiver refuses every right delivery, where its answer tells. */
export async function refusal(exam: Examination): Promise<Finding | undefined> {
  const right = await exam.probe('compact');
  const forged = await exam.probe('forged');
  const text = right.sent.body ?? '';
  const evidence =
    `Every right delivery was answered ${right.result.status ?? 'nothing'}. ${factsOf(right)}`.trim();
  const raw = rawBodyFix(exam.framework);
  const told = fieldOf(text, 'error') ?? fieldOf(text, 'code');
  if (told === 'timestamp_too_old' || told === 'timestamp_in_future')
    return {
      code: 'wrong_clock',
      problem: `The clock of your handler's machine is ${told === 'timestamp_too_old' ? 'ahead' : 'behind'}: it finds a delivery of this second ${told === 'timestamp_too_old' ? 'too old' : 'in the future'}.`,
      fix: 'Set the clock by NTP (timedatectl set-ntp true); restart the container or virtual machine that slept.',
      evidence,
    };
  if (told === 'missing_signature' || told === 'missing_timestamp' || told === 'duplicate_header')
    return {
      code: 'header_lost',
      problem: 'Something between here and your handler drops or doubles the signature headers.',
      fix: 'Have the proxy or gateway pass x-service-signature and x-service-timestamp on as they come.',
      evidence,
    };
  if (
    told === 'invalid_secret' ||
    /secret is (?:missing|empty)|secret.{0,30}(?:undefined|not set|required)/i.test(text)
  )
    return {
      code: 'no_secret',
      problem: 'Your handler has no usable secret.',
      fix: 'Set the variable that it reads (PAYMENTS_WEBHOOK_SECRET) in the environment of that very process.',
      evidence,
    };
  if (told === 'invalid_body' || parsedObject.test(text))
    return {
      code: 'parsed_object',
      problem: 'Your handler is given a parsed object where the raw body belongs.',
      fix: raw,
      evidence,
    };
  const received = receivedBy(text);
  if (received && received.sha256 !== sha256(right.body))
    return {
      code: received.bytes === 0 ? 'body_consumed' : 're_encodes',
      problem:
        received.bytes === 0
          ? 'Your handler verifies an empty body: something read it before.'
          : 'Your handler verifies another body than was sent: something changes it on its way.',
      fix: raw,
      evidence,
    };
  if (differ(right.sent, forged.sent))
    return {
      code: 'handler_failed',
      problem: 'Your handler verifies the signature rightly, and then fails.',
      fix: 'See its log. An order that it does not know has to be answered 200, noted and looked at: trying again will not help.',
      evidence: `A right delivery was answered ${right.result.status}, a forged one ${forged.result.status}.`,
    };
  return undefined;
}

/** Why it refuses every right delivery, where neither its answer nor any scheme told. */
export async function lastGuess(exam: Examination, tried: number): Promise<Finding> {
  const { sent, result } = await exam.probe('compact');
  const evidence = `Every right delivery was answered ${result.status ?? 'nothing'}, like a forged one; so were ${tried} other ways to sign.`;
  if ((sent.status ?? 0) >= 500)
    return {
      code: 'handler_failed',
      problem: 'Your handler throws on every delivery.',
      fix: `See its log. Most often it was given a parsed body, or has no secret. ${rawBodyFix(exam.framework)}`,
      evidence,
    };
  if ((sent.status === 401 || sent.status === 403) && (await answersElsewhere(exam, sent)))
    return {
      code: 'access_check',
      problem: 'A login or access check refuses deliveries before your handler sees them.',
      fix: exemptFix(exam.framework),
      evidence: `It answered ${sent.status}, also to an address beside your handler's.`,
    };
  return {
    code: 'secret_or_scheme',
    problem: receivedBy(sent.body ?? '')
      ? 'Your handler verifies the right bytes with another secret.'
      : 'Your handler has another secret.',
    fix: "Copy the secret of this sandbox into your handler's environment (PAYMENTS_WEBHOOK_SECRET), and start it anew.",
    evidence,
  };
}

const parsedObject =
  /Unexpected token '?o|"?\[object Object\]"? is not valid JSON|must be of type string or an instance of (?:Buffer|ArrayBuffer)|expected a bytes-like object|a bytes-like object is required/i;
