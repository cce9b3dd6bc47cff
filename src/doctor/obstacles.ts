import type { Sent } from '../sending/delivery.js';
import { type Facts, type Finding, type FindingCode, findingOf } from './findings.js';
import { csrfCheck, loginPath, requiresTls } from './phrases.js';
import { saysCause } from './stated-fault.js';

/** Returns a response as a sender sees it: a route handler that throws becomes a 500, as in any server. */
export function toServerResponse(sent: Sent, target: string): Sent {
  const thrown = sent.status === undefined && sent.code !== 'timeout' && !URL.canParse(target);
  return thrown ? { status: 500, headers: {}, body: sent.error } : sent;
}

type Obstacle = readonly [code: FindingCode, facts?: Facts | undefined];

/** Obstacles before the handler, by the status of a response or the code of an error. */
const obstacles: readonly [is: RegExp, ...Obstacle][] = [
  [/^(?:404|410)$/, 'not_found'],
  // 501 comes from Python's http.server, for example, if nothing handles POST.
  [/^(?:405|501)$/, 'wrong_method'],
  [/^(?:407|511)$/, 'access_check'],
  // Cloudflare uses 520 to 530 for errors of the server behind it.
  [/^(?:408|50[234]|52\d|530)$/, 'gateway'],
  [/^413$/, 'too_large'],
  [/^415$/, 'content_type'],
  [/^419$/, 'csrf'],
  [/^429$/, 'rate_limited'],
  [/^timeout$/, 'time_out'],
  [/^ECONNREFUSED$/, 'not_listening'],
  [/^(?:ENOTFOUND|EAI_AGAIN)$/, 'host_unknown'],
  [/^HPE_/, 'connection_lost', { lost: 'sent something that is not HTTP', look: 'Check the port' }],
  [/^(?:ERR_SSL|EPROTO)/, 'tls', { tls: 'This port does not speak TLS: use http: in the webhook URL.' }],
  [
    /^(?:ERR_TLS|DEPTH_ZERO|UNABLE_TO|SELF_SIGNED)|CERT/,
    'tls',
    { tls: 'Its certificate is not trusted: use http: on this machine.' },
  ],
];

/** Returns the reason why a delivery did not reach the handler, judged by the response; `undefined` if it seems to have reached it. */
export function findUnreachable(
  sent: Sent,
  target: string,
  framework: string | undefined,
  known: Facts = {},
): Finding | undefined {
  const url = URL.canParse(target) ? new URL(target) : undefined;
  const [code, facts] = classifyObstacle(sent, url) ?? [];
  const at = { host: url?.host ?? target, path: url?.pathname ?? target };
  return code && findingOf(code, framework, { evidence: sent.error, ...at, ...known, ...facts });
}

function classifyObstacle(sent: Sent, url?: URL): Obstacle | undefined {
  const { status, headers = {}, body = '', code = '' } = sent;
  if (status === 400 && requiresTls.test(body))
    return ['tls', { tls: 'This port speaks only TLS: use https: in the webhook URL.' }];
  if (status !== undefined && status >= 300 && status < 400) return classifyRedirect(headers.location, url);
  if (status !== undefined && status >= 500 && saysCause(sent)) return undefined;
  const [, ...known] = obstacles.find(([is]) => is.test(String(status ?? code))) ?? [];
  const [first, facts] = known;
  if (first) return [first, facts];
  if (status === undefined) return ['connection_lost'];
  // Frameworks put a CSRF token into the head of every page, so <meta> tags are ignored.
  const isCsrf = status >= 400 && csrfCheck.test(body.replaceAll(/<meta\b[^>]*>/gi, ''));
  return isCsrf ? ['csrf'] : undefined;
}

function classifyRedirect(location: string | undefined, from: URL | undefined): Obstacle {
  const shown = location?.slice(0, 200) ?? 'nowhere';
  if (!from || location === undefined || !URL.canParse(location, from.href))
    return ['redirect', { location: shown }];
  const to = new URL(location, from.href);
  const facts = { location: shown, to: to.href.slice(0, 200) };
  const path = (url: URL) => url.pathname.replace(/\/$/, '') + url.search;
  const samePath = path(from) === path(to);
  if (!samePath && loginPath.test(to.pathname)) return ['redirect_login', facts];
  if (from.protocol === 'http:' && to.protocol === 'https:' && from.hostname === to.hostname)
    return ['redirect_https', facts];
  const isSlash = samePath && from.host === to.host && from.pathname !== to.pathname;
  return [isSlash ? 'redirect_slash' : 'redirect', facts];
}
