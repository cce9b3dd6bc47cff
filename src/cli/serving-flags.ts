import { readFileSync } from 'node:fs';
import { duration } from '../sandbox/checks.js';
import { choiceNames, choicesProblem, type UnspecifiedChoices } from '../sandbox/service/choices.js';
import type { SandboxSnapshot } from '../sandbox/service/store.js';
import type { SandboxOptions } from '../sandbox/settings.js';
import { isQuoted } from '../schemas/url.js';
import { type Flags, type FlagTable, jsonOrText } from './command.js';
import { readSchemeFlag, schemeFlag } from './scheme-flag.js';
import { codeOf, UsageError } from './terminal.js';

/** Constants, so that an .env file keeps working. They are valid only for sandboxes. */
export const sandboxKey = 'service_test_sandbox_0000';
export const sandboxSecret = 'whsec_sandbox_00000000000000000000';

export const usualPort = 4380;

export const servingFlags = {
  port: { value: '<port>', env: 'SANDBOX_PORT', text: `port to listen on; default ${usualPort}` },
  host: {
    value: '<address>',
    env: 'SANDBOX_HOST',
    text: 'address to listen on; default 127.0.0.1, this machine alone',
  },
  'webhook-url': {
    value: '<url>',
    env: 'SANDBOX_WEBHOOK_URL',
    text: 'where webhooks go; without one, events are kept',
  },
  webhooks: {
    value: '<when>',
    env: 'SANDBOX_WEBHOOKS',
    text: 'when they go: auto (default), manual, or after a delay such as 10s',
  },
  scheme: schemeFlag,
  unspecified: {
    value: '<name=value>',
    text: 'changes what the specification leaves open, such as cancel=close; may be repeated',
    multiple: true,
  },
  'api-key': { value: '<key>', env: 'SANDBOX_API_KEY', text: `default ${sandboxKey}` },
  'webhook-secret': { value: '<secret>', env: 'SANDBOX_WEBHOOK_SECRET', text: `default ${sandboxSecret}` },
  'public-url': {
    value: '<origin>',
    env: 'SANDBOX_PUBLIC_URL',
    text: 'origin of payment page URLs, as seen by the browser',
  },
  'allow-host': {
    value: '<name>',
    env: 'SANDBOX_ALLOW_HOSTS',
    text: 'another host name that the pages respond to; may be repeated',
    multiple: true,
  },
  data: { value: '<file>', env: 'SANDBOX_DATA', text: 'keeps all data in this file; default: memory alone' },
  'seed-file': {
    value: '<file>',
    text: 'products that are there at the start and after a reset: a JSON array of what POST /v1/products takes',
  },
  seed: { value: '<integer>', text: 'makes ids repeat from run to run' },
  'allow-remote': { text: 'lets webhooks go to public addresses too' },
  'allow-production': { text: 'starts although NODE_ENV is production' },
} as const satisfies FlagTable;

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
  if (isQuoted(text)) throw new UsageError(`${flags.source(name)} is in quotes or <…>. Remove them.`);
  return text;
}

/** The other host names; a URL would never be one. */
export function allowedHosts(flags: ServingFlags): readonly string[] {
  const hosts = flags.list('allow-host');
  const wrong = hosts.find((host) => host.includes('/'));
  if (wrong === undefined) return hosts;
  throw new UsageError(
    `${flags.source('allow-host')}: ${JSON.stringify(wrong)} is not a host name. Pass one such as "sandbox.test".`,
  );
}

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
  const { data: delay } = duration.safeParse(when);
  if (delay !== undefined) return { delay };
  throw new UsageError(
    `${flags.source('webhooks')}: ${JSON.stringify(when)} is not a time. Pass auto, manual, or a delay such as 10s.`,
  );
}

function choicesOf(flags: ServingFlags): Partial<UnspecifiedChoices> {
  const choices: Partial<UnspecifiedChoices> = {};
  for (const given of flags.list('unspecified')) {
    const [, name, text] = /^([^=]+)=(.*)$/s.exec(given) ?? [];
    if (name === undefined || text === undefined)
      throw new UsageError('--unspecified: pass name=value, such as cancel=close.');
    // Text has its unit: `settlement=5` could be seconds or hours. Only a JSON object, as of errorStatus, has other numbers.
    if (/^\[?[1-9][\d.]*\]?$/.test(text) && name !== 'fees' && choiceNames.includes(name))
      throw new UsageError(
        `--unspecified ${name}: ${JSON.stringify(text)} has no unit. Pass one of ms, s, m, h and d with it, as in ${name}=5s.`,
      );
    const chosen = [text, jsonOrText(text), text.split(',')]
      .map((value) => ({ [name]: value }))
      .find((choice) => choicesProblem(choice) === undefined);
    if (!chosen) throw new UsageError(`--unspecified ${choicesProblem({ [name]: text })}`);
    Object.assign(choices, chosen);
  }
  const signature = readSchemeFlag(flags.text('scheme'));
  return signature === undefined ? choices : { ...choices, signature };
}
