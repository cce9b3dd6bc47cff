import * as z from 'zod/mini';
import type { WebhookTarget } from '../doctor/delivery.js';
import { newSecret } from '../doctor/signed.js';
import { hasBlankOrControl, parseAbsoluteUrl } from '../schemas/url.js';
import type { SignatureScheme } from '../webhooks/index.js';
import { readScheme } from '../webhooks/scheme.js';
import { readKey } from '../webhooks/secret.js';
import { choiceOf, closed, problemOf } from './closed.js';
import { defaultMessages, type PageMessages } from './pages/payment/messages.js';
import { SandboxError } from './sandbox-error.js';
import { readChoices } from './service/choices.js';
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
  /** Makes ids repeat from run to run. Default: random, so that they never equal ids in a merchant's own database. */
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
  /** Restores what `snapshot()` returned. Other options take precedence. */
  from?: SandboxSnapshot | undefined;
  /** For code that requires the live prefix: the key then begins with it, and only that one key is accepted. */
  acceptPrefix?: 'service_live_' | undefined;
  /** The clock in signatures. Default `'real'`, so that a moved clock fails no receiver's tolerance check. */
  signatureTime?: 'real' | 'virtual' | undefined;
  /**
   * How event bodies are encoded. Default `'spaced'`: with spaces that no encoder writes, so that a receiver
   * that parses and re-encodes the body before it verifies fails here and not in production.
   */
  encoding?: 'spaced' | 'compact' | undefined;
  /**
   * Lets webhooks go to public addresses too. Default `false`: this machine and private networks only. Link-local
   * addresses are never called.
   */
  allowRemoteWebhooks?: boolean | undefined;
}

/** The prefix of keys that move real money: no sandbox accepts one by accident. */
export const livePrefix = 'service_live_';

/** A string that passes `fits`; otherwise the message. */
const text = (message: string, fits: (value: string) => boolean) =>
  z.string(message).check(z.refine(fits, message));

const token = text(
  'pass a string without white space.',
  (value) => value !== '' && !hasBlankOrControl(value),
);
const targetForm = 'pass an absolute http: or https: URL without user and password, or a route handler.';

const schema = closed(
  {
    apiKey: z.optional(token),
    webhookSecret: z.optional(token),
    webhook: z.optional(z.custom<WebhookTarget>(isTarget, targetForm)),
    webhooks: z._default(
      z.union([z.enum(['auto', 'manual']), z.object({ delay: z.unknown() })], {
        error: 'pass "auto", "manual" or { delay: "10s" }.',
      }),
      'auto',
    ),
    seed: z.optional(z.int('pass an integer.')),
    now: z._default(z.union([z.literal('real'), z.date()], 'pass a Date, or "real".'), 'real'),
    currency: z._default(
      text('pass a three-letter ISO code, such as "USD".', (value) => /^[A-Z]{3}$/.test(value)),
      'USD',
    ),
    publicUrl: z.optional(text('pass an origin, such as "http://localhost:4380".', isOrigin)),
    unspecified: z.optional(z.custom<Partial<UnspecifiedChoices>>()),
    merchantName: z._default(z.string('pass a string.'), 'Sandbox shop'),
    messages: z.optional(z.custom<Partial<PageMessages>>()),
    from: z.optional(z.unknown()),
    acceptPrefix: z.optional(z.literal(livePrefix, `pass "${livePrefix}".`)),
    signatureTime: choiceOf('real', 'virtual'),
    encoding: choiceOf('spaced', 'compact'),
    allowRemoteWebhooks: z._default(z.boolean('pass true or false.'), false),
  } satisfies Record<keyof SandboxOptions, z.ZodMiniType>,
  'an option',
);

/** Options with their defaults, checked. Key and webhook target change while the sandbox runs. */
export type Settings = ReturnType<typeof readSettings>;

/** `saved` has the keys from the snapshot that is restored. */
export function readSettings(options: SandboxOptions, saved?: { apiKey: string; webhookSecret: string }) {
  const apiKey = options.apiKey ?? saved?.apiKey;
  const webhookSecret = options.webhookSecret ?? saved?.webhookSecret;
  const result = schema.safeParse({ ...options, apiKey, webhookSecret });
  if (!result.success) throw invalid(problemOf(result.error));
  const { acceptPrefix, now, webhooks, publicUrl, unspecified, messages, from: _, ...own } = result.data;
  const live = acceptPrefix !== undefined;
  if (!live && own.apiKey?.startsWith(livePrefix))
    throw invalid(
      `apiKey begins with ${livePrefix}: a live key moves real money. Leave the option out, or pass acceptPrefix: ` +
        `'${livePrefix}' with a key that is not a real one.`,
    );
  const choices = readChoices(unspecified);
  if (own.webhookSecret !== undefined) checkEncoding(own.webhookSecret, choices.signature);
  return {
    ...own,
    apiKey: own.apiKey ?? newApiKey(live),
    webhookSecret: own.webhookSecret ?? newSecret(choices.signature),
    webhooks:
      typeof webhooks === 'object' ? { delayMs: milliseconds(webhooks.delay, 'webhooks.delay') } : webhooks,
    start: now === 'real' ? now : now.getTime(),
    publicUrl: publicUrl && new URL(publicUrl).origin,
    choices,
    messages: { ...defaultMessages, ...messages },
    livePrefix: live,
  };
}

function checkEncoding(secret: string, scheme: Partial<SignatureScheme>): void {
  const { secretEncoding } = scheme;
  if (secretEncoding === undefined) return;
  try {
    readKey(secret, readScheme(scheme));
  } catch {
    throw invalid(`webhookSecret: pass ${secretEncoding}, as secretEncoding of the signature scheme says.`);
  }
}

export const newApiKey = (live: boolean): string => `${live ? livePrefix : 'service_test_'}${randomId()}`;

/** A webhook target that can be called. */
export function checkedTarget(target: WebhookTarget | undefined): WebhookTarget | undefined {
  if (target === undefined || isTarget(target)) return target;
  throw invalid(`webhook: ${targetForm}`);
}

function isTarget(target: unknown): boolean {
  if (typeof target !== 'string') return typeof target === 'function';
  const url = parseAbsoluteUrl(target);
  return url !== undefined && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '';
}

function isOrigin(text: string): boolean {
  const url = parseAbsoluteUrl(text);
  return url !== undefined && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`;
}

function invalid(message: string): SandboxError {
  return new SandboxError('invalid_options', `createSandbox: ${message}`);
}
