import * as z from 'zod/mini';
import { type Duration, durationMs } from '../input/duration.js';
import { validDate } from '../input/fields.js';
import { mustBe } from '../input/read.js';
import { hasBlankOrControl, parseAbsoluteUrl } from '../input/url.js';
import { type NewProduct, productCreateParams } from '../schemas/params.js';
import { resolvedProblem, targetProblem } from '../sending/address.js';
import { newSecret, secretProblem, type WebhookTarget } from '../sending/delivery.js';
import type { SignatureScheme } from '../webhooks/index.js';
import { readOptions, refuse } from './checks.js';
import { choicesSchema, signingScheme, type UnspecifiedChoices } from './service/choices.js';
import { randomId } from './service/ids.js';
import type { SandboxSnapshot, SnapshotContent } from './service/snapshot.js';

/** Options of `createSandbox()`. Each has a default that suits a test. */
export interface SandboxOptions {
  /** API key that the sandbox accepts. Default: `service_test_` and random characters. */
  apiKey?: string | undefined;
  /** Secret that signs the events. Default: random. */
  webhookSecret?: string | undefined;
  /** Target of webhooks. Default: none; events are kept and can be delivered later. */
  webhook?: WebhookTarget | undefined;
  /** Time of the first attempt: `'auto'` at once (default), `'manual'` when `deliver()` is called, or after a delay. */
  webhooks?:
    | 'auto'
    | 'manual'
    | {
        /** Delay on the sandbox's clock. In process, `advanceTime()` makes it pass; once the sandbox listens, it passes by itself. */
        delay: Duration;
      }
    | undefined;
  /** Seed that makes ids repeat from run to run. Default: random, so that ids never equal those in a merchant's own database. */
  seed?: number | undefined;
  /** Start of the clock. A `Date` freezes the clock, so that only `advanceTime` and `setTime` move it. Default `'real'`. */
  now?: Date | 'real' | undefined;
  /** Currency of the balance. Default `'USD'`. */
  currency?: string | undefined;
  /** Origin of payment page URLs, if the browser knows the sandbox by another address. Default: `url`. */
  publicUrl?: string | undefined;
  /** Choices for behaviour that the specification does not describe. */
  unspecified?: Partial<UnspecifiedChoices> | undefined;
  /** Name on the payment page of a checkout without `displayMerchantName`. Default `'Sandbox shop'`. */
  merchantName?: string | undefined;
  /** Products that exist at the start, unless `from` has some, and after each `reset()`. */
  products?: readonly NewProduct[] | undefined;
  /** Data to restore, from `snapshot()`. Other options take precedence. */
  from?: SandboxSnapshot | undefined;
  /** Clock of the signatures. Default `'real'`, so that a moved clock fails no receiver's tolerance check. */
  signatureTime?: 'real' | 'virtual' | undefined;
  /** Encoding of event bodies. Default `'spaced'`, which no encoder produces, so that a receiver that re-encodes the body fails here. */
  encoding?: 'spaced' | 'compact' | undefined;
  /** True if webhooks may go to public addresses too. Default `false`: this machine and private networks only. */
  allowRemoteWebhooks?: boolean | undefined;
}

export const seedOption = z.int({ error: mustBe('an integer') });

/** Prefix of keys that move real money. The sandbox refuses them, so that none is used by accident. */
export const livePrefix = 'service_live_';

const text = (message: string, fits: (value: string) => boolean) =>
  z.string(message).check(z.refine(fits, message));

const token = text('must be a string without white space.', (key) => key !== '' && !hasBlankOrControl(key));

const currencyCode = text('must be a three-letter ISO code, such as "USD".', (code) =>
  /^[A-Z]{3}$/.test(code),
);

const firstAttempt = z.union(
  [z.enum(['auto', 'manual']), z.strictObject({ delay: z.unknown() })],
  'must be "auto", "manual" or { delay: "10s" }.',
);

const delayedAttempt = z.object({ webhooks: z.object({ delay: durationMs() }) });

const schema = z.strictObject({
  apiKey: z.optional(token),
  webhookSecret: z.optional(token),
  webhook: z.optional(z.custom<WebhookTarget>()),
  webhooks: z._default(firstAttempt, 'auto'),
  seed: z.optional(seedOption),
  now: z._default(z.union([z.literal('real'), validDate], 'must be "real" or a valid Date.'), 'real'),
  currency: z._default(currencyCode, 'USD'),
  publicUrl: z.optional(text('must be an origin, such as "http://localhost:4380".', isOrigin)),
  unspecified: choicesSchema,
  merchantName: z._default(z.string(), 'Sandbox shop'),
  products: z._default(z.array(productCreateParams), []),
  from: z.optional(z.unknown()),
  signatureTime: z._default(z.enum(['real', 'virtual']), 'real'),
  encoding: z._default(z.enum(['spaced', 'compact']), 'spaced'),
  allowRemoteWebhooks: z._default(z.boolean(), false),
} satisfies Record<keyof SandboxOptions, z.ZodMiniType>);

/** Checked options with their defaults. Key, secret, scheme and webhook target can change while the sandbox runs. */
export type Settings = ReturnType<typeof readSettings>;

export function readSettings(options: SandboxOptions, saved?: SnapshotContent) {
  const apiKey = options.apiKey ?? saved?.apiKey;
  const webhookSecret = options.webhookSecret ?? saved?.webhookSecret;
  const seed = options.seed ?? saved?.ids.seed;
  const webhook = options.webhook ?? saved?.webhook;
  const unspecified = { signature: saved?.scheme, ...options.unspecified };
  const given = { ...options, apiKey, webhookSecret, webhook, seed, unspecified };
  const {
    now,
    webhooks,
    publicUrl,
    unspecified: choices,
    from: _,
    ...own
  } = readOptions('createSandbox', schema, given);
  if (own.apiKey?.startsWith(livePrefix))
    refuse(
      'createSandbox',
      'apiKey',
      `begins with ${livePrefix}: a live key moves real money. Pass another key.`,
    );
  const frozenAt = now === 'real' ? undefined : now.getTime();
  refuse('createSandbox', 'webhook', targetProblem(own.webhook, own.allowRemoteWebhooks));
  if (own.webhookSecret !== undefined)
    refuse('createSandbox', 'webhookSecret', secretProblem(own.webhookSecret, choices.signature));
  return {
    ...own,
    apiKey: own.apiKey ?? newApiKey(),
    webhookSecret: own.webhookSecret ?? newSecret(choices.signature),
    webhooks:
      typeof webhooks === 'object'
        ? { delayMs: readOptions('createSandbox', delayedAttempt, { webhooks }).webhooks.delay }
        : webhooks,
    clock: saved && options.now === undefined ? saved.clock : { frozenAt, offset: 0 },
    publicUrl: publicUrl && new URL(publicUrl).origin,
    choices,
  };
}

export const newApiKey = (): string => `service_test_${randomId()}`;

/** Signing options of `setWebhook()`. */
export interface WebhookSigning {
  /** Secret that signs deliveries from now on. Default: unchanged. */
  secret?: string | undefined;
  /** Fields in which the scheme differs from the default of `webhooks.verify()`. Default: unchanged. */
  scheme?: Partial<SignatureScheme> | undefined;
}

const signingOptions = z.strictObject({ secret: z.optional(token), scheme: z.optional(signingScheme) });

/** Sets the target of deliveries and how they are signed. Throws and changes nothing if an option is invalid. */
export function changeWebhook(
  settings: Settings,
  target: WebhookTarget | undefined,
  signing: WebhookSigning,
): void {
  const given = readOptions('setWebhook', signingOptions, signing);
  const { secret = settings.webhookSecret, scheme = settings.choices.signature } = given;
  refuse('setWebhook', 'url', targetProblem(target, settings.allowRemoteWebhooks));
  refuse('setWebhook', 'secret', secretProblem(secret, scheme));
  settings.webhookSecret = secret;
  settings.choices.signature = scheme;
  settings.webhook = target;
}

/** Rejects if the target's host name resolves to an address that is not allowed. */
export async function checkResolved({ allowRemoteWebhooks }: Settings, target: WebhookTarget | undefined) {
  refuse('setWebhook', 'url', await resolvedProblem(target, allowRemoteWebhooks));
}

function isOrigin(text: string): boolean {
  const url = parseAbsoluteUrl(text);
  return url !== undefined && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`;
}
