import type { Sent } from '../sending/delivery.js';
import { findingOf } from './findings.js';
import { fixesIn, frameworkOf } from './frameworks.js';
import { findUnreachable, toServerResponse } from './obstacles.js';
import { compareBodies, findStatedFault, reportedBody } from './stated-fault.js';

type Failure = Omit<Sent, 'headers' | 'body'> & {
  target: string;
  responseHeaders?: Sent['headers'];
  responseBody?: Sent['body'];
  /** True if the receiver has responded to an earlier delivery, so it speaks the protocol of its URL. */
  hasResponded?: boolean;
};

/** Returns the probable fault of a receiver and its fix, from one response, and names the doctor's command, which finds out for certain. */
export function hintFor(
  { target, responseHeaders: headers, responseBody: body, hasResponded, ...rest }: Failure,
  sentBody: string,
  doctor: string,
): string {
  const ask = ` To find out why: ${doctor}`;
  const sent = toServerResponse({ ...rest, headers, body }, target);
  const framework = frameworkOf([sent]);
  const known = hasResponded ? { look: 'See the log of your handler: it may have crashed' } : {};
  const blocked = findUnreachable(sent, target, framework, known);
  if (blocked) return `${blocked.problem} ${blocked.fix}${sent.status === undefined ? '' : ask}`;
  const fault = findStatedFault(sent, sentBody, framework) ?? guess(sent, sentBody, framework);
  return [fault.problem, fault.evidence, fault.fix].filter(Boolean).join(' ') + ask;
}

function guess({ status = 0, body = '' }: Sent, sentBody: string, framework: string | undefined) {
  if (reportedBody(body))
    return findingOf('secret_or_scheme', framework, { evidence: compareBodies(body, sentBody) });
  if (status >= 500) return findingOf('handler_failed', framework, { fails: 'failed' });
  return {
    problem: `It responded ${status}.`,
    evidence: undefined,
    fix:
      status === 401 || status === 403
        ? `Either a login or CSRF check runs before your handler (${fixesIn(framework).exempt}), or your handler rejects the signature.`
        : 'Your handler rejected the delivery: check the secret, the raw body and the tolerance.',
  };
}
