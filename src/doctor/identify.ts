import { Buffer } from 'node:buffer';
import * as z from 'zod/mini';
import { PaymentsError } from '../errors.js';
import { type RawBody, readBody } from '../webhooks/body.js';
import { readHeaders, type WebhookHeaders } from '../webhooks/headers.js';
import { type SignatureScheme, verify } from '../webhooks/index.js';
import { optionsObject, readWebhookOptions } from '../webhooks/options.js';
import { readScheme } from '../webhooks/scheme.js';
import { readKey } from '../webhooks/secret.js';
import { readTimestamp } from '../webhooks/timestamp.js';
import { listsFor, type TimestampUnit } from './documented-schemes.js';
import { bodyVariants, removeQuotes, secretVariants } from './mistakes.js';
import { matchingSchemes } from './schemes.js';

/** A captured delivery and the secret that it should have been signed with. */
export interface IdentifyOptions {
  /** The body, byte for byte as received. */
  rawBody: RawBody;
  /** The headers of the delivery. The signature and the timestamp header are enough. */
  headers: WebhookHeaders;
  /** Your webhook secret. The specification does not say which secret signs: it may be the API key. */
  secret: string;
  /** The webhook's URL as the service knows it, because some services sign the URL too. Default: such schemes are not tried. */
  url?: string | undefined;
  /** Default `x-service-signature`. */
  signatureHeader?: string | undefined;
  /** Default `x-service-timestamp`. */
  timestampHeader?: string | undefined;
}

const anything = z.optional(z.unknown());
const identifyOptions = optionsObject('{ rawBody, headers, secret }', {
  rawBody: anything,
  headers: anything,
  secret: anything,
  url: z.optional(z.string()),
  signatureHeader: anything,
  timestampHeader: anything,
} satisfies Record<keyof IdentifyOptions, z.ZodMiniType>);

/** The result of `identifyScheme()`. It never contains the secret. */
export interface Identification {
  /** True if a known scheme produces this signature. */
  found: boolean;
  /** The result in one or two sentences. */
  summary: string;
  /** The `scheme` option for `webhooks.verify()`. It holds the fields that differ from the default, so `{}` is the default itself. */
  scheme: Partial<SignatureScheme> | undefined;
  /** Other `scheme` options that match this delivery too. A second delivery tells them apart. */
  alternatives: Partial<SignatureScheme>[];
  /** A service that documents this scheme, and the page that does. */
  like:
    | {
        /** Name of the service. */
        service: string;
        /** URL of the documentation. */
        source: string;
      }
    | undefined;
  /** Other things to change or to know. */
  notes: string[];
  /** Questions for the service, if nothing was found. */
  questions: string[];
  /** Number of schemes that were compared. */
  tried: number;
}

/**
 * Finds the signature scheme of a captured delivery, offline. Use it to set up a receiver, not to receive:
 * trying several schemes on live traffic would accept more than it should.
 *
 * @throws {WebhookConfigError} the body, the headers or the secret are invalid.
 * @throws {WebhookVerificationError} a header came twice.
 * @example
 * ```ts
 * import { identifyScheme } from 'merchant-payments/sandbox';
 * import { sign } from 'merchant-payments/webhooks';
 *
 * const rawBody = '{"type":"order.paid"}';
 * const secret = 'whsec_example';
 * const headers = sign({ rawBody, secret, scheme: { content: '{timestamp}{body}' } });
 * console.log(identifyScheme({ rawBody, headers, secret }).scheme); // { content: '{timestamp}{body}' }
 * ```
 */
export function identifyScheme(options: IdentifyOptions): Identification {
  readWebhookOptions('identifyScheme()', identifyOptions, options);
  const delivery = readDelivery(options);
  let tried = 0;
  // A prefix that no known service uses makes the table larger, so it is tried last.
  for (const prefix of [undefined, ...(ownPrefix.exec(delivery.signature) ?? [])]) {
    const lists = listsFor({ url: options.url, prefix });
    tried = Object.values(lists).reduce((product, list) => product * list.length, 1);
    for (const body of bodyVariants(delivery.body))
      for (const secret of secretVariants(options.secret)) {
        const signed = { ...delivery, body: body.value };
        const [best, ...others] = matchingSchemes(lists, signed, secret.value);
        if (!best) continue;
        const scheme = { ...best.scheme, ...delivery.headerNames };
        const isDefault = Object.keys(scheme).length === 0;
        const notes = [delivery.note, body.note, secret.note, ...notesOn(scheme, signed, secret.value)];
        return {
          found: true,
          summary: isDefault
            ? `It is the default scheme: no option is needed. ${best.name}.`
            : `A known scheme signed this delivery: ${best.name}.`,
          scheme,
          alternatives: others.map((other) => ({ ...other.scheme, ...delivery.headerNames })),
          like: best.like,
          notes: notes.filter((note) => note !== undefined),
          questions: [],
          tried,
        };
      }
  }
  return {
    found: false,
    summary: `None of the ${tried} known schemes produces this signature with this secret.`,
    scheme: undefined,
    alternatives: [],
    like: undefined,
    notes: likelyReasons(delivery, options),
    questions,
    tried,
  };
}

const ownPrefix = /^[a-z][\w-]{0,19}[=:,] ?/i;

type Delivery = ReturnType<typeof readDelivery>;

function readDelivery(options: IdentifyOptions) {
  const { secret, signatureHeader, timestampHeader } = options;
  const names = readScheme({ signatureHeader, timestampHeader });
  readKey(typeof secret === 'string' ? (removeQuotes(secret) ?? secret.trim()) : secret, names);
  const header = readHeaders(options.headers);
  const signature = header(names.signatureHeader) ?? '';
  const own = header(names.timestampHeader);
  const listed = /(?:^|[,;])(?:t|ts|timestamp)=([^,;]+)/.exec(signature)?.[1];
  const timestamp = own ?? listed ?? '';
  const missing =
    listed === undefined
      ? `No timestamp was given, so no scheme that signs one can match: pass ${names.timestampHeader} as well (--timestamp).`
      : `The timestamp is only in the signature header; verify() needs it in ${names.timestampHeader} too.`;
  return {
    body: readBody(options.rawBody),
    signature,
    timestamp,
    unit: unitOf(timestamp),
    headerNames: {
      ...(signatureHeader && { signatureHeader: names.signatureHeader }),
      ...(timestampHeader && { timestampHeader: names.timestampHeader }),
    },
    /** The note that the timestamp is missing, or only in the signature header. */
    note: own === undefined ? missing : undefined,
  };
}

function unitOf(timestamp: string): TimestampUnit | undefined {
  try {
    return readTimestamp(timestamp, 'auto') === Number(timestamp) ? 'milliseconds' : 'seconds';
  } catch {
    return Number.isNaN(Date.parse(timestamp)) || !/^\d{4}-/.test(timestamp) ? undefined : 'iso8601';
  }
}

/** Returns the error of `verify()` with the scheme that was found, if there is one, and a warning if the scheme allows replays. */
function notesOn(scheme: Partial<SignatureScheme>, delivery: Delivery, secret: string): string[] {
  const notes: string[] = [];
  const { body, signature, timestamp } = delivery;
  const { signatureHeader, timestampHeader, content } = readScheme(scheme);
  const headers = { [signatureHeader]: signature, [timestampHeader]: timestamp };
  try {
    verify({ rawBody: body, headers, secret, scheme, toleranceSeconds: Number.POSITIVE_INFINITY });
  } catch (error) {
    if (!(error instanceof PaymentsError)) throw error;
    notes.push(`The signature matches, but verify() refuses the delivery: ${error.message}`);
  }
  if (!content.includes('{timestamp}'))
    notes.push(
      'The timestamp is not signed, so an old delivery can be replayed with a new one: fulfil once per order_id.',
    );
  return notes;
}

const questions = [
  'Which algorithm produces x-service-signature: HMAC (with which hash), or a private key (where is the public key)?',
  'Exactly which bytes are signed, in which order and with what between them: timestamp, body, URL, an id?',
  'Which secret is the key: one for webhooks, or the API key? As text, or decoded first (base64, hex; with or without a prefix)?',
  'How is the signature encoded: hex or base64, with which prefix, and several at once while a secret is rotated?',
  'What is the unit of x-service-timestamp, and how old may a delivery be?',
  'Can you send one example: secret, body and both headers?',
];

function likelyReasons(delivery: Delivery, { secret, url }: IdentifyOptions): string[] {
  const { note, signature, timestamp, unit } = delivery;
  const unsigned =
    'There is no signature header: the service does not sign, or something on the way removed it.';
  const reasons = [
    signatureForm(signature),
    /^service_(?:live|test)_/.test(secret.trim())
      ? 'The secret looks like an API key. If the service gave you another secret for webhooks, try that one.'
      : 'A wrong secret looks just like an unknown scheme: copy it again, for this environment, or try the API key.',
    timestamp !== '' && unit === undefined && 'The timestamp is neither Unix time nor ISO 8601.',
    url === undefined &&
      "Some services sign the webhook's URL too: pass it as well (--url), and those are tried.",
  ];
  const notes = [note, ...(signature === '' ? [unsigned] : reasons)];
  return notes.filter((one) => typeof one === 'string');
}

/** Describes a signature that matches no scheme, in one sentence. */
function signatureForm(header: string): string {
  // Only the last value of a header such as `t=1,v1=abc` is described, without its name.
  const [text = ''] = /[^;,\s=]+=*$/.exec(header.trim()) ?? [];
  const isHex = /^(?:[0-9a-f]{2})+$/i.test(text);
  if (!isHex && !/^[\w+/-]{20,}={0,2}$/.test(text)) return 'The signature is neither hex nor base64.';
  const { length } = Buffer.from(text, isHex ? 'hex' : 'base64');
  const size = `The signature is ${length} bytes in ${isHex ? 'hex' : 'base64'}`;
  if ([32, 48, 64].includes(length)) return `${size}.`;
  return `${size}, unlike any HMAC that verify() knows: it may be SHA-1 or MD5, or made with a private key.`;
}
