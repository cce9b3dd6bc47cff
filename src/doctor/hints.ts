import type { Sent } from '../sending/delivery.js';
import { findingOf } from './findings.js';
import { fixesIn, frameworkOf } from './frameworks.js';
import { asServed, comparison, otherSecret, receivedBy, toldBy, unreachable } from './symptoms.js';

type Failure = Omit<Sent, 'headers' | 'body'> & {
  target: string;
  responseHeaders?: Sent['headers'];
  responseBody?: Sent['body'];
};

/** Why a receiver probably failed, and what to do, from one response. The doctor, which it names, finds out for certain. */
export function hintFor(failure: Failure, sentBody: string): string {
  const { target, responseHeaders, responseBody, ...rest } = failure;
  const sent = asServed({ ...rest, headers: responseHeaders, body: responseBody }, target);
  const framework = frameworkOf([sent]);
  const blocked = unreachable(sent, target, framework);
  if (blocked) return `${blocked.problem} ${blocked.fix}${sent.status === undefined ? '' : ask(target)}`;
  const told = toldBy(sent, sentBody, framework) ?? guess(sent, sentBody, framework);
  return [told.problem, told.evidence, told.fix].filter(Boolean).join(' ') + ask(target);
}

/** From the status alone. */
function guess({ status = 0, body = '' }: Sent, sentBody: string, framework: ReturnType<typeof frameworkOf>) {
  if (receivedBy(body))
    return findingOf('secret_or_scheme', framework, {
      verdict: otherSecret,
      evidence: comparison(body, sentBody),
    });
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

/** How to run the doctor: in a shell for a URL, in code for a route handler. */
function ask(target: string): string {
  const url = /^[\w.:/-]+$/.test(target) ? target : `'${target}'`;
  return ` To find out why: ${URL.canParse(target) ? `npx merchant-payments doctor ${url}` : 'await sandbox.doctor()'}`;
}
