import { existsSync, realpathSync } from 'node:fs';
import type { Issue } from '../errors.js';
import { durationMs } from '../input/duration.js';
import { issuesInWords, readInput } from '../input/read.js';
import { isQuoted } from '../input/url.js';
import { InvalidOptions, SandboxError } from '../sandbox/checks.js';
import type { SandboxContext } from '../sandbox/context.js';
import { createContext } from '../sandbox/create.js';
import { usualPort } from '../sandbox/http/listening.js';
import { choicesSchema, type UnspecifiedChoices } from '../sandbox/service/choices.js';
import { span } from '../sandbox/service/clock.js';
import type { SandboxOptions } from '../sandbox/settings.js';
import { resolvedProblem } from '../sending/address.js';
import { sandboxKey, sandboxSecret } from '../sending/published.js';
import { type Flags, type FlagTable, jsonOrText } from './command.js';
import { keepData, loadData } from './data-file.js';
import { readSchemeFlag, schemeFlag } from './signing.js';
import { CommandError, describeReadError, refuseUnless, textIn, UsageError, variable } from './terminal.js';

export const servingFlags = {
  port: ['<port>', `port to listen on; default ${usualPort}`, { env: 'SANDBOX_PORT' }],
  host: [
    '<address>',
    'address to listen on; default 127.0.0.1, which only this machine reaches',
    { env: 'SANDBOX_HOST' },
  ],
  'webhook-url': ['<url>', 'where webhooks go; without one, events are kept', { env: 'SANDBOX_WEBHOOK_URL' }],
  webhooks: [
    '<when>',
    'when webhooks are sent: auto (default: at once), manual (by deliver), or a delay such as 10s',
    { env: 'SANDBOX_WEBHOOKS' },
  ],
  scheme: schemeFlag,
  unspecified: ['<name=value>', 'sets what the spec leaves open, such as cancel=close', { multiple: true }],
  'api-key': [
    '<key>',
    `the only API key that is accepted; default ${sandboxKey}`,
    { env: 'SANDBOX_API_KEY' },
  ],
  'webhook-secret': [
    '<secret>',
    `signs webhooks; default ${sandboxSecret}`,
    { env: 'SANDBOX_WEBHOOK_SECRET' },
  ],
  'public-url': [
    '<origin>',
    'origin of payment pages, if browsers do not reach the sandbox under the one it prints',
    { env: 'SANDBOX_PUBLIC_URL' },
  ],
  'allow-host': [
    '<name>',
    'a host name to respond to, besides localhost',
    { env: 'SANDBOX_ALLOW_HOSTS', multiple: true },
  ],
  data: [
    '<file>',
    'keeps all data in this file over a restart; default: in memory only',
    { env: 'SANDBOX_DATA' },
  ],
  products: [
    '<file>',
    'products that exist at the start and after a reset: a JSON array of what POST /v1/products takes',
  ],
  seed: ['<integer>', 'the same integer gives the same ids in each run; default: random ids'],
  'allow-remote': ['', 'also sends webhooks to public addresses'],
} satisfies FlagTable;

type Name = keyof typeof servingFlags;

/** Flags by the option of `createSandbox()` that may be invalid, for messages. */
const flagOf = new Map<string, Name>([
  ['apiKey', 'api-key'],
  ['webhookSecret', 'webhook-secret'],
  ['webhook', 'webhook-url'],
  ['publicUrl', 'public-url'],
  ['products', 'products'],
]);

export async function startServing(flags: Flags<Name>, defaultPort: number, webhook?: string) {
  if (process.env.NODE_ENV === 'production')
    throw new CommandError('NODE_ENV is production, where no sandbox belongs. Unset it for this command.');
  const port = flags.integer('port', 0, 65_535) ?? defaultPort;
  const data = flags.text('data');
  // Saving would replace a symbolic link by a file, and lock another path, so the link is resolved.
  const path = data !== undefined && existsSync(data) ? realpathSync(data) : data;
  const from = path === undefined ? undefined : loadData(path);
  const options: SandboxOptions = {
    apiKey: readUnquoted(flags, 'api-key') ?? (from ? undefined : sandboxKey),
    webhookSecret: readUnquoted(flags, 'webhook-secret') ?? (from ? undefined : sandboxSecret),
    webhook: webhook ?? withScheme(flags.text('webhook-url')),
    webhooks: webhooksOf(flags),
    publicUrl: flags.text('public-url'),
    seed: flags.integer('seed', 0, Number.MAX_SAFE_INTEGER),
    unspecified: choicesOf(flags),
    allowRemoteWebhooks: flags.has('allow-remote'),
    products: readProducts(flags.text('products')),
    from,
  };
  let context: SandboxContext;
  try {
    context = createContext(options);
  } catch (error) {
    const [issue] = InvalidOptions.issuesOf(error) ?? [];
    const [option = '', ...rest] = issue?.path.split('.') ?? [];
    const flag = flagOf.get(option);
    if (!issue || flag === undefined) throw error;
    if (from !== undefined && flags.text(flag) === undefined)
      throw new CommandError(
        `--data: in ${path}, ${issue.path} ${issue.message} --${flag} takes precedence over it.`,
      );
    throw new UsageError(`${[flags.source(flag), ...rest].join('.')} ${issue.message}`);
  }
  const { sandbox, settings } = context;
  const problem = await resolvedProblem(settings.webhook, settings.allowRemoteWebhooks);
  refuseUnless(problem === undefined, `${flags.source('webhook-url')} ${problem}`);
  const save = path === undefined ? undefined : keepData(path, () => sandbox.snapshot(), context.changed);
  const host = flags.text('host');
  const accessToken = variable('SANDBOX_TOKEN');
  const allowHosts = allowedHosts(flags);
  await sandbox.listen({ port, host, allowHosts, accessToken }).catch(async (error: unknown) => {
    if (!(error instanceof SandboxError && error.code === 'port_taken')) throw error;
    const isOther = await isSandbox(`http://${host ?? '127.0.0.1'}:${port}`);
    const what = isOther ? 'taken by another sandbox. Use that one, end it' : 'taken. End what uses it';
    throw new CommandError(`Port ${port} is ${what}, or choose another port with --port (0: a free one).`);
  });
  const end = async () => {
    await sandbox.close();
    await save?.();
  };
  const loaded = from === undefined ? undefined : describeData(path ?? '', context);
  return { context, end, loaded };
}

/** Describes the data that a file held, and a clock that may surprise. */
function describeData(path: string, { store, clock }: SandboxContext): string {
  const count = (size: number, noun: string) => `${size} ${noun}${size === 1 ? '' : 's'}`;
  const ahead = clock.now() - Date.now();
  const away = Math.abs(ahead) < 60_000 ? '' : `${span(Math.abs(ahead))} ${ahead > 0 ? 'ahead' : 'behind'}`;
  const strange = clock.runs
    ? away && `the clock is ${away}`
    : `the clock stands still${away && `, ${away}`}`;
  return [
    `Data: ${path}, ${count(store.products.size, 'product')}, ${count(store.orders.size, 'order')}`,
    strange,
  ]
    .filter(Boolean)
    .join('; ');
}

const isSandbox = (url: string): Promise<boolean> =>
  fetch(`${url}/_sandbox/health`, { signal: AbortSignal.timeout(1000) })
    .then(async (response) => (await response.text()).startsWith('{"status":"ok","now":'))
    .catch(() => false);

/** Returns an address such as `localhost:3000/webhooks` as an http: URL. */
export const withScheme = (address: string | undefined): string | undefined =>
  address !== undefined && /^(?:[\w.-]+|\[[\da-f:]+\]):\d+(?:[/?#]|$)/i.test(address)
    ? `http://${address}`
    : address;

/** Reads a key or a secret. Throws if it is in quotes, because the client and the receiver refuse it too. */
function readUnquoted(flags: Flags<Name>, name: 'api-key' | 'webhook-secret'): string | undefined {
  const text = flags.text(name);
  refuseUnless(!isQuoted(text), `${flags.source(name)} is in quotes or <…>. Remove them.`);
  return text;
}

/** Reads the allowed host names as a URL normalizes them: in lower case, without port. */
const allowedHosts = (flags: Flags<Name>): readonly string[] =>
  flags.list('allow-host').map((host) => {
    const url = URL.canParse(`http://${host}`) ? new URL(`http://${host}`) : undefined;
    const problem = `${JSON.stringify(host)} is not a host name. Pass one such as "sandbox.test".`;
    refuseUnless(url && !host.includes('/'), `${flags.source('allow-host')} ${problem}`);
    return url.hostname;
  });

/** Reads the JSON in a file. `createSandbox()` checks the products. */
function readProducts(file: string | undefined): SandboxOptions['products'] {
  if (file === undefined) return undefined;
  try {
    return JSON.parse(textIn(file));
  } catch (error) {
    const problem = `${file} could not be read: ${describeReadError(error)}`;
    throw new UsageError(`--products: ${problem}. Pass a JSON array of products.`);
  }
}

function webhooksOf(flags: Flags<Name>): SandboxOptions['webhooks'] {
  const when = flags.text('webhooks') ?? 'auto';
  if (when === 'auto' || when === 'manual') return when;
  const refusal = (issues: readonly Issue[]) =>
    new UsageError(`${issuesInWords(issues, flags.source('webhooks'))} Or pass auto or manual.`);
  return { delay: readInput(durationMs(), when, refusal) };
}

function choicesOf(flags: Flags<Name>): Partial<UnspecifiedChoices> {
  const choices: Partial<UnspecifiedChoices> = {};
  for (const given of flags.list('unspecified')) {
    const [, name = '', text = ''] = /^([^=]+)=(.*)$/s.exec(given) ?? [];
    refuseUnless(name, '--unspecified: pass name=value, such as cancel=close.');
    const fits = (value: unknown) => choicesSchema.safeParse({ [name]: value }).success;
    // `settlement=5` could mean seconds or hours, so a unit is required.
    const [, number = ''] = /^\[?([1-9][\d.]*)\]?$/.exec(text) ?? [];
    const lacksUnit = number !== '' && [`${number}s`, [`${number}s`]].some(fits);
    const problem = `${JSON.stringify(text)} has no unit. Pass one of ms, s, m, h and d, as in ${name}=5s.`;
    refuseUnless(!lacksUnit, `--unspecified ${name}: ${problem}`);
    const json = jsonOrText(text);
    const value = [text, json, text.split(',')].find(fits) ?? json;
    readInput(
      choicesSchema,
      { [name]: value },
      (issues) => new UsageError(`--unspecified ${issuesInWords(issues, name)}`),
    );
    Object.assign(choices, { [name]: value });
  }
  const signature = readSchemeFlag(flags.text('scheme'));
  return signature === undefined ? choices : { ...choices, signature };
}
