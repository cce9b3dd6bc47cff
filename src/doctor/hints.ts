import { createHash } from 'node:crypto';

/** What is known of a failed attempt. */
export interface Failure {
  target: string;
  status?: number | undefined;
  responseHeaders?: Record<string, string> | undefined;
  responseBody?: string | undefined;
  error?: string | undefined;
  /** The system's code, such as `ECONNREFUSED`, or `timeout`. */
  code?: string | undefined;
}

/** Why a receiver probably refused, and what to do, from its answer and from what was sent. */
export function hintFor(failure: Failure, sent: string): string | undefined {
  if (failure.status === undefined) return withoutAnswer(failure);
  return comparison(failure, sent) ?? byText(failure) ?? byStatus(failure);
}

/**
 * Both sides compared: `webhooks.handler()` and `verify()` tell length and SHA-256 of the body that they were given,
 * and the sandbox knows what it sent.
 */
function comparison(failure: Failure, sent: string): string | undefined {
  const answer = parse(failure.responseBody ?? '');
  if (typeof answer !== 'object' || answer === null || !('bytes' in answer) || !('sha256' in answer))
    return undefined;
  const { bytes, sha256 } = answer;
  if (typeof bytes !== 'number' || typeof sha256 !== 'string') return undefined;
  const ours = Buffer.from(sent);
  if (createHash('sha256').update(ours).digest('hex') === sha256.toLowerCase())
    return 'Your handler verified the very bytes that were sent: the secret or the signature scheme differs.';
  const compact = Buffer.byteLength(JSON.stringify(parse(sent)));
  const cause =
    bytes === 0
      ? 'something read the body before'
      : bytes === compact
        ? 'a body parser re-encoded it'
        : 'something changed the body on its way';
  return `We sent ${ours.byteLength} bytes, your handler verified ${bytes}: ${cause}. ${rawBodyFix(failure)}`;
}

function byText(failure: Failure): string | undefined {
  const text = failure.responseBody ?? '';
  if (!/Unexpected token '?o|\[object Object\]|must be of type string or an instance of Buffer/i.test(text))
    return undefined;
  return `Your handler was given a parsed object where the raw body belongs. ${rawBodyFix(failure)}`;
}

function rawBodyFix(failure: Failure): string {
  const framework = failure.responseHeaders?.['x-powered-by'] ?? '';
  const express = "app.post(path, express.raw({ type: 'application/json' }), handler), before express.json()";
  const fetchStyle = 'await request.text() and request.headers';
  if (/express/i.test(framework)) return `In Express: ${express}.`;
  if (/next/i.test(framework)) return `In Next.js: ${fetchStyle}, in a route handler.`;
  return `Verify the raw body: in Express ${express}; in Fetch-style routes ${fetchStyle}.`;
}

function byStatus({ status = 0, responseHeaders, target }: Failure): string | undefined {
  if (status >= 300 && status < 400) {
    const to = responseHeaders?.location;
    return to === undefined
      ? 'It redirects, and redirects are not followed. Configure the address that answers itself.'
      : `It redirects to ${to.slice(0, 200)}, and redirects are not followed. Configure that URL: often a trailing slash or https is all that differs.`;
  }
  if (status === 400) return 'It refused the delivery: check the secret, the raw body and the tolerance.';
  if (status === 401 || status === 403 || status === 419)
    return 'A login or CSRF check stands before the handler. Exempt the webhook path: the signature is its proof.';
  if (status === 404) return `There is no route for ${pathOf(target)}. Check the path of the webhook URL.`;
  if (status === 405)
    return `${pathOf(target)} takes no POST. Check the path, and that the route is for POST.`;
  if (status === 413) return 'A body parser refuses the size. Raise its limit on the webhook path.';
  if (status === 415)
    return 'A body parser refuses the content type. Let the webhook path take application/json.';
  if (status >= 500)
    return 'The handler failed: see its log. It answers 500 when the secret is missing, too.';
  return undefined;
}

function withoutAnswer({ code, target, error }: Failure): string | undefined {
  if (code === 'timeout')
    return 'Answer first, work later: put the event into a queue and answer 200 at once.';
  if (code === 'ECONNREFUSED')
    return `Nothing listens at ${target}. Start the receiver. In a container, localhost is the container itself: use host.docker.internal or the service's name; or try 127.0.0.1 for localhost.`;
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN')
    return 'The host name does not resolve. Check the webhook URL.';
  if (code === 'ECONNRESET' || code === 'EPIPE')
    return 'It closed the connection without an answer. See its log.';
  if (code?.startsWith('ERR_SSL') || code === 'EPROTO')
    return 'It does not speak TLS at this port. Use http: in the webhook URL.';
  if (code?.includes('CERT')) return 'Its certificate is not trusted. Use http: on this machine.';
  return error !== undefined && /Unexpected token|must be of type string or an instance of Buffer/.test(error)
    ? 'The handler was given a parsed object where the raw body belongs.'
    : undefined;
}

function pathOf(target: string): string {
  return URL.canParse(target) ? new URL(target).pathname : target;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
