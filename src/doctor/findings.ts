import { fixesIn } from './frameworks.js';

const respondFirst = 'Store the event, respond 200, and fulfil in the background.';
const redirects = 'The URL redirects to {location}, and redirects are not followed.';

/** Faults of receivers, each with its fix. `findingOf()` fills in `{fact}`, and `{fact|default}` if a fact may be missing. */
export const findings = {
  // The receiver accepts deliveries that it must reject.
  accepts_forged: [
    'Your handler accepts forged events. It does not verify signatures before it responds, or not all of them, so anybody can report an order as paid.',
    'Verify before anything else, and respond 400 if that fails: {verify}.',
  ],
  accepts_unsigned: [
    'Your handler accepts {unsigned|deliveries without a signature, or with an empty one}, so anybody can report an order as paid.',
    'Reject a delivery without a signature too, whatever its content type: {verify}.',
  ],
  weak_comparison: [
    'Your handler compares only a part of the signature, so it can be guessed.',
    'Compare the whole of both, of the same length: {verify}.',
  ],
  ignores_body: [
    'Your handler accepts a changed body with a signature that was made for another one.',
    'Compute the signature of every delivery over the timestamp, a dot and the raw body.',
  ],
  ignores_timestamp: [
    'Your handler accepts a timestamp that was changed after signing, so old deliveries can be replayed.',
    'Compute the signature over the timestamp header as received, a dot and the raw body.',
  ],
  answers_everything: [
    'Forged events are accepted. Whatever runs here responds with success to every request, on every path.',
    'If it is a catch-all route, a mock or a proxy, use the URL of your handler. If it is your handler, verify first: {verify}.',
  ],
  answers_before_verifying: [
    'Your handler accepts forged events. It responds with success before it verifies, or never verifies.',
    'Verify before you respond, and respond 400 if that fails: {verify}. If this response is its refusal, its secret is not the one that signs these deliveries: set the same on both sides.',
  ],
  login_page: [
    'A web page responds with success to everything: a login page or a single-page app instead of your handler. If it is your handler, it accepts forged events.',
    'Check the path. If your handler is behind a login: {exempt}. If the page is its own, verify first: {verify}.',
  ],
  empty_secret: [
    'Your handler takes an empty secret, or the text of one that is not set, so anybody can sign an order as paid.',
    'Set the secret in the environment of that process, and refuse to start without it.',
  ],
  known_secret: [
    'Your handler {takes|takes a secret that anybody knows}, so anybody can sign an order as paid.',
    "{remedy|Pass the secret as text: await what loads it, and name the field of an object. Accept the sandbox's secret in tests only}.",
  ],
  // A success status with other words may mean a refusal, which only the receiver's author knows.
  refuses_with_success: [
    'Your handler {refuses|responds with success to a forged delivery, in other words than to a valid one}: {valid}, then {forged}.',
    '{say|If the second means refused, respond 400. If not, anybody can forge orders}: verify first ({verify}), and return where that fails.',
  ],
  // The receiver may do nothing for a known order, which cannot be seen from outside.
  trusts_known_orders: [
    'Your handler responds with success to a forged delivery about an order that it has seen before, with another amount: it does not verify that one.',
    'Verify before you look the order up, and respond 400 if that fails: {verify}.',
  ],
  loose_signature: [
    'Your handler accepts the right signature with more beside it.',
    'Compare the whole header, and reject one that comes twice: something in front of your handler may read the other.',
  ],
  not_tested: [
    'No fault was found, but not every forgery was tried, because {because|your handler is too slow}.',
    `{first|${respondFirst}} Then run the doctor again.`,
  ],
  // The receiver verifies other bytes than those that were sent.
  re_encodes: ['Your handler verifies a body that was {changed|parsed and encoded again}.', '{raw}.'],
  parsed_object: ['Your handler verifies a parsed object instead of the raw body.', '{raw}.'],
  body_consumed: [
    'Your handler {consumed|verifies an empty body: something else has already read it}.',
    '{raw}.',
  ],
  trims: ['Your handler trims the body or changes its line ends before verifying.', 'Do neither. {raw}.'],
  wrong_charset: [
    'Your handler decodes the body with a charset other than UTF-8 before it verifies it.',
    'Decode it as UTF-8, never as Latin-1 or ASCII, or not at all. {raw}.',
  ],
  // The receiver verifies with another secret, scheme or clock.
  altered_secret: ["Your handler's secret {alteration}.", '{remedy}.'],
  other_scheme: [
    'Your handler expects a different scheme: {name}.',
    'If the service signs that way (`merchant-payments identify` finds out from one real delivery), pass that scheme to the sandbox and the doctor with --scheme. Otherwise change your handler to {own}.',
  ],
  wrong_time_unit: [
    'Your handler reads the timestamp as {unit}, but it is in Unix seconds.',
    'Compare both in seconds: {fresh}.',
  ],
  secret_or_scheme: [
    'Your handler {rejects|verifies the right bytes, but} its secret is probably not the one that signs these deliveries.',
    'Set the same secret on both sides (PAYMENTS_WEBHOOK_SECRET){again}. If it is the same, compare the signature scheme, and check that your handler verifies the raw body and that its clock is right (`date -u`).',
  ],
  no_secret: [
    'Your handler has no usable secret.',
    'Set the variable that it reads (PAYMENTS_WEBHOOK_SECRET) in the environment of that process, and restart it.',
  ],
  wrong_clock: [
    "The clock of your handler's server is {skew|off by an unknown amount}, or it has too short a tolerance, or reads the timestamp in another time zone or unit.",
    'If `date -u` is right there, compare Unix times: {fresh}. If not, synchronise the clock with NTP (timedatectl set-ntp true).',
  ],
  wrong_tolerance: [
    'Your handler rejects a delivery that was signed just now, and accepts one that was signed {when}: it compares the wrong way round, with a tolerance of zero, or by a clock that is off.',
    'Reject only timestamps more than 300 s from now: {fresh}.',
  ],
  header_lost: [
    'Your handler says that a signature header is missing, or came twice: {words}.',
    'Check that it reads x-service-signature and x-service-timestamp, and that a proxy in front forwards both unchanged.',
  ],
  no_tolerance: [
    'Your handler accepts a delivery that was signed {when}, so it can be replayed.',
    'Reject timestamps more than 300 s from now ({fresh}; with merchant-payments, leave toleranceSeconds out), and fulfil once per order_id.',
  ],
  // The receiver verifies the delivery, and then fails.
  handler_failed: ['Your handler {fails}.', 'See its log. {likely}'],
  refuses_new_fields: [
    'Your handler rejects an event with an unknown field, so you would lose orders if the service added one.',
    'Ignore unknown fields: no strict() schema, no additionalProperties: false.',
  ],
  refuses_duplicates: [
    'Your handler rejects an order that it has already seen, so a service that retries keeps retrying.',
    'Respond 200 to a duplicate and do nothing: INSERT … ON CONFLICT DO NOTHING, and fulfil only if a row was inserted.',
  ],
  // Deliveries do not reach the handler.
  not_listening: [
    'Nothing is listening on {host}.',
    'Start the receiver, and check the port. In a container, localhost is the container itself: use host.docker.internal or the name of the service. If it listens on IPv4 only, use 127.0.0.1.',
  ],
  host_unknown: ['The host name does not resolve.', 'Check the host in the webhook URL.'],
  tls: ['The TLS connection failed.', '{tls}'],
  connection_lost: [
    'The server {lost|closed the connection without a complete response}.',
    '{look|See the log of your handler: it may have crashed. A server that only speaks https closes the connection of an http request too}.',
  ],
  time_out: [
    'Your handler does not respond in time.',
    `${respondFirst} Look for an \`await\` that never resolves.`,
  ],
  gateway: [
    'A gateway in front of your handler cannot reach it or gave up waiting, or your application is down.',
    `Start the application behind it, and check the port that the gateway forwards to. If it is only slow: ${respondFirst}`,
  ],
  redirect_https: [redirects, 'Register {to}, or remove the redirect.'],
  redirect_slash: [
    'The URL redirects to {location}, and redirects are not followed: only a trailing slash differs.',
    'Register {to}, or remove the redirect.',
  ],
  redirect_login: ['The URL redirects to a login page, {location}.', '{exempt}.'],
  redirect: [redirects, 'Register the URL that it redirects to, or remove the redirect.'],
  not_found: [
    'There is no route for {path}, or the handler there refuses.',
    'Use the whole path of your route, with any prefix or version, or add the route.',
  ],
  wrong_method: [
    '{path} does not accept POST.',
    'Check the path, and export or register the route for POST: webhooks are always POST.',
  ],
  access_check: ['A login or access check rejects deliveries before your handler sees them.', '{exempt}.'],
  csrf: ['A CSRF check rejects deliveries before your handler sees them.', '{exempt}.'],
  rate_limited: ['A rate limit rejects deliveries{since}.', 'Exempt the webhook path from it.'],
  content_type: ['A body parser rejects the content type.', 'Accept application/json on the webhook path.'],
  too_large: [
    'A body limit in front of your handler rejects a delivery of a few hundred bytes.',
    'Raise the limit on the webhook path; 1 MiB is plenty.',
  ],
  // `slow` is a finding if no response comes in time, otherwise a warning.
  slow: ['Your handler {slow|verifies the delivery, and then does not respond in time}.', respondFirst],
} satisfies Record<string, [problem: string, fix: string]>;

/** Codes of the faults that let anybody report an order as paid, or change one. */
const dangers: ReadonlySet<string> = new Set([
  'accepts_forged',
  'accepts_unsigned',
  'weak_comparison',
  'ignores_body',
  'answers_everything',
  'answers_before_verifying',
  'empty_secret',
  'known_secret',
] satisfies FindingCode[]);

/** The code of a finding, the same from version to version. */
export type FindingCode = keyof typeof findings;

/** One fault of a receiver. */
export interface Finding {
  /** Stable code, for programs. */
  code: FindingCode;
  /** `danger` if anybody can forge an order. */
  severity: 'danger' | 'fault';
  /** The fault, in one or two sentences. */
  problem: string;
  /** The line to change. */
  fix: string;
  /** The responses that show the fault. */
  evidence?: string | undefined;
}

export type Facts = Record<string, string | undefined>;

/** Returns a finding, worded for the receiver's framework. */
export function findingOf(code: FindingCode, framework: string | undefined, shown: Facts = {}): Finding {
  const { evidence, ...facts } = shown;
  const known: Facts = { ...fixesIn(framework), ...facts };
  const [problem, fix] = findings[code];
  const fillIn = (text: string) =>
    text
      .replaceAll(/\{(\w+)(?:\|([^}]*))?\}/g, (_, name: string, usual = '') => known[name] ?? `${usual}`)
      .trim();
  const severity = dangers.has(code) ? 'danger' : 'fault';
  return {
    code,
    severity,
    problem: (severity === 'danger' ? 'DANGER: ' : '') + fillIn(problem),
    fix: fillIn(fix),
    ...(evidence && { evidence }),
  };
}
