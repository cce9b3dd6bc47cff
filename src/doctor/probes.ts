import { Buffer } from 'node:buffer';
import { newSecret, type Outgoing, writeUnevenlySpaced } from '../sending/delivery.js';
import { sandboxSecret } from '../sending/published.js';
import { readScheme, type Scheme } from '../webhooks/scheme.js';
import {
  eventBody,
  type Order,
  paidEvent,
  type Signer,
  signDelivery,
  signMistakenly,
  toOutgoing,
} from './signed.js';

/** Makes a probe; `undefined` if the scheme cannot carry it. `earlier` is the last valid delivery that was accepted. */
type Make = (order: Order, signer: Signer, earlier?: Outgoing) => Outgoing | undefined;
type Probe = readonly [says: string, make: Make];

const day = 86_400_000;

/** Returns a maker of validly signed deliveries, by a clock that is `offset` milliseconds off. */
const makeSigned =
  (write: (event: ReturnType<typeof paidEvent>) => string = JSON.stringify, offset = 0) =>
  (order: Order, signer: Signer) =>
    signDelivery(write(paidEvent(order)), signer, Date.now() + offset);
const valid = makeSigned();

/** Makes a delivery that is signed with a random secret, as a stranger would. */
const signAsStranger = (order: Order, { scheme }: Signer) =>
  valid(order, { scheme, secret: newSecret(scheme) });

/** Returns a maker that rewrites the signature header of another maker's delivery, by default a valid one. */
const rewriteSignature =
  (write: (digits: string, scheme: Scheme) => string, make = valid): Make =>
  (order, signer) => {
    const scheme = readScheme(signer.scheme);
    const { body, headers } = make(order, signer);
    const digits = (headers[scheme.signatureHeader] ?? '').slice(scheme.prefix.length);
    return { body, headers: { ...headers, [scheme.signatureHeader]: write(digits, scheme) } };
  };

/** Returns a maker that changes the digits of the signature and keeps the prefix. */
const alterDigits = (change: (digits: string, encoding: BufferEncoding) => string, make = valid) =>
  rewriteSignature((digits, { prefix, encoding }) => prefix + change(digits, encoding), make);

const firstHalf = (digits: string) => digits.slice(0, digits.length / 2);

/** Returns a maker that changes the bytes of the signature. */
const alterBytes = (change: (mac: Buffer) => Uint8Array) =>
  alterDigits((digits, encoding) => Buffer.from(change(Buffer.from(digits, encoding))).toString(encoding));

/** Returns a maker that changes one bit of the signature, and so one digit of its text. */
const flipBit = (at: number, bit: number) =>
  alterBytes((mac) =>
    mac.map((byte, index) => (index === (at + mac.length) % mac.length ? byte ^ bit : byte)),
  );

/** Exchanges two bytes in the middle. A comparison of sums or of sorted bytes sees no difference. */
const exchangeBytes = alterBytes((mac) => {
  const middle = mac.length / 2;
  const other = mac.findIndex((byte, at) => at > middle && byte !== mac[middle]);
  return mac.map((byte, at) => mac[at === middle ? other : at === other ? middle : at] ?? byte);
});

function makeUnsigned(type: string, write = eventBody): Make {
  return (order) => toOutgoing(write(order), { 'content-type': type });
}

/** Returns a maker of deliveries signed without the secret, with `stamp` as the timestamp header, or without one. */
const makeStamped =
  (stamp?: string): Make =>
  (order, signer) => {
    const { timestampHeader } = readScheme(signer.scheme);
    const { [timestampHeader]: _, ...headers } = signAsStranger(order, signer).headers;
    return { body: eventBody(order), headers: { ...headers, ...(stamp && { [timestampHeader]: stamp }) } };
  };

/** Returns a maker of deliveries signed with a key that anybody can guess. */
function signWithKey(key: string): Make {
  return (order, signer) => (key === signer.secret ? undefined : signMistakenly({ key }, order, signer));
}

/** Keys that anybody knows: the text of a promise, the text of an object, and the sandbox's published secret. */
export const knownKeys = ['[object Promise]', '[object Object]', sandboxSecret] as const;

const raiseAmount = (order: Order): Order => ({ ...order, amount: `9${order.amount}` });

const signTwice =
  (rightFirst: boolean): Make =>
  (order, signer) => {
    const { signatureHeader, separator } = readScheme(signer.scheme);
    if (separator !== undefined) return undefined;
    const [first, second] = rightFirst ? [valid, signAsStranger] : [signAsStranger, valid];
    const repeated = second(order, signer).headers[signatureHeader] ?? '';
    return { ...first(order, signer), repeated: { [signatureHeader]: repeated } };
  };

export const validProbes = {
  compact: ['valid, compact JSON', valid],
  spaced: ['valid, JSON with uneven spaces', makeSigned(writeUnevenlySpaced)],
  newline: ['valid, with a trailing newline', makeSigned((event) => `${writeUnevenlySpaced(event)}\n`)],
  non_ascii: ['valid, with non-ASCII letters', makeSigned((event) => withNote(event, 'Café ☕ 東京'))],
  duplicate: ['valid, the same order again', valid],
} satisfies Record<string, Probe>;

/** Forgeries that are made without the secret, each about an order of its own. */
const foreign = {
  unsigned: ['no signature at all', makeUnsigned('application/json')],
  forged: ['signed with a different secret', signAsStranger],
  unsigned_text: ['no signature, as text/plain', makeUnsigned('text/plain')],
  unsigned_form: [
    'no signature, as a form',
    makeUnsigned('application/x-www-form-urlencoded', (order) => `${new URLSearchParams(fieldsOf(order))}`),
  ],
  unsigned_multipart: [
    'no signature, as multipart',
    makeUnsigned('multipart/form-data; boundary=doctor', multipartOf),
  ],
  unsigned_charset: ['no signature, as JSON with a charset', makeUnsigned('application/json; charset=utf-8')],
  no_timestamp: ['signed with a different secret, without a timestamp', makeStamped()],
  odd_timestamp: [
    'signed with a different secret, with a timestamp that is not a number',
    makeStamped('soon'),
  ],
  non_ascii_signature: [
    'signed with a different secret, and the signature ends in a letter that is not ASCII',
    alterDigits((digits) => `${digits.slice(0, -1)}\xe9`, signAsStranger),
  ],
  other_prefix: [
    'signed with a different secret, and a prefix that the scheme does not have, or none',
    rewriteSignature((digits, { prefix }) => (prefix === '' ? `other=${digits}` : digits), signAsStranger),
  ],
  foreign_half: [
    'signed with a different secret, and half of the signature left out',
    alterDigits(firstHalf, signAsStranger),
  ],
} satisfies Record<string, Probe>;

export const forgeries = {
  ...foreign,
  empty_secret: ['signed with an empty secret', signWithKey('')],
  undefined_secret: ['signed with the secret "undefined"', signWithKey('undefined')],
  null_secret: ['signed with the secret "null"', signWithKey('null')],
  none_secret: ['signed with the secret "None"', signWithKey('None')],
  promise_secret: ['signed with the secret "[object Promise]"', signWithKey(knownKeys[0])],
  object_secret: ['signed with the secret "[object Object]"', signWithKey(knownKeys[1])],
  sandbox_secret: ["signed with the sandbox's published secret", signWithKey(knownKeys[2])],
  empty: ['an empty signature', rewriteSignature(() => '', signAsStranger)],
  no_digits: [
    'a signature of just the prefix or a comma',
    rewriteSignature((_, { prefix }) => prefix || ',', signAsStranger),
  ],
  one_character: ['the first character of the signature', alterDigits((digits) => digits.slice(0, 1))],
  first_half: ['the first half of the signature', alterDigits(firstHalf)],
  second_half: ['the second half of the signature', alterDigits((digits) => digits.slice(digits.length / 2))],
  truncated: ['the signature without its last character', alterDigits((digits) => digits.slice(0, -1))],
  // Decoders stop at a dot or skip it, and in a regular expression a dot matches any character.
  padded: [
    'the first two characters of the signature, and dots for the others',
    alterDigits((digits) => digits.slice(0, 2).padEnd(digits.length, '.')),
  ],
  extended: ['the signature and one byte more', alterBytes((mac) => Buffer.of(...mac, 0))],
  preceded: ['one byte before the signature', alterBytes((mac) => Buffer.of(0, ...mac))],
  first_digit: ['the signature with another first digit', flipBit(0, 0x10)],
  middle_digit: ['the signature with two bytes in its middle exchanged', exchangeBytes],
  last_digit: ['the signature with another last digit', flipBit(-1, 1)],
  tampered: [
    'order and amount changed after signing',
    (order, signer, earlier = valid(order, signer)) => ({ ...earlier, body: eventBody(raiseAmount(order)) }),
  ],
  reencoded: [
    'body encoded again after signing',
    (order, signer) => ({ ...valid(order, signer), body: writeUnevenlySpaced(paidEvent(order)) }),
  ],
  empty_body: [
    'the signature of an empty body',
    (order, signer) => signMistakenly({ text: '' }, order, signer),
  ],
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
    (order, signer) => signAsStranger(raiseAmount(order), signer),
  ],
  stale: ['valid, but signed a day ago', makeSigned(JSON.stringify, -day)],
  future: ['valid, but signed a day ahead', makeSigned(JSON.stringify, day)],
  right_first: ['two signature headers, the first right', signTwice(true)],
  right_last: ['two signature headers, the last right', signTwice(false)],
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
