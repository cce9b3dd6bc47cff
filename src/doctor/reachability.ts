import type { Sent } from './delivery.js';
import type { Finding } from './diagnosis.js';
import { exemptFix, type Framework } from './frameworks.js';
import { hintFor } from './hints.js';

/** Why a delivery does not come as far as the handler, from its answer; `undefined` where it seems to. */
export function unreachable(
  sent: Sent,
  target: string,
  framework: Framework | undefined,
): Finding | undefined {
  const { status, headers = {}, body = '' } = sent;
  if (status === undefined) return withoutAnswer(sent, target);
  const evidence = `It answered ${status}.`;
  if (status >= 300 && status < 400) return redirected(status, headers.location, target, framework);
  switch (status) {
    case 404:
    case 410:
      return {
        code: 'not_found',
        problem: `There is no route for ${pathOf(target)}.`,
        fix: 'Register the path that the route has, prefix and version included, or add the route.',
        evidence,
      };
    case 405:
      return {
        code: 'wrong_method',
        problem: `${pathOf(target)} takes no POST.`,
        fix: 'Export or register the route for POST; webhooks are always POST.',
        evidence,
      };
    case 408:
    case 502:
    case 503:
    case 504:
      return {
        code: 'gateway',
        problem:
          status === 504 || status === 408
            ? 'A gateway in front gave up waiting for your handler.'
            : 'A gateway in front cannot reach your handler.',
        fix:
          status === 504 || status === 408
            ? 'Answer first, work later: note the event, answer 200, fulfil in the background.'
            : 'Start the application behind it, and check the port that the gateway forwards to.',
        evidence,
      };
    case 413:
      return {
        code: 'too_large',
        problem: 'A body limit in front of your handler refuses a delivery of some hundred bytes.',
        fix: 'Raise the limit on the webhook path; 1 MiB is plenty.',
        evidence,
      };
    case 415:
      return {
        code: 'content_type',
        problem: 'A body parser refuses application/json.',
        fix: 'Let the webhook path take the content type application/json.',
        evidence,
      };
    case 429:
      return {
        code: 'rate_limited',
        problem: 'A rate limit refuses deliveries.',
        fix: 'Exempt the webhook path from the rate limit, then run the doctor again.',
        evidence,
      };
    default:
      return status === 419 || /csrf|authenticity token|forgery/i.test(body)
        ? {
            code: 'csrf',
            problem: 'A CSRF check refuses deliveries before your handler sees them.',
            fix: exemptFix(framework),
            evidence,
          }
        : undefined;
  }
}

function redirected(
  status: number,
  location: string | undefined,
  target: string,
  framework: Framework | undefined,
): Finding {
  const evidence = `It answered ${status}${location === undefined ? '' : ` to ${location.slice(0, 200)}`}; redirects are not followed.`;
  const from = URL.canParse(target) ? new URL(target) : undefined;
  if (location === undefined || !from || !URL.canParse(location, from.href))
    return {
      code: 'redirect',
      problem: 'It redirects deliveries.',
      fix: 'Register the address that answers itself.',
      evidence,
    };
  const to = new URL(location, from.href);
  const bare = (url: URL) => `${url.host}${url.pathname.replace(/\/$/, '')}${url.search}`;
  const register = `Register ${to.href.slice(0, 200)}, or let this path answer itself.`;
  if (/log-?in|sign-?in|\bsso\b|oauth|auth\b/i.test(to.pathname))
    return {
      code: 'redirect_login',
      problem: 'A login stands before your handler.',
      fix: exemptFix(framework),
      evidence,
    };
  if (from.protocol === 'http:' && to.protocol === 'https:' && from.hostname === to.hostname)
    return { code: 'redirect_https', problem: 'It redirects to https.', fix: register, evidence };
  if (from.pathname !== to.pathname && bare(from) === bare(to))
    return {
      code: 'redirect_slash',
      problem: `It redirects to the same address ${to.pathname.endsWith('/') ? 'with' : 'without'} a final slash.`,
      fix: register,
      evidence,
    };
  return { code: 'redirect', problem: 'It redirects deliveries.', fix: register, evidence };
}

function withoutAnswer({ code = '', error = 'no answer' }: Sent, target: string): Finding {
  const evidence = error;
  const fix = hintFor({ target, error, code }, '') ?? 'See the log of your handler.';
  if (code === 'timeout')
    return {
      code: 'time_out',
      problem: 'Your handler does not answer in time.',
      fix: 'Answer first, work later: note the event, answer 200, fulfil in the background. Look for an `await` that never ends.',
      evidence,
    };
  if (code === 'ECONNREFUSED')
    return {
      code: 'not_listening',
      problem: `Nothing listens at ${originOf(target)}.`,
      fix: 'Start the receiver, and check the port. In a container, localhost is the container itself: use host.docker.internal or the name of the service; where only IPv4 is bound, 127.0.0.1.',
      evidence,
    };
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN')
    return {
      code: 'host_unknown',
      problem: 'The host name does not resolve.',
      fix: 'Check the address.',
      evidence,
    };
  if (/^(?:ERR_SSL|ERR_TLS|EPROTO|DEPTH_ZERO|UNABLE_TO|SELF_SIGNED)|CERT/.test(code))
    return { code: 'tls', problem: 'The TLS connection fails.', fix, evidence };
  return {
    code: 'connection_lost',
    problem: 'It closed the connection without an answer.',
    fix: 'See the log of your handler: it may have crashed. A server that speaks only https does this to http: as well.',
    evidence,
  };
}

const pathOf = (target: string) => (URL.canParse(target) ? new URL(target).pathname : target);
const originOf = (target: string) => (URL.canParse(target) ? new URL(target).host : target);
