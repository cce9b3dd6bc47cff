import { Buffer } from 'node:buffer';
import { newSecret, type Outgoing, unevenlySpaced } from '../sending/delivery.js';
import { sandboxSecret } from '../sending/published.js';
import { readScheme, type Scheme } from '../webhooks/scheme.js';
import { eventBody, type Order, outgoing, paidEvent, type Signer, signDelivery, signedBy } from './signed.js';

/** Makes a probe; `undefined` if the scheme cannot carry it. `earlier` is the last valid delivery that was accepted. */
type Make = (order: Order, signer: Signer, earlier?: Outgoing) => Outgoing | undefined;
type Probe = readonly [says: string, make: Make];

const day = 86_400_000;

/** Returns a maker of validly signed deliveries, by a clock that is `offset` milliseconds off. */
const signed =
  (write: (event: ReturnType<typeof paidEvent>) => string = JSON.stringify, offset = 0) =>
  (order: Order, signer: Signer) =>
    signDelivery(write(paidEvent(order)), signer, Date.now() + offset);
const valid = signed();

/** Makes a delivery that is signed with a random secret, as a stranger would. */
const unknowing = (order: Order, { scheme }: Signer) => valid(order, { scheme, secret: newSecret(scheme) });

/** Returns a maker that rewrites the signature header of another maker's delivery, by default a valid one. */
const rewritten =
  (write: (digits: string, scheme: Scheme) => string, make = valid): Make =>
  (order, signer) => {
    const scheme = readScheme(signer.scheme);
    const { body, headers } = make(order, signer);
    const digits = (headers[scheme.signatureHeader] ?? '').slice(scheme.prefix.length);
    return { body, headers: { ...headers, [scheme.signatureHeader]: write(digits, scheme) } };
  };

/** Returns a maker that changes the digits of the signature and keeps the prefix. */
const altered = (change: (digits: string, encoding: BufferEncoding) => string, make = valid) =>
  rewritten((digits, { prefix, encoding }) => prefix + change(digits, encoding), make);

const firstHalf = (digits: string) => digits.slice(0, digits.length / 2);

/** Returns a maker that changes the bytes of the signature. */
const rebuilt = (change: (mac: Buffer) => Uint8Array) =>
  altered((digits, encoding) => Buffer.from(change(Buffer.from(digits, encoding))).toString(encoding));

/** Returns a maker that changes one bit of the signature, and so one digit of its text. */
const flipped = (at: number, bit: number) =>
  rebuilt((mac) => mac.map((byte, index) => (index === (at + mac.length) % mac.length ? byte ^ bit : byte)));

/** Exchanges two bytes in the middle. A comparison of sums or of sorted bytes sees no difference. */
const exchanged = rebuilt((mac) => {
  const middle = mac.length / 2;
  const other = mac.findIndex((byte, at) => at > middle && byte !== mac[middle]);
  return mac.map((byte, at) => mac[at === middle ? other : at === other ? middle : at] ?? byte);
});

function unsigned(type: string, write = eventBody): Make {
  return (order) => outgoing(write(order), { 'content-type': type });
}

/** Returns a maker of deliveries signed without the secret, with `stamp` as the timestamp header, or without one. */
const stamped =
  (stamp?: string): Make =>
  (order, signer) => {
    const { timestampHeader } = readScheme(signer.scheme);
    const { [timestampHeader]: _, ...headers } = unknowing(order, signer).headers;
    return { body: eventBody(order), headers: { ...headers, ...(stamp && { [timestampHeader]: stamp }) } };
  };

/** Returns a maker of deliveries signed with a key that anybody can guess. */
function keyed(key: string): Make {
  return (order, signer) => (key === signer.secret ? undefined : signedBy({ key }, order, signer));
}

/** Keys that anybody knows: the text of a promise, the text of an object, and the sandbox's published secret. */
export const knownKeys = ['[object Promise]', '[object Object]', sandboxSecret] as const;

const dearer = (order: Order): Order => ({ ...order, amount: `9${order.amount}` });

const twice =
  (rightFirst: boolean): Make =>
  (order, signer) => {
    const { signatureHeader, separator } = readScheme(signer.scheme);
    if (separator !== undefined) return undefined;
    const [first, second] = rightFirst ? [valid, unknowing] : [unknowing, valid];
    const repeated = second(order, signer).headers[signatureHeader] ?? '';
    return { ...first(order, signer), repeated: { [signatureHeader]: repeated } };
  };

export const validProbes = {
  compact: ['valid, compact JSON', valid],
  spaced: ['valid, JSON with uneven spaces', signed(unevenlySpaced)],
  newline: ['valid, with a trailing newline', signed((event) => `${unevenlySpaced(event)}\n`)],
  non_ascii: ['valid, with non-ASCII letters', signed((event) => withNote(event, 'Café ☕ 東京'))],
  duplicate: ['valid, the same order again', valid],
} satisfies Record<string, Probe>;

/** Forgeries that are made without the secret, each about an order of its own. */
const foreign = {
  unsigned: ['no signature at all', unsigned('application/json')],
  forged: ['signed with a different secret', unknowing],
  unsigned_text: ['no signature, as text/plain', unsigned('text/plain')],
  unsigned_form: [
    'no signature, as a form',
    unsigned('application/x-www-form-urlencoded', (order) => `${new URLSearchParams(fieldsOf(order))}`),
  ],
  unsigned_multipart: [
    'no signature, as multipart',
    unsigned('multipart/form-data; boundary=doctor', multipartOf),
  ],
  unsigned_charset: ['no signature, as JSON with a charset', unsigned('application/json; charset=utf-8')],
  no_timestamp: ['signed with a different secret, without a timestamp', stamped()],
  odd_timestamp: ['signed with a different secret, with a timestamp that is not a number', stamped('soon')],
  non_ascii_signature: [
    'signed with a different secret, and the signature ends in a letter that is not ASCII',
    altered((digits) => `${digits.slice(0, -1)}\xe9`, unknowing),
  ],
  other_prefix: [
    'signed with a different secret, and a prefix that the scheme does not have, or none',
    rewritten((digits, { prefix }) => (prefix === '' ? `other=${digits}` : digits), unknowing),
  ],
  foreign_half: [
    'signed with a different secret, and half of the signature left out',
    altered(firstHalf, unknowing),
  ],
} satisfies Record<string, Probe>;

export const forgeries = {
  ...foreign,
  empty_secret: ['signed with an empty secret', keyed('')],
  undefined_secret: ['signed with the secret "undefined"', keyed('undefined')],
  null_secret: ['signed with the secret "null"', keyed('null')],
  none_secret: ['signed with the secret "None"', keyed('None')],
  promise_secret: ['signed with the secret "[object Promise]"', keyed(knownKeys[0])],
  object_secret: ['signed with the secret "[object Object]"', keyed(knownKeys[1])],
  sandbox_secret: ["signed with the sandbox's published secret", keyed(knownKeys[2])],
  empty: ['an empty signature', rewritten(() => '', unknowing)],
  no_digits: [
    'a signature of just the prefix or a comma',
    rewritten((_, { prefix }) => prefix || ',', unknowing),
  ],
  one_character: ['the first character of the signature', altered((digits) => digits.slice(0, 1))],
  first_half: ['the first half of the signature', altered(firstHalf)],
  second_half: ['the second half of the signature', altered((digits) => digits.slice(digits.length / 2))],
  truncated: ['the signature without its last character', altered((digits) => digits.slice(0, -1))],
  // Decoders stop at a dot or skip it, and in a regular expression a dot matches any character.
  padded: [
    'the first two characters of the signature, and dots for the others',
    altered((digits) => digits.slice(0, 2).padEnd(digits.length, '.')),
  ],
  extended: ['the signature and one byte more', rebuilt((mac) => Buffer.of(...mac, 0))],
  preceded: ['one byte before the signature', rebuilt((mac) => Buffer.of(0, ...mac))],
  first_digit: ['the signature with another first digit', flipped(0, 0x10)],
  middle_digit: ['the signature with two bytes in its middle exchanged', exchanged],
  last_digit: ['the signature with another last digit', flipped(-1, 1)],
  tampered: [
    'order and amount changed after signing',
    (order, signer, earlier = valid(order, signer)) => ({ ...earlier, body: eventBody(dearer(order)) }),
  ],
  reencoded: [
    'body encoded again after signing',
    (order, signer) => ({ ...valid(order, signer), body: unevenlySpaced(paidEvent(order)) }),
  ],
  empty_body: ['the signature of an empty body', (order, signer) => signedBy({ text: '' }, order, signer)],
  redated: [
    'timestamp changed after signing',
    (order, signer) => {
      const { timestampHeader, content } = readScheme(signer.scheme);
      if (!content.includes('{timestamp}')) return undefined;
      const right = valid(order, signer);
      const later = signDelivery(right.body, signer, Date.now() + 2_000).headers[timestampHeader] ?? '';
      return { ...right, headers: { ...right.headers, [timestampHeader]: later } };
    },
  ],
  known_order: [
    'another amount for an order seen before, signed with a different secret',
    (order, signer) => unknowing(dearer(order), signer),
  ],
  stale: ['valid, but signed a day ago', signed(JSON.stringify, -day)],
  future: ['valid, but signed a day ahead', signed(JSON.stringify, day)],
  right_first: ['two signature headers, the first right', twice(true)],
  right_last: ['two signature headers, the last right', twice(false)],
} satisfies Record<string, Probe>;

/** Names of the valid deliveries that have an order of their own. */
export const bodies = ['compact', 'spaced', 'newline', 'non_ascii'] as const;

export type ForgeryName = keyof typeof forgeries;
/** The names of the doctor's deliveries. */
export type ProbeName = keyof typeof validProbes | ForgeryName;

export const isForgery = (name: ProbeName): name is ForgeryName => name in forgeries;
export const probes: Readonly<Record<ProbeName, Probe>> = { ...validProbes, ...forgeries };
export const forgeryNames = Object.keys(forgeries).filter((name): name is ForgeryName => name in forgeries);
export const foreignNames = forgeryNames.filter((name) => name in foreign);

/** Returns the event as fields of a form, with the nested names that PHP and Express read. */
function fieldsOf(order: Order) {
  const { type, data } = paidEvent(order);
  const fields = Object.entries(data).map(([name, value]) => [`data[${name}]`, value] as const);
  return { type, ...Object.fromEntries(fields) };
}

/** Returns the event as a multipart body, of which PHP gives the handler no raw bytes. */
function multipartOf(order: Order): string {
  const parts = Object.entries(fieldsOf(order)).map(
    ([name, value]) => `--doctor\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  );
  return `${parts.join('')}--doctor--\r\n`;
}

/** Returns an event with a field that the specification does not list. */
export const withNote = ({ type, data }: ReturnType<typeof paidEvent>, note: string): string =>
  JSON.stringify({ type, data: { ...data, note } });
