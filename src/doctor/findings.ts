import type { Finding, FindingCode } from './diagnosis.js';
import { type Framework, fixesIn } from './frameworks.js';

/** The page that explains every finding, under a heading named as its code. */
export const troubleshooting = 'docs/webhook-troubleshooting.md';

/** What can be wrong with a receiver, and what to change. `{words}` are filled in by `findingOf()`. */
export const findings: Readonly<Record<FindingCode, { problem: string; fix: string }>> = {
  accepts_forged: {
    problem:
      'DANGER: your handler accepts forged events: it verifies no signature, so anybody can report an order as paid.',
    fix: 'Verify before anything else, and respond 400 if that fails: {verify}.',
  },
  accepts_unsigned: {
    problem:
      'DANGER: your handler accepts deliveries without a signature, so anybody can report an order as paid.',
    fix: 'Refuse a delivery that has no signature, too: {verify}.',
  },
  ignores_body: {
    problem: 'DANGER: your handler accepts a changed amount: the body is not part of what it verifies.',
    fix: 'Put the raw body into the signed text: the timestamp, a dot, the body.',
  },
  answers_everything: {
    problem:
      'DANGER: forged events are accepted: whatever responds here says 200 to anything, at every path.',
    fix: 'If it is a catch-all route, a mock or a proxy, register the path of your handler. If it is your handler, verify first: {verify}.',
  },
  answers_before_verifying: {
    problem:
      'DANGER: your handler accepts forged events: it responds 200 before it verifies, or never verifies.',
    fix: 'Verify before you respond, and respond 400 if that fails: {verify}.',
  },
  login_page: {
    problem: 'A web page responds 200 instead of your handler: a login, or the page of a single-page app.',
    fix: 'Check the path. If a login stands before it: {exempt}.',
  },
  empty_secret: {
    problem: 'DANGER: the secret is empty in your handler, so anybody can sign an order as paid.',
    fix: 'Set the secret in the environment of that very process, and refuse to start without it.',
  },
  re_encodes: {
    problem: 'Your handler verifies a body that {changed}.',
    fix: '{raw}.',
  },
  parsed_object: {
    problem: 'Your handler verifies a parsed object instead of the raw body.',
    fix: '{raw}.',
  },
  body_consumed: {
    problem: 'Your handler verifies an empty body: something read it before.',
    fix: '{raw}.',
  },
  trims: {
    problem: 'Your handler trims the body before it verifies it.',
    fix: 'Keep every byte: no {trim}. {raw}.',
  },
  wrong_charset: {
    problem: 'Your handler decodes the body in another charset than UTF-8 before it verifies it.',
    fix: 'Verify bytes, or decode them as UTF-8, never as Latin-1 or ASCII. {raw}.',
  },
  secret_slip: {
    problem: 'The secret in your handler {slip}.',
    fix: '{remedy}.',
  },
  other_scheme: {
    problem: 'Your handler expects another scheme: {name}.',
    fix: 'If the service signs that way (`merchant-payments identify` tells from one real delivery), pass that scheme to the sandbox and the doctor with --scheme. Otherwise change your handler to {own}.',
  },
  wrong_time_unit: {
    problem: 'Your handler reads the timestamp as {unit}, and it is in Unix seconds.',
    fix: 'Compare both in seconds: {fresh}.',
  },
  secret_or_scheme: {
    problem: 'Your handler verifies {bytes}with another {differs}.',
    fix: 'Copy the secret that signs the deliveries into the environment of your handler (PAYMENTS_WEBHOOK_SECRET), and restart it.',
  },
  no_secret: {
    problem: 'Your handler has no usable secret.',
    fix: 'Set the variable that it reads (PAYMENTS_WEBHOOK_SECRET) in the environment of that very process.',
  },
  wrong_clock: {
    problem:
      'The clock of the server that runs your handler is wrong: to it, a delivery of this second is {skew}.',
    fix: 'Set the clock by NTP (timedatectl set-ntp true). Restart a container or virtual machine that slept.',
  },
  header_lost: {
    problem: 'The signature headers do not reach your handler, or reach it twice.',
    fix: 'Make the proxy or gateway in front pass on x-service-signature and x-service-timestamp unchanged.',
  },
  handler_failed: {
    problem: 'Your handler {fails}.',
    fix: 'See its log. {likely}',
  },
  refuses_new_fields: {
    problem:
      'Your handler refuses an event with a field that it does not know, so a new field would lose orders.',
    fix: 'Ignore unknown fields: no strict() schema, no additionalProperties: false.',
  },
  refuses_duplicates: {
    problem: 'Your handler refuses an order that it has seen, so a sender that retries never stops.',
    fix: 'Respond 200 to a duplicate and do nothing: INSERT … ON CONFLICT DO NOTHING, and fulfil only if a row was inserted.',
  },
  not_listening: {
    problem: 'Nothing listens at {host}.',
    fix: 'Start the receiver, and check the port. In a container, localhost is the container itself: use host.docker.internal or the name of the service. If only IPv4 is bound, use 127.0.0.1.',
  },
  host_unknown: {
    problem: 'The host name does not resolve.',
    fix: 'Check the host in the webhook URL.',
  },
  tls: {
    problem: 'The TLS connection fails.',
    fix: '{tls}',
  },
  connection_lost: {
    problem: 'It closed the connection without a response.',
    fix: 'See the log of your handler: it may have crashed. A server that speaks only https also does this to http.',
  },
  time_out: {
    problem: 'Your handler does not respond in time.',
    fix: 'Answer first, work later: {queue}. Look for an `await` that never ends.',
  },
  gateway: {
    problem: 'A gateway in front of your handler cannot reach it, or gave up waiting for it.',
    fix: 'Start the application behind it, and check the port that the gateway forwards to. If it runs: answer first, work later.',
  },
  redirect_https: {
    problem: 'It redirects to {location}, and redirects are not followed.',
    fix: 'Register {to}, or let this URL respond itself.',
  },
  redirect_slash: {
    problem: 'It redirects to {location}, and redirects are not followed: only a final slash differs.',
    fix: 'Register {to}, or let this path respond itself.',
  },
  redirect_login: {
    problem: 'A login stands before your handler.',
    fix: '{exempt}.',
  },
  redirect: {
    problem: 'It redirects to {location}, and redirects are not followed.',
    fix: 'Register the URL that it redirects to, or let this one respond itself.',
  },
  not_found: {
    problem: 'There is no route for {path}.',
    fix: 'Register the path of your route, prefix and version included, or add the route.',
  },
  wrong_method: {
    problem: '{path} takes no POST.',
    fix: 'Check the path, and export or register the route for POST: webhooks are always POST.',
  },
  access_check: {
    problem: 'A login or access check refuses deliveries before your handler sees them.',
    fix: '{exempt}.',
  },
  csrf: {
    problem: 'A CSRF check refuses deliveries before your handler sees them.',
    fix: '{exempt}.',
  },
  rate_limited: {
    problem: 'A rate limit refuses deliveries.',
    fix: 'Exempt the webhook path from the rate limit.',
  },
  content_type: {
    problem: 'A body parser refuses the content type.',
    fix: 'Let the webhook path take application/json.',
  },
  too_large: {
    problem: 'A body limit in front of your handler refuses a delivery of some hundred bytes.',
    fix: 'Raise the limit on the webhook path; 1 MiB is plenty.',
  },
  no_tolerance: {
    problem: 'Your handler accepts a delivery that was signed a day ago, so an old one can be sent again.',
    fix: 'Refuse timestamps more than 300 s from now ({fresh}), and fulfil once per order_id.',
  },
  slow: {
    problem: 'Your handler {slow}.',
    fix: 'Answer first, work later: {queue}.',
  },
};

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
  const { problem, fix } = findings[code];
  const filled = (text: string) => text.replaceAll(/\{(\w+)\}/g, (_, name: string) => known[name] ?? '');
  return {
    code,
    problem: filled(problem),
    fix: filled(fix),
    docs: `${troubleshooting}#${code}`,
    ...(evidence === undefined || evidence === '' ? {} : { evidence }),
  };
}
