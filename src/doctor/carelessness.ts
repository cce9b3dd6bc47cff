import type { Finding } from './diagnosis.js';
import { answersElsewhere, type Examination, isAccepted } from './examination.js';
import { exemptFix } from './frameworks.js';
import { outgoing } from './probes.js';

const verifyFirst =
  'Verify before anything else, and answer 400 where that fails: const event = webhooks.verify({ rawBody, headers, secret }).';

/** What is wrong with a receiver that takes a false delivery. */
export async function carelessness(exam: Examination): Promise<Finding | undefined> {
  const taken = (['unsigned', 'forged', 'tampered'] as const).filter((name) => exam.accepted(name));
  const evidence = `It accepted: ${taken.map((name) => exam.says(name)).join('; ')}.`;
  if (taken.length === 0) return undefined;
  if (taken.length === 3) return { ...(await everythingAccepted(exam)), evidence };
  if (!taken.includes('forged') && taken.includes('unsigned'))
    return {
      code: 'accepts_unsigned',
      problem:
        'DANGER: your handler accepts deliveries without a signature, so anybody can report an order as paid.',
      fix: `It verifies only where there is a signature, and has to refuse where there is none. ${verifyFirst}`,
      evidence,
    };
  if (!taken.includes('forged'))
    return {
      code: 'ignores_body',
      problem: 'DANGER: your handler accepts a changed amount: the body is not part of what it verifies.',
      fix: 'Put the raw body into the signed text: `${timestamp}.${rawBody}`.',
      evidence,
    };
  return {
    code: 'accepts_forged',
    problem:
      'DANGER: your handler accepts forged events: any signature will do, so anybody can report an order as paid.',
    fix: `It looks only whether a signature is there, and has to compare it. ${verifyFirst}`,
    evidence,
  };
}

async function everythingAccepted(exam: Examination): Promise<Finding> {
  const { sent } = await exam.probe('forged');
  if (/text\/html/.test(sent.headers?.['content-type'] ?? ''))
    return {
      code: 'login_page',
      problem:
        'A web page answers 200 in the place of your handler: a login page, or the page of a single-page app.',
      fix: `${exemptFix(exam.framework)} Check the path, too.`,
    };
  const garbage = await exam.send(outgoing('neither signed nor JSON {', {}));
  if (!isAccepted(garbage))
    return {
      code: 'accepts_forged',
      problem:
        'DANGER: your handler accepts forged events: it verifies no signature, so anybody can report an order as paid.',
      fix: verifyFirst,
    };
  if (await answersElsewhere(exam, sent))
    return {
      code: 'answers_everything',
      problem:
        'DANGER: forged events are accepted: whatever answers here says 200 to anything, at every address.',
      fix: `${verifyFirst} If it is not your handler that answers, but a catch-all route, a mock or a proxy, register the path of your handler.`,
    };
  return {
    code: 'answers_before_verifying',
    problem:
      'DANGER: your handler accepts forged events: it answers 200 before it verifies, or verifies nothing.',
    fix: verifyFirst,
  };
}
