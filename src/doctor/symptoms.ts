import { createHash } from 'node:crypto';
import type { Sent } from '../sending/delivery.js';
import { type Finding, type FindingCode, findingOf } from './findings.js';
import { fixesIn, frameworkOf } from './frameworks.js';
import { parseObject } from './json.js';
import { anyOf } from './phrases.js';

/** Returns a response as a sender sees it: a route handler that throws becomes a 500, as in any server. */
export function asServed(sent: Sent, target: string): Sent {
  const thrown = sent.status === undefined && sent.code !== 'timeout' && !URL.canParse(target);
  return thrown ? { status: 500, headers: {}, body: sent.error } : sent;
}

type Symptom = readonly [code: FindingCode, facts?: Record<string, string> | undefined];

/** Obstacles before the handler, by the status of a response or the code of an error. */
const obstacles: readonly [is: RegExp, ...Symptom][] = [
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
export function unreachable(
  sent: Sent,
  target: string,
  framework: string | undefined,
  evidence = sent.error,
): Finding | undefined {
  const url = URL.canParse(target) ? new URL(target) : undefined;
  const [code, facts] = obstacleTo(sent, url) ?? [];
  const at = { host: url?.host ?? target, path: url?.pathname ?? target };
  return code && findingOf(code, framework, { evidence, ...at, ...facts });
}

function obstacleTo({ status, headers = {}, body = '', code = '' }: Sent, url?: URL): Symptom | undefined {
  if (status === 400 && /HTTP request (?:was sent )?to (?:an )?HTTPS/i.test(body))
    return ['tls', { tls: 'This port speaks only TLS: use https: in the webhook URL.' }];
  if (status !== undefined && status >= 300 && status < 400) return redirectSymptom(headers.location, url);
  if (status !== undefined && status >= 500 && firstOf(knownMessages, body)) return undefined;
  const known = firstOf(obstacles, String(status ?? code));
  if (known || status === undefined) return known ?? ['connection_lost'];
  // Frameworks put a CSRF token into the head of every page, so <meta> tags are ignored.
  const saysCsrf = /csrf|authenticity ?token|site request forgery|RequestForgeryProtection/i;
  return status >= 400 && saysCsrf.test(body.replaceAll(/<meta\b[^>]*>/gi, '')) ? ['csrf'] : undefined;
}

function firstOf(table: readonly [RegExp, ...Symptom][], text: string): Symptom | undefined {
  const row = table.find(([is]) => is.test(text));
  return row && [row[1], row[2]];
}

function redirectSymptom(location: string | undefined, from: URL | undefined): Symptom {
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

const withCode = (codes: string) => new RegExp(`"(?:error|code)"\\s*:\\s*"(?:${codes})"`);

/** Phrases that report a missing secret, each with its source. */
const noSecret = anyOf([
  // A merchant's own handler: "the secret is undefined", "webhook_key is not set".
  /(?:secret|(?:secret|hmac|webhook|signing)_?key)\W.{0,30}(?:undefined|missing|empty|required|not (?:set|found|defined|configured))/,
  // The same words in reverse order, and Python's KeyError. "No secret matches" and names of headers are excluded.
  /(?:undefined|missing|(?<!match(?:es|ed)? )no|KeyError|key not found)\b.{0,30}secret(?!s? (?:match|verif)|\W*header)/,
  // Node's createHmac().
  /"key" argument must be/,
  // PHP's hash_hmac().
  /\(\$key\) must be of type string, null/,
]);

/** Phrases that show a parsed object in place of the raw body. */
const parsedObject = anyOf([
  // V8's JSON.parse() of an object.
  /Unexpected token '?o/,
  // JavaScript's text of an object.
  /\[object Object\]/,
  // Node's update() of a hash.
  /must be of type string or an instance of (?:Buffer|ArrayBuffer)/,
  // Python's hmac.new(), but not join() of a list.
  /(?<!sequence item \d+: )expected a bytes-like object/,
  /a bytes-like object is required/,
  // PHP's hash_hmac().
  /\(\$data\) must be of type string, (?:array|stdClass)/,
]);

/** Phrases that report a body that was already read. */
const consumedBody = anyOf([
  // The platform's Request.
  /body (?:is unusable|has already been|already (?:read|used))/,
  // The package raw-body, in Express and Koa.
  /stream is not readable/,
  // Django.
  /RawPostDataException/,
]);

/** Messages of `verify()`, of handlers and of platforms that have only one explanation if the delivery is valid. */
const knownMessages: readonly [words: RegExp, ...Symptom][] = [
  [withCode('timestamp_too_old'), 'wrong_clock', { skew: 'ahead' }],
  [withCode('timestamp_in_future'), 'wrong_clock', { skew: 'behind' }],
  [withCode('missing_signature|missing_timestamp|duplicate_header'), 'header_lost'],
  [withCode('invalid_secret'), 'no_secret'],
  [withCode('invalid_body'), 'parsed_object'],
  [/rawBody is (?:missing|an array|a parsed object)/, 'parsed_object'],
  [/secret must be a string or bytes/, 'no_secret'],
  [
    /verify\(\) takes one (?:options )?object|rawBody is (?:a |neither)|headers must be an object/,
    'handler_failed',
    { fails: 'calls webhooks.verify() wrongly', likely: 'Its response says what to pass.' },
  ],
  [noSecret, 'no_secret'],
  [parsedObject, 'parsed_object'],
  [
    consumedBody,
    'body_consumed',
    { consumed: 'reads the body twice, or something in front of it has already read it' },
  ],
];

/** Returns the reason why a handler rejects a valid delivery, if its response states it. */
export function statedFault(
  { body = '' }: Sent,
  sentBody: string,
  framework: string | undefined,
  words = String(parseObject(body)?.error),
): Finding | undefined {
  const [code, facts] = firstOf(knownMessages, body) ?? bytesSymptom(body, sentBody) ?? [];
  return code && findingOf(code, framework, { evidence: comparison(body, sentBody), words, ...facts });
}

function bytesSymptom(body: string, sentBody: string): Symptom | undefined {
  const received = reportedBody(body);
  if (!received || received.sha256 === sha256(sentBody)) return undefined;
  if (received.bytes === 0) return ['body_consumed'];
  const compact = Buffer.byteLength(JSON.stringify(JSON.parse(sentBody)));
  return ['re_encodes', received.bytes === compact ? {} : { changed: 'changed on the way' }];
}

/** Returns the size and hash that `webhooks.handler()` and `verify()` report of the body that they received. */
export function reportedBody(response: string): { bytes: number; sha256: string } | undefined {
  const { bytes, sha256: sha } = parseObject(response) ?? {};
  const isSaid = typeof sha === 'string' && typeof bytes === 'number' && Number.isInteger(bytes);
  return isSaid ? { bytes, sha256: sha.toLowerCase() } : undefined;
}

/** Compares the bytes that were sent with those that the handler reports, in one sentence; empty if it reports none. */
export function comparison(response: string, sentBody: string): string {
  const received = reportedBody(response);
  if (!received) return '';
  return received.sha256 === sha256(sentBody)
    ? 'Your handler verified exactly the bytes that were sent.'
    : `We sent ${Buffer.byteLength(sentBody)} bytes, your handler verified ${received.bytes}.`;
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

type Failure = Omit<Sent, 'headers' | 'body'> & {
  target: string;
  responseHeaders?: Sent['headers'];
  responseBody?: Sent['body'];
};

/** Returns the probable fault of a receiver and its fix, from one response, and names the doctor's command, which finds out for certain. */
export function hintFor(
  { target, responseHeaders: headers, responseBody: body, ...rest }: Failure,
  sentBody: string,
  doctor: string,
): string {
  const ask = ` To find out why: ${doctor}`;
  const sent = asServed({ ...rest, headers, body }, target);
  const framework = frameworkOf([sent]);
  const blocked = unreachable(sent, target, framework);
  if (blocked) return `${blocked.problem} ${blocked.fix}${sent.status === undefined ? '' : ask}`;
  const fault = statedFault(sent, sentBody, framework) ?? guess(sent, sentBody, framework);
  return [fault.problem, fault.evidence, fault.fix].filter(Boolean).join(' ') + ask;
}

function guess({ status = 0, body = '' }: Sent, sentBody: string, framework: string | undefined) {
  if (reportedBody(body))
    return findingOf('secret_or_scheme', framework, { evidence: comparison(body, sentBody) });
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
