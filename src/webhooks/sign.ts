import * as z from 'zod/mini';
import { validDate } from '../input/fields.js';
import { type RawBody, readBody } from './body.js';
import { invalidOptions, optionsObject, readWebhookOptions } from './options.js';
import { type Scheme, type SignatureScheme, schemeOption } from './scheme.js';
import { readKey, type WebhookSecret } from './secret.js';
import { macOf } from './signature.js';
import { readTimestamp } from './timestamp.js';

/** Options of `webhooks.sign()`. */
export interface SignOptions {
  /** The body that will be sent. */
  rawBody: RawBody;
  /** The secret that the receiver verifies with. */
  secret: WebhookSecret;
  /** The time to sign; default now. It is written in the scheme's unit; `auto` writes seconds. */
  timestamp?: Date | undefined;
  /** The fields of the signature scheme that differ from the default. A custom `verify` cannot sign. */
  scheme?: Partial<SignatureScheme> | undefined;
}

const signOptions = optionsObject('{ rawBody, secret }', {
  rawBody: z.optional(z.unknown()),
  secret: z.optional(z.unknown()),
  timestamp: z.optional(validDate),
  scheme: schemeOption,
});

/**
 * Signs a body as the service would, for tests, and returns the two headers by name. `webhooks.verify()` with the same
 * scheme accepts them.
 *
 * @throws {WebhookConfigError} an option is invalid.
 * @example
 * ```ts
 * import { sign } from 'merchant-payments/webhooks';
 *
 * const headers = sign({ rawBody: '{"type":"order.paid"}', secret: 'whsec_example' });
 * ```
 */
export function sign(options: SignOptions): Record<string, string> {
  const {
    rawBody,
    secret,
    timestamp: date = new Date(),
    scheme,
  } = readWebhookOptions('webhooks.sign()', signOptions, options);
  if (scheme.verify) throw invalidOptions('scheme.verify cannot sign: sign with its private key yourself.');
  const key = readKey(secret, scheme);
  const timestamp = writeTimestamp(date.getTime(), scheme.timestamp);
  const mac = macOf(key, timestamp, readBody(rawBody), scheme);
  return {
    [scheme.signatureHeader]: scheme.prefix + mac.toString(scheme.encoding),
    [scheme.timestampHeader]: timestamp,
  };
}

function writeTimestamp(time: number, unit: Scheme['timestamp']): string {
  const text =
    unit === 'iso8601'
      ? new Date(time).toISOString()
      : String(unit === 'milliseconds' ? time : Math.floor(time / 1000));
  try {
    readTimestamp(text, unit);
    return text;
  } catch {
    throw invalidOptions('timestamp is outside the range that the header can hold.');
  }
}
