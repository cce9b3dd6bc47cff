import { type Framework, fixesIn } from './frameworks.js';

/** The page that explains every finding, under a heading named as its code. */
export const troubleshooting = 'docs/webhook-troubleshooting.md';

/** What can be wrong with a receiver, and what to change. `{words}` are filled in by `findingOf()`. */
export const findings = {
  // It takes what it must not.
  accepts_forged: [
    'DANGER: your handler accepts forged events: it verifies no signature, so anybody can report an order as paid.',
    'Verify before anything else, and respond 400 if that fails: {verify}.',
  ],
  accepts_unsigned: [
    'DANGER: your handler accepts deliveries without a signature, so anybody can report an order as paid.',
    'Refuse a delivery that has no signature, too: {verify}.',
  ],
  ignores_body: [
    'DANGER: your handler accepts a changed amount: the body is not part of what it verifies.',
    'Put the raw body into the signed text: the timestamp, a dot, the body.',
  ],
  answers_everything: [
    'DANGER: forged events are accepted: whatever responds here says 200 to anything, at every path.',
    'If it is a catch-all route, a mock or a proxy, register the path of your handler. If it is your handler, verify first: {verify}.',
  ],
  answers_before_verifying: [
    'DANGER: your handler accepts forged events: it responds 200 before it verifies, or never verifies.',
    'Verify before you respond, and respond 400 if that fails: {verify}.',
  ],
  login_page: [
    'A web page responds 200 instead of your handler: a login, or the page of a single-page app.',
    'Check the path. If a login stands before it: {exempt}.',
  ],
  empty_secret: [
    'DANGER: the secret is empty in your handler, so anybody can sign an order as paid.',
    'Set the secret in the environment of that very process, and refuse to start without it.',
  ],
  // It does not verify the bytes that were sent.
  re_encodes: ['Your handler verifies a body that {changed}.', '{raw}.'],
  parsed_object: ['Your handler verifies a parsed object instead of the raw body.', '{raw}.'],
  body_consumed: ['Your handler verifies an empty body: something read it before.', '{raw}.'],
  trims: ['Your handler trims the body before it verifies it.', 'Keep every byte: no {trim}. {raw}.'],
  wrong_charset: [
    'Your handler decodes the body in another charset than UTF-8 before it verifies it.',
    'Verify bytes, or decode them as UTF-8, never as Latin-1 or ASCII. {raw}.',
  ],
  // It verifies in another way.
  secret_slip: ['The secret in your handler {slip}.', '{remedy}.'],
  other_scheme: [
    'Your handler expects another scheme: {name}.',
    'If the service signs that way (`merchant-payments identify` tells from one real delivery), pass that scheme to the sandbox and the doctor with --scheme. Otherwise change your handler to {own}.',
  ],
  wrong_time_unit: [
    'Your handler reads the timestamp as {unit}, and it is in Unix seconds.',
    'Compare both in seconds: {fresh}.',
  ],
  secret_or_scheme: [
    'Your handler verifies {bytes}with another {differs}.',
    'Copy the secret that signs the deliveries into the environment of your handler (PAYMENTS_WEBHOOK_SECRET), and restart it.',
  ],
  no_secret: [
    'Your handler has no usable secret.',
    'Set the variable that it reads (PAYMENTS_WEBHOOK_SECRET) in the environment of that very process.',
  ],
  wrong_clock: [
    'The clock of the server that runs your handler is wrong: to it, a delivery of this second is {skew}.',
    'Set the clock by NTP (timedatectl set-ntp true). Restart a container or virtual machine that slept.',
  ],
  header_lost: [
    'The signature headers do not reach your handler, or reach it twice.',
    'Make the proxy or gateway in front pass on x-service-signature and x-service-timestamp unchanged.',
  ],
  no_tolerance: [
    'Your handler accepts a delivery that was signed a day ago, so an old one can be sent again.',
    'Refuse timestamps more than 300 s from now ({fresh}), and fulfil once per order_id.',
  ],
  // It verifies, and then fails.
  handler_failed: ['Your handler {fails}.', 'See its log. {likely}'],
  refuses_new_fields: [
    'Your handler refuses an event with a field that it does not know, so a new field would lose orders.',
    'Ignore unknown fields: no strict() schema, no additionalProperties: false.',
  ],
  refuses_duplicates: [
    'Your handler refuses an order that it has seen, so a sender that retries never stops.',
    'Respond 200 to a duplicate and do nothing: INSERT … ON CONFLICT DO NOTHING, and fulfil only if a row was inserted.',
  ],
  // It is not reached.
  not_listening: [
    'Nothing listens at {host}.',
    'Start the receiver, and check the port. In a container, localhost is the container itself: use host.docker.internal or the name of the service. If only IPv4 is bound, use 127.0.0.1.',
  ],
  host_unknown: ['The host name does not resolve.', 'Check the host in the webhook URL.'],
  tls: ['The TLS connection fails.', '{tls}'],
  connection_lost: [
    'It closed the connection without a response.',
    'See the log of your handler: it may have crashed. A server that speaks only https also does this to http.',
  ],
  time_out: [
    'Your handler does not respond in time.',
    'Answer first, work later: {queue}. Look for an `await` that never ends.',
  ],
  gateway: [
    'A gateway in front of your handler cannot reach it, or gave up waiting for it.',
    'Start the application behind it, and check the port that the gateway forwards to. If it runs: answer first, work later.',
  ],
  redirect_https: [
    'It redirects to {location}, and redirects are not followed.',
    'Register {to}, or let this URL respond itself.',
  ],
  redirect_slash: [
    'It redirects to {location}, and redirects are not followed: only a final slash differs.',
    'Register {to}, or let this path respond itself.',
  ],
  redirect_login: ['A login stands before your handler.', '{exempt}.'],
  redirect: [
    'It redirects to {location}, and redirects are not followed.',
    'Register the URL that it redirects to, or let this one respond itself.',
  ],
  not_found: [
    'There is no route for {path}.',
    'Register the path of your route, prefix and version included, or add the route.',
  ],
  wrong_method: [
    '{path} takes no POST.',
    'Check the path, and export or register the route for POST: webhooks are always POST.',
  ],
  access_check: ['A login or access check refuses deliveries before your handler sees them.', '{exempt}.'],
  csrf: ['A CSRF check refuses deliveries before your handler sees them.', '{exempt}.'],
  rate_limited: ['A rate limit refuses deliveries.', 'Exempt the webhook path from the rate limit.'],
  content_type: ['A body parser refuses the content type.', 'Let the webhook path take application/json.'],
  too_large: [
    'A body limit in front of your handler refuses a delivery of some hundred bytes.',
    'Raise the limit on the webhook path; 1 MiB is plenty.',
  ],
  // A finding where no response comes in time, else a warning.
  slow: ['Your handler {slow}.', 'Answer first, work later: {queue}.'],
} satisfies Record<string, [problem: string, fix: string]>;

/** What a finding is called, the same from version to version. */
export type FindingCode = keyof typeof findings;

/** One fault of a receiver. */
export interface Finding {
  /** Stable, for programs. */
  code: FindingCode;
  /** What is wrong. */
  problem: string;
  /** The line to change. */
  fix: string;
  /** The page and heading that explain it, such as `docs/webhook-troubleshooting.md#re_encodes`. */
  docs: string;
  /** What showed it. */
  evidence?: string | undefined;
}

/** What is filled in unless the probes showed something else. */
const usual = {
  queue: 'store the event, respond 200, fulfil in the background',
  changed: 'was parsed and encoded again',
  differs: 'secret',
};

/** A finding in the words of the receiver's framework, with the facts that the probes showed. */
export function findingOf(
  code: FindingCode,
  framework: Framework | undefined,
  { evidence, ...facts }: { evidence?: string | undefined; [fact: string]: string | undefined } = {},
): Finding {
  const known: Record<string, string | undefined> = { ...usual, ...fixesIn(framework), ...facts };
  const [problem, fix] = findings[code];
  const filled = (text: string) => text.replaceAll(/\{(\w+)\}/g, (_, name: string) => known[name] ?? '');
  return {
    code,
    problem: filled(problem),
    fix: filled(fix),
    docs: `${troubleshooting}#${code}`,
    ...(evidence === undefined || evidence === '' ? {} : { evidence }),
  };
}
