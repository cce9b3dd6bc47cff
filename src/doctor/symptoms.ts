import { createHash } from 'node:crypto';
import type { Sent } from '../sending/delivery.js';
import { type Finding, type FindingCode, findingOf } from './findings.js';
import type { Framework } from './frameworks.js';
import { parseObject } from './json.js';

/** What a sender sees: a route handler that throws becomes a 500 in any server. */
export function asServed(sent: Sent, target: string): Sent {
  const thrown = sent.status === undefined && sent.code !== 'timeout' && !URL.canParse(target);
  return thrown ? { status: 500, headers: {}, body: sent.error } : sent;
}

/** Why a delivery does not reach the handler, from its response; `undefined` if it seems to. */
export function unreachable(
  sent: Sent,
  target: string,
  framework: Framework | undefined,
  response = sent.status === undefined ? sent.error : `It responded ${sent.status}.`,
): Finding | undefined {
  const { status, headers = {}, body = '' } = sent;
  const url = URL.canParse(target) ? new URL(target) : undefined;
  const found = (code: FindingCode, facts: Record<string, string> = {}) =>
    findingOf(code, framework, {
      evidence: response,
      host: url?.host ?? target,
      path: url?.pathname ?? target,
      ...facts,
    });
  if (status === undefined) return found(...withoutResponse(sent.code ?? ''));
  if (status === 400 && /HTTP request (?:was sent )?to (?:an )?HTTPS/i.test(body))
    return found('tls', { tls: 'This port speaks only TLS: use https: in the webhook URL.' });
  if (status >= 300 && status < 400) return found(...redirected(headers.location, url));
  if (status >= 500 && saidPlainly.some(([words]) => words.test(body))) return undefined;
  // From 520 on: Cloudflare's, for what is behind it.
  const code = codes[status] ?? (status >= 520 && status <= 530 ? 'gateway' : undefined);
  if (code !== undefined) return found(code);
  return status >= 400 && saysCsrf(body) ? found('csrf') : undefined;
}

/** Whether a refusal speaks of CSRF. The token that frameworks put into the head of every page says nothing. */
const saysCsrf = (body: string): boolean =>
  /csrf|authenticity ?token|request forgery|RequestForgeryProtection/i.test(
    body.replaceAll(/<meta\b[^>]*>/gi, ''),
  );

const codes: Readonly<Record<number, FindingCode>> = {
  404: 'not_found',
  405: 'wrong_method',
  407: 'access_check',
  408: 'gateway',
  410: 'not_found',
  413: 'too_large',
  415: 'content_type',
  419: 'csrf',
  429: 'rate_limited',
  // Python's http.server, for one, where nothing takes POST.
  501: 'wrong_method',
  502: 'gateway',
  503: 'gateway',
  504: 'gateway',
  511: 'access_check',
};

type Symptom = [code: FindingCode, facts?: Record<string, string>];

function redirected(location: string | undefined, from: URL | undefined): Symptom {
  const shown = location?.slice(0, 200) ?? 'nowhere';
  if (!from || location === undefined || !URL.canParse(location, from.href))
    return ['redirect', { location: shown }];
  const to = new URL(location, from.href);
  const facts = { location: shown, to: to.href.slice(0, 200) };
  const path = (url: URL) => url.pathname.replace(/\/$/, '') + url.search;
  const samePath = path(from) === path(to);
  if (!samePath && /log-?in|sign-?in|\bsso\b|oauth|auth\b/i.test(to.pathname))
    return ['redirect_login', facts];
  if (from.protocol === 'http:' && to.protocol === 'https:' && from.hostname === to.hostname)
    return ['redirect_https', facts];
  const isSlash = samePath && from.host === to.host && from.pathname !== to.pathname;
  return [isSlash ? 'redirect_slash' : 'redirect', facts];
}

function withoutResponse(code: string): Symptom {
  if (code === 'timeout') return ['time_out'];
  if (code === 'ECONNREFUSED') return ['not_listening'];
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return ['host_unknown'];
  if (/^(?:ERR_SSL|EPROTO)/.test(code))
    return ['tls', { tls: 'This port does not speak TLS: use http: in the webhook URL.' }];
  if (/^(?:ERR_TLS|DEPTH_ZERO|UNABLE_TO|SELF_SIGNED)|CERT/.test(code))
    return ['tls', { tls: 'Its certificate is not trusted: use http: on this machine.' }];
  return ['connection_lost'];
}

/** What the codes of `verify()` and the handlers mean where the delivery was valid. */
const told = new Map<string, Symptom>([
  ['timestamp_too_old', ['wrong_clock', { skew: 'ahead' }]],
  ['timestamp_in_future', ['wrong_clock', { skew: 'behind' }]],
  ['missing_signature', ['header_lost']],
  ['missing_timestamp', ['header_lost']],
  ['duplicate_header', ['header_lost']],
  ['invalid_secret', ['no_secret']],
  ['invalid_body', ['parsed_object']],
]);

/** Why a handler rejects a valid delivery, if its response says so. */
export function toldBy(
  { body = '' }: Sent,
  sentBody: string,
  framework: Framework | undefined,
  known: Record<string, string> = { words: `${fieldOf(body, 'error')}` },
): Finding | undefined {
  const symptom = told.get(fieldOf(body, 'error') ?? fieldOf(body, 'code') ?? '') ?? readIn(body, sentBody);
  if (!symptom) return undefined;
  const [code, facts] = symptom;
  return findingOf(code, framework, { evidence: comparison(body, sentBody), ...known, ...facts });
}

function readIn(body: string, sentBody: string): Symptom | undefined {
  for (const [words, code] of saidPlainly) if (words.test(body)) return [code];
  const received = receivedBy(body);
  if (!received || received.sha256 === sha256(sentBody)) return undefined;
  if (received.bytes === 0) return ['body_consumed'];
  const compact = Buffer.byteLength(JSON.stringify(JSON.parse(sentBody)));
  return ['re_encodes', received.bytes === compact ? {} : { changed: 'changed on the way' }];
}

/** What platforms and handlers write where just one mistake makes them do so. */
const saidPlainly: readonly [words: RegExp, code: FindingCode][] = [
  [
    /(?:secret|(?:secret|hmac|webhook|signing)_?key)\W.{0,30}(?:undefined|missing|empty|required|not (?:set|found|defined|configured))|(?:undefined|missing|(?<!match(?:es|ed)? )no|KeyError|key not found)\b.{0,30}secret(?!s? match)|"key" argument must be|\(\$key\) must be of type string, null/i,
    'no_secret',
  ],
  [
    /Unexpected token '?o|\[object Object\]|must be of type string or an instance of (?:Buffer|ArrayBuffer)|expected a bytes-like object|a bytes-like object is required|\(\$data\) must be of type string, (?:array|stdClass)/i,
    'parsed_object',
  ],
  [
    /body (?:is unusable|has already been|already (?:read|used))|stream is not readable|RawPostDataException/i,
    'body_consumed',
  ],
];

/** Whether a response says that a signature header is missing, and not that it may be invalid as well. */
export const missesHeader = ({ body = '' }: Sent): boolean =>
  /(?:missing|\bno|without|absent|unable to extract)\b.{0,20}(?:signature|timestamp|header)|(?:signature|timestamp)s?\b.{0,20}(?:missing|required|not (?:found|provided|present|set)|absent|is empty)/i.test(
    body,
  ) &&
  !/\bno\b[^.]{0,40}\b(?:match|valid\b)|(?:\bor\b|\/).{0,20}(?:invalid|incorrect|wrong|bad\b|malformed|mismatch)|(?:invalid|incorrect|wrong|\bbad|malformed|mismatch\w*)\W{1,3}(?:or\b|\/)/i.test(
    body,
  );

/** Whether a response shows a login or access check by itself: a challenge for who has an account, or a form to log in. */
export const asksForLogin = ({ headers = {}, body = '' }: Sent): boolean =>
  /^(?:basic|bearer|digest|negotiate|ntlm|token)\b/i.test(headers['www-authenticate'] ?? '') ||
  /<input\b[^>]*type=["']?password/i.test(body);

/** Whether it speaks of one, or of a firewall, as a handler could as well. */
export const namesAccessCheck = ({ body = '' }: Sent): boolean =>
  /\bbearer\b|log ?in\b|sign ?in\b|unauthenticated|not authenticated|authentication (?:credentials|(?:is )?required)|you have been blocked|request (?:was )?blocked|attention required/i.test(
    body,
  );

/** What `webhooks.handler()` and `verify()` say about the body that they received. */
export function receivedBy(response: string): { bytes: number; sha256: string } | undefined {
  const bytes = Number(fieldOf(response, 'bytes'));
  const sha = fieldOf(response, 'sha256');
  return Number.isInteger(bytes) && sha !== undefined ? { bytes, sha256: sha.toLowerCase() } : undefined;
}

/** What it means if both are the same. */
export const otherSecret = 'verifies the right bytes with a different secret or signature scheme';

/** Both sides compared: what was sent, and what the handler says it verified. */
export function comparison(response: string, sentBody: string): string {
  const received = receivedBy(response);
  if (!received) return '';
  return received.sha256 === sha256(sentBody)
    ? 'Your handler verified exactly the bytes that were sent.'
    : `We sent ${Buffer.byteLength(sentBody)} bytes, your handler verified ${received.bytes}.`;
}

function fieldOf(text: string, name: string): string | undefined {
  const value = parseObject(text)?.[name];
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
