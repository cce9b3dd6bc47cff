import { readFileSync } from 'node:fs';
import { duration, problemOf } from '../sandbox/checks.js';
import { choicesProblem, type UnspecifiedChoices } from '../sandbox/service/choices.js';
import type { SandboxSnapshot } from '../sandbox/service/store.js';
import type { SandboxOptions } from '../sandbox/settings.js';
import { isQuoted } from '../schemas/url.js';
import { type Flags, type FlagTable, jsonOrText } from './command.js';
import { readSchemeFlag, schemeFlag } from './scheme-flag.js';
import { codeOf, refuseUnless, UsageError } from './terminal.js';

/** Constants, so that an .env file keeps working. They are valid only for sandboxes. */
export const sandboxKey = 'service_test_sandbox_0000';
export const sandboxSecret = 'whsec_sandbox_00000000000000000000';

export const usualPort = 4380;

export const servingFlags = {
  port: ['<port>', `port to listen on; default ${usualPort}`, { env: 'SANDBOX_PORT' }],
  host: ['<address>', 'address to listen on; default 127.0.0.1, this machine alone', { env: 'SANDBOX_HOST' }],
  'webhook-url': ['<url>', 'where webhooks go; without one, events are kept', { env: 'SANDBOX_WEBHOOK_URL' }],
  webhooks: [
    '<when>',
    'when they go: auto (default), manual, or after a delay such as 10s',
    { env: 'SANDBOX_WEBHOOKS' },
  ],
  scheme: schemeFlag,
  unspecified: [
    '<name=value>',
    'changes what the specification leaves open, such as cancel=close',
    { multiple: true },
  ],
  'api-key': ['<key>', `default ${sandboxKey}`, { env: 'SANDBOX_API_KEY' }],
  'webhook-secret': ['<secret>', `default ${sandboxSecret}`, { env: 'SANDBOX_WEBHOOK_SECRET' }],
  'public-url': [
    '<origin>',
    'origin of payment page URLs, as seen by the browser',
    { env: 'SANDBOX_PUBLIC_URL' },
  ],
  'allow-host': [
    '<name>',
    'another host name that the pages respond to',
    { env: 'SANDBOX_ALLOW_HOSTS', multiple: true },
  ],
  data: ['<file>', 'keeps all data in this file; default: memory alone', { env: 'SANDBOX_DATA' }],
  'seed-file': [
    '<file>',
    'products that are there at the start and after a reset: a JSON array of what POST /v1/products takes',
  ],
  seed: ['<integer>', 'makes ids repeat from run to run'],
  'allow-remote': ['', 'lets webhooks go to public addresses too'],
  'allow-production': ['', 'starts although NODE_ENV is production'],
} satisfies FlagTable;

/** The flags of a call, whatever its command says of them. */
export type ServingFlags = Flags<keyof typeof servingFlags>;

/** What the flags say; key and secret are the saved ones, or the constants. */
export const sandboxOptions = (flags: ServingFlags, saved: SandboxSnapshot | undefined): SandboxOptions => ({
  apiKey: unquoted(flags, 'api-key') ?? (saved ? undefined : sandboxKey),
  webhookSecret: unquoted(flags, 'webhook-secret') ?? (saved ? undefined : sandboxSecret),
  webhook: flags.text('webhook-url'),
  webhooks: webhooksOf(flags),
  publicUrl: flags.text('public-url'),
  allowRemoteWebhooks: flags.has('allow-remote'),
  seed: flags.integer('seed', 0, Number.MAX_SAFE_INTEGER),
  unspecified: choicesOf(flags),
  products: productsIn(flags.text('seed-file')),
  from: saved,
});

/** The client and the receiver refuse a key and a secret in quotes. */
function unquoted(flags: ServingFlags, name: 'api-key' | 'webhook-secret'): string | undefined {
  const text = flags.text(name);
  refuseUnless(!isQuoted(text), `${flags.source(name)} is in quotes or <…>. Remove them.`);
  return text;
}

/** The other host names as URLs have them: in lower case, and here without port. */
export const allowedHosts = (flags: ServingFlags): readonly string[] =>
  flags.list('allow-host').map((host) => {
    const url = URL.canParse(`http://${host}`) ? new URL(`http://${host}`) : undefined;
    const problem = `${JSON.stringify(host)} is not a host name. Pass one such as "sandbox.test".`;
    refuseUnless(url && !host.includes('/'), `${flags.source('allow-host')}: ${problem}`);
    return url.hostname;
  });

/** The array in a file. What is in it is checked where products are. */
function productsIn(file: string | undefined): SandboxOptions['products'] {
  if (file === undefined) return undefined;
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    const why = error instanceof SyntaxError ? 'it is not JSON' : (codeOf(error) ?? 'unknown error');
    throw new UsageError(`--seed-file: ${file} could not be read: ${why}. Pass a JSON array of products.`);
  }
}

function webhooksOf(flags: ServingFlags): SandboxOptions['webhooks'] {
  const when = flags.text('webhooks') ?? 'auto';
  if (when === 'auto' || when === 'manual') return when;
  const { data: delay, error } = duration.safeParse(when);
  if (error) throw new UsageError(`${flags.source('webhooks')}: ${problemOf(error)} Or pass auto or manual.`);
  return { delay };
}

function choicesOf(flags: ServingFlags): Partial<UnspecifiedChoices> {
  const choices: Partial<UnspecifiedChoices> = {};
  for (const given of flags.list('unspecified')) {
    const [, name = '', text = ''] = /^([^=]+)=(.*)$/s.exec(given) ?? [];
    refuseUnless(name, '--unspecified: pass name=value, such as cancel=close.');
    const problemOfChoice = (value: unknown) => choicesProblem({ [name]: value });
    const fits = (value: unknown) => problemOfChoice(value) === undefined;
    // A duration has its unit: `settlement=5` could be seconds or hours.
    const [, number] = /^\[?([1-9][\d.]*)\]?$/.exec(text) ?? [];
    refuseUnless(
      number === undefined || ![`${number}s`, [`${number}s`]].some(fits),
      `--unspecified ${name}: ${JSON.stringify(text)} has no unit. Pass one of ms, s, m, h and d with it, as in ${name}=5s.`,
    );
    const json = jsonOrText(text);
    const value = [text, json, text.split(',')].find(fits);
    refuseUnless(value !== undefined, `--unspecified ${problemOfChoice(json)}`);
    Object.assign(choices, { [name]: value });
  }
  const signature = readSchemeFlag(flags.text('scheme'));
  return signature === undefined ? choices : { ...choices, signature };
}
