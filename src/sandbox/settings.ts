import type { WebhookTarget } from '../doctor/delivery.js';
import { closest } from '../schemas/closest.js';
import { hasBlankOrControl, parseAbsoluteUrl } from '../schemas/url.js';
import { defaultMessages, type PageMessages } from './pages/payment/messages.js';
import { SandboxError } from './sandbox-error.js';
import { type Choices, readChoices } from './service/choices.js';
import { type Duration, milliseconds } from './service/duration.js';
import { randomId } from './service/ids.js';
import type { SandboxSnapshot } from './service/snapshot.js';
import type { UnspecifiedChoices } from './service/unspecified.js';

/** Options of `createSandbox()`. All have a default that suits a test. */
export interface SandboxOptions {
  /** Default: `service_test_` and random characters. */
  apiKey?: string | undefined;
  /** Default: random. */
  webhookSecret?: string | undefined;
  /** Where webhooks go. Default: nowhere; events are kept and can be delivered later. */
  webhook?: WebhookTarget | undefined;
  /**
   * When the first attempt is made: `'auto'` at once (default), `'manual'` when `deliver()` is called, or after a
   * delay on the sandbox's clock.
   */
  webhooks?:
    | 'auto'
    | 'manual'
    | {
        /** On the sandbox's clock. */
        delay: Duration;
      }
    | undefined;
  /** Makes ids repeat from run to run. Default: random, so that they never meet ids in a merchant's own database. */
  seed?: number | undefined;
  /** Where the clock starts. A `Date` freezes it: only `advanceTime` and `setTime` move it. Default `'real'`. */
  now?: Date | 'real' | undefined;
  /** Currency of the balance. Default `'USD'`. */
  currency?: string | undefined;
  /** Origin of payment page URLs, if the browser knows the sandbox by another address. Default: `url`. */
  publicUrl?: string | undefined;
  /** What to do where the specification is silent. */
  unspecified?: Partial<UnspecifiedChoices> | undefined;
  /** Shown on the payment page of a checkout without `displayMerchantName`. Default `'Sandbox shop'`. */
  merchantName?: string | undefined;
  /** Other texts for the payment page, such as a translation. Default: English. */
  messages?: Partial<PageMessages> | undefined;
  /** Restores what `snapshot()` returned. Options given beside it win. */
  from?: SandboxSnapshot | undefined;
  /** For code that insists on the live prefix: the key then begins with it, and only that one key is accepted. */
  acceptPrefix?: 'service_live_' | undefined;
  /** The clock in signatures. Default `'real'`, so that a moved clock fails no receiver's tolerance check. */
  signatureTime?: 'real' | 'virtual' | undefined;
  /**
   * How event bodies are encoded. Default `'spaced'`: with spaces where no encoder writes them, so that a receiver
   * which parses and re-encodes the body before verifying it fails here and not in production.
   */
  encoding?: 'spaced' | 'compact' | undefined;
  /**
   * Lets webhooks go to public addresses too. Default `false`: this machine and private networks only. Link-local
   * addresses are never called.
   */
  allowRemoteWebhooks?: boolean | undefined;
}

/** Options with their defaults, checked. Key and webhook target change while the sandbox runs. */
export interface Settings {
  apiKey: string;
  readonly webhookSecret: string;
  webhook: WebhookTarget | undefined;
  readonly webhooks: 'auto' | 'manual' | { delayMs: number };
  readonly seed: number | undefined;
  readonly start: number | 'real';
  readonly currency: string;
  readonly publicUrl: string | undefined;
  readonly choices: Choices;
  readonly merchantName: string;
  readonly messages: PageMessages;
  readonly livePrefix: boolean;
  readonly signatureTime: 'real' | 'virtual';
  readonly encoding: 'spaced' | 'compact';
  readonly allowRemote: boolean;
}

/** Bytes of a body that logs keep. */
export const excerptLength = 4096;

/** The prefix of keys that move real money: no sandbox accepts one by accident. */
export const livePrefix = 'service_live_';

const names: readonly string[] = [
  'apiKey',
  'webhookSecret',
  'webhook',
  'webhooks',
  'seed',
  'now',
  'currency',
  'publicUrl',
  'unspecified',
  'merchantName',
  'messages',
  'from',
  'acceptPrefix',
  'signatureTime',
  'encoding',
  'allowRemoteWebhooks',
] satisfies (keyof SandboxOptions)[];

/** `saved` are the keys of the snapshot that the sandbox goes on from. */
export function readSettings(
  options: SandboxOptions,
  saved?: { apiKey: string; webhookSecret: string },
): Settings {
  const unknown = Object.keys(options).find((name) => !names.includes(name));
  if (unknown !== undefined) {
    const meant = closest(unknown, names);
    throw invalid(
      `${unknown} is not an option. ${meant === undefined ? `Known are ${names.join(', ')}.` : `Did you mean ${meant}?`}`,
    );
  }
  const { now = 'real', currency = 'USD', webhooks = 'auto', seed } = options;
  const live = options.acceptPrefix === livePrefix;
  if (now !== 'real' && !(now instanceof Date && Number.isFinite(now.getTime())))
    throw invalid('now: pass a Date, or "real".');
  if (!/^[A-Z]{3}$/.test(currency)) throw invalid('currency: pass a three-letter ISO code, such as "USD".');
  if (seed !== undefined && !Number.isSafeInteger(seed)) throw invalid('seed: pass an integer.');
  if (typeof webhooks === 'string' && webhooks !== 'auto' && webhooks !== 'manual')
    throw invalid('webhooks: pass "auto", "manual" or { delay: "10s" }.');
  return {
    apiKey: checkedKey(options.apiKey ?? saved?.apiKey ?? newApiKey(live), live),
    webhookSecret: withoutBlanks(
      options.webhookSecret ?? saved?.webhookSecret ?? `whsec_${randomId()}`,
      'webhookSecret',
    ),
    webhook: checkedTarget(options.webhook),
    webhooks:
      typeof webhooks === 'object' ? { delayMs: milliseconds(webhooks.delay, 'webhooks.delay') } : webhooks,
    seed,
    start: now === 'real' ? 'real' : now.getTime(),
    currency,
    publicUrl: options.publicUrl === undefined ? undefined : checkedOrigin(options.publicUrl),
    choices: readChoices(options.unspecified),
    merchantName: options.merchantName ?? 'Sandbox shop',
    messages: { ...defaultMessages, ...options.messages },
    livePrefix: live,
    signatureTime: options.signatureTime ?? 'real',
    encoding: options.encoding ?? 'spaced',
    allowRemote: options.allowRemoteWebhooks ?? false,
  };
}

export const newApiKey = (live: boolean): string => `${live ? livePrefix : 'service_test_'}${randomId()}`;

function checkedKey(key: string, live: boolean): string {
  if (withoutBlanks(key, 'apiKey').startsWith(livePrefix) && !live) {
    throw invalid(
      `apiKey begins with ${livePrefix}: a live key moves real money. Leave the option out, or pass acceptPrefix: ` +
        `'${livePrefix}' with a key that is not a real one.`,
    );
  }
  return key;
}

function withoutBlanks(text: string, name: string): string {
  if (text !== '' && !hasBlankOrControl(text)) return text;
  throw invalid(`${name}: pass a string without white space.`);
}

/** A webhook target that can be called: an http(s) URL without credentials, or a function. */
export function checkedTarget(target: WebhookTarget | undefined): WebhookTarget | undefined {
  if (target === undefined || typeof target === 'function') return target;
  const url = parseAbsoluteUrl(target);
  if (url && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '') return target;
  throw invalid(
    'webhook: pass an absolute http: or https: URL without user and password, or a route handler.',
  );
}

function checkedOrigin(text: string): string {
  const url = parseAbsoluteUrl(text);
  if (url && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`) return url.origin;
  throw invalid('publicUrl: pass an origin, such as "http://localhost:4380".');
}

function invalid(message: string): SandboxError {
  return new SandboxError('invalid_options', `createSandbox: ${message}`);
}
