import { closest } from '../schemas/closest.js';
import { hasBlankOrControl, parseAbsoluteUrl } from '../schemas/url.js';
import { defaultMessages, type PageMessages } from './pages/payment/messages.js';
import { SandboxError } from './sandbox-error.js';
import { milliseconds } from './service/duration.js';
import { randomText } from './service/ids.js';
import type { SnapshotContent } from './service/snapshot.js';
import { type Choices, readChoices } from './service/unspecified.js';
import type { SandboxOptions, WebhookTarget } from './types.js';

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

const names = [
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
] as const satisfies readonly (keyof SandboxOptions)[];

/** The prefix of keys that move real money: no sandbox takes one by accident. */
export const livePrefix = 'service_live_';

export function readSettings(options: SandboxOptions, saved?: SnapshotContent): Settings {
  for (const name of Object.keys(options)) {
    if (names.some((known) => known === name)) continue;
    const meant = closest(name, names);
    throw invalid(
      `${name} is no option. ${meant === undefined ? `Known are ${names.join(', ')}.` : `Did you mean ${meant}?`}`,
    );
  }
  const { now = 'real', currency = 'USD', publicUrl, webhooks = 'auto', seed } = options;
  const live = options.acceptPrefix === livePrefix;
  const apiKey = options.apiKey ?? saved?.apiKey ?? newApiKey(live);
  const webhookSecret = options.webhookSecret ?? saved?.webhookSecret ?? `whsec_${randomText()}`;
  if (apiKey === '' || hasBlankOrControl(apiKey)) throw invalid('apiKey: pass text without white space.');
  if (apiKey.startsWith(livePrefix) && !live) {
    throw invalid(
      `apiKey begins with ${livePrefix}: a live key moves real money. Leave the option out, or pass acceptPrefix: ` +
        `'${livePrefix}' with a key that is not a real one.`,
    );
  }
  if (webhookSecret === '' || hasBlankOrControl(webhookSecret))
    throw invalid('webhookSecret: pass text without white space.');
  if (now !== 'real' && !(now instanceof Date && Number.isFinite(now.getTime())))
    throw invalid('now: pass a Date, or "real".');
  if (!/^[A-Z]{3}$/.test(currency)) throw invalid('currency: pass a three-letter ISO code, such as "USD".');
  if (seed !== undefined && !Number.isSafeInteger(seed)) throw invalid('seed: pass an integer.');
  return {
    apiKey,
    webhookSecret,
    webhook: checkedTarget(options.webhook),
    webhooks:
      typeof webhooks === 'object' ? { delayMs: milliseconds(webhooks.delay, 'webhooks.delay') } : webhooks,
    seed,
    start: now === 'real' ? 'real' : now.getTime(),
    currency,
    publicUrl: publicUrl === undefined ? undefined : checkedOrigin(publicUrl),
    choices: readChoices(options.unspecified),
    merchantName: options.merchantName ?? 'Sandbox shop',
    messages: { ...defaultMessages, ...options.messages },
    livePrefix: live,
    signatureTime: options.signatureTime ?? 'real',
    encoding: options.encoding ?? 'spaced',
    allowRemote: options.allowRemoteWebhooks ?? false,
  };
}

export const newApiKey = (live: boolean): string => `${live ? livePrefix : 'service_test_'}${randomText()}`;

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
