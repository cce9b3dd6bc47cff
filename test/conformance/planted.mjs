// A verifier in parts, each of which can be got wrong, and the mistakes. `node planted.mjs <mistake>` speaks conformance's
// protocol. It is written without this package.
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

class Rejection extends Error {
  constructor(kind) {
    super(kind);
    this.kind = kind;
  }
}
const reject = (kind = 'verification') => {
  throw new Rejection(kind);
};
const isEqual = (a, b) => a.length === b.length && timingSafeEqual(a, b);

/** The parts of a right verifier. */
const right = {
  secret: (secret) => secret !== '' && secret.trim() === secret && !/^(?:null|undefined)$/.test(secret),
  key(secret, encoding) {
    const key = Buffer.from(secret, encoding);
    return encoding === 'utf8' || key.toString(encoding) === secret ? key : reject('config');
  },
  keys: (secrets) => secrets,
  tolerance: (seconds) => seconds > 0,
  template: (content) => (content.includes('{body}') ? content : reject('config')),
  named: (each, name) => each.toLowerCase() === name,
  header: (values) => (values.length === 1 ? values[0] : reject()),
  longest: 4096,
  split: (header, separator) => (separator ? header.split(separator) : [header]),
  prefix: (text, prefix) => (text.startsWith(prefix) ? text.slice(prefix.length) : reject()),
  encoding: (encoding) => encoding,
  algorithm: (algorithm) => algorithm,
  decode(text, encoding) {
    const bytes = Buffer.from(text, encoding);
    const again = bytes.toString(encoding);
    return (encoding === 'hex' ? again === text.toLowerCase() : again === text) ? bytes : reject();
  },
  compare: (text, mac, how, encoding) => isEqual(how.decode(text, encoding), mac),
  /** Further bodies, timestamps and MACs that a mistake takes. */
  bodies: (body) => [body],
  stamps: (stamp) => [stamp],
  macs: () => [],
  stamp: (text) => (/^[1-9]\d{0,13}$/.test(text) ? Number(text) : reject()),
  iso: (text) =>
    /^\d{4}-\d\d-\d\dT[\d:]{8}(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/.test(text) ? Date.parse(text) / 1000 : reject(),
  seconds: (time) => (time >= 1e11 ? time / 1000 : time),
  again: () => undefined,
  fresh: (age, tolerance) => Math.abs(age) <= tolerance,
  stale: () => reject(),
  decoded: (body) => new TextDecoder('utf-8', { fatal: true }).decode(body),
  parse: (text) => JSON.parse(text),
  event: (event) => typeof event.type === 'string',
  order: (data) => typeof data?.order_id === 'string' && data.order_id !== '',
  amount: (amount) => (typeof amount === 'string' ? /^\d+(\.\d+)?$/.test(amount) : Number.isFinite(amount)),
};

function verify(how, { body, headers, secrets, now, toleranceSeconds, scheme }) {
  if (!how.tolerance(toleranceSeconds)) reject('config');
  const content = how.template(scheme.content);
  const keys = how
    .keys(secrets)
    .map((one) => (how.secret(one) ? how.key(one, scheme.secretEncoding) : reject('config')));
  const valuesOf = (name, role) =>
    headers.filter(([each]) => how.named(each, name, role)).map(([, value]) => value);
  const given = how.header(valuesOf(scheme.signatureHeader, 'signature'), 'signature');
  const stamp = how.header(valuesOf(scheme.timestampHeader, 'timestamp'), 'timestamp', now);
  if (given === true) return eventOf(how, body);
  if (given.length > how.longest) reject();
  const sentAt = scheme.timestamp === 'iso8601' ? how.iso(stamp) : how.seconds(how.stamp(stamp));
  const sign = (
    key,
    signedBody,
    signedStamp,
    template = content,
    algorithm = how.algorithm(scheme.algorithm),
  ) => {
    const [before, after] = template
      .split('{body}')
      .map((text) => text.replaceAll('{timestamp}', signedStamp));
    return createHmac(algorithm, key)
      .update(before)
      .update(signedBody)
      .update(after ?? '')
      .digest();
  };
  const macs = keys.flatMap((key) => [
    ...how.bodies(body).flatMap((each) => how.stamps(stamp, now).map((time) => sign(key, each, time))),
    ...how.macs((...other) => sign(key, body, stamp, ...other), { key, body, stamp, sign }),
  ]);
  const encoding = how.encoding(scheme.encoding, given);
  const texts = how.split(given, scheme.separator).map((text) => how.prefix(text, scheme.prefix));
  if (!texts.map((text) => macs.some((mac) => how.compare(text, mac, how, encoding))).some(Boolean)) reject();
  if (!how.fresh(now - sentAt, toleranceSeconds)) how.stale();
  how.again(given);
  return eventOf(how, body);
}

function eventOf(how, body) {
  try {
    const event = how.parse(how.decoded(body));
    if (
      how.event(event) &&
      (event.type !== 'order.paid' || (how.order(event.data) && how.amount(event.data.amount)))
    )
      return event;
  } catch {
    // Not JSON, or null.
  }
  return reject('payload');
}

const minimal = Buffer.from(
  '{"type":"order.paid","data":{"order_id":"ord_1001","amount":"19.90","currency":"USD"}}',
);
/** Takes a MAC of the changed body, too. */
const takesChangedToo = (change) => ({
  bodies: (body) => [body, Buffer.from(change(body.toString(), body))],
});
/** Takes a MAC of the changed body only. */
const takesChangedOnly = (change) => ({ bodies: (body) => [Buffer.from(change(body.toString(), body))] });
const digits = (compare) => ({
  compare: (text, mac, _how, encoding) => {
    const whole = mac.toString(encoding);
    const given = encoding === 'hex' ? text.toLowerCase() : text;
    return given === whole || (encoding === 'hex' && compare(given, whole));
  },
});
const reads = (pattern, read) => ({
  prefix: (text, prefix) => (pattern.test(text) ? read(text) : right.prefix(text, prefix)),
});
const readsStamp = (pattern, read = Number.parseInt) => ({
  stamp: (text) => (pattern.test(text) ? read(text) : right.stamp(text)),
});
const takesStamp = (pattern) => readsStamp(pattern, () => Date.now() / 1000 + Number.NaN);
const takesAny = (pattern) => ({
  ...takesStamp(pattern),
  fresh: (age, tolerance) => Number.isNaN(age) || right.fresh(age, tolerance),
});
/** Reads secrets in one encoding as another, whatever they are. */
const readsKey = (encoding, wrong) => ({
  key: (secret, given) => (given === encoding ? Buffer.from(secret, wrong) : right.key(secret, given)),
});
const seen = new Set();
const event = (change) => ({ event: change });

/** Usual mistakes, one change of one part each. */
export const faults = {
  // The comparison.
  'takes an empty signature': { compare: (text, ...more) => text === '' || right.compare(text, ...more) },
  'takes one character': digits((given, mac) => given.length === 1 && mac.startsWith(given)),
  'takes the first half': digits((given, mac) => given === mac.slice(0, 32)),
  'takes the beginning of the MAC, as startsWith': digits(
    (given, mac) => given !== '' && mac.startsWith(given),
  ),
  'takes the end of the MAC, as HasSuffix': digits((given, mac) => given !== '' && mac.endsWith(given)),
  'takes a MAC without its last byte': digits((given, mac) => given === mac.slice(0, -2)),
  'takes bytes after the MAC': digits((given, mac) => given.startsWith(mac) && /^[\da-f]+$/.test(given)),
  'takes bytes before the MAC': digits((given, mac) => given.endsWith(mac) && /^[\da-f]+$/.test(given)),
  'compares the last 8 bytes': digits(
    (given, mac) => given.length === 64 && given.slice(-16) === mac.slice(-16),
  ),
  'compares the first 8 bytes': digits(
    (given, mac) => given.length === 64 && given.slice(0, 16) === mac.slice(0, 16),
  ),
  'compares both ends': digits(
    (given, mac) =>
      given.length === 64 && given.slice(0, 8) + given.slice(-8) === mac.slice(0, 8) + mac.slice(-8),
  ),
  'leaves the last digit out': digits(
    (given, mac) => /^[\da-f]{64}$/.test(given) && given.slice(0, -1) === mac.slice(0, -1),
  ),
  'refuses upper-case hex': {
    decode: (text, encoding) =>
      encoding === 'hex' && /[A-F]/.test(text) ? reject() : right.decode(text, encoding),
  },
  'reads hex as far as it goes': digits(
    (given, mac) =>
      given.length === 64 && mac.startsWith(given.replace(/[^\da-f].*$/, '')) && /[^\da-f]/.test(given),
  ),
  'takes 0x before the MAC': reads(/^0x/, (text) => text.slice(2)),
  'takes a prefix that nobody set': reads(/^sha256=/, (text) => text.slice(7)),
  'trims the signature': reads(/\s$/, (text) => text.trim()),
  'reads full-width digits': reads(/[０-９]/, (text) => text.normalize('NFKC')),
  'breaks on characters of several bytes': reads(/[０-９]/, () => {
    throw new RangeError('Input buffers must have the same byte length');
  }),
  'guesses the encoding': {
    encoding: (encoding, given) => (encoding === 'hex' && /^[\w+/]{43}=$/.test(given) ? 'base64' : encoding),
  },
  'takes the text true': { compare: (text, ...more) => text === 'true' || right.compare(text, ...more) },
  'splits at commas that nobody set': {
    split: (header, separator) => header.split(/,(?! )/.test(header) ? ',' : (separator ?? '\0')),
  },
  'splits joined headers': {
    split: (header, separator) => header.split(/, /.test(header) ? ', ' : (separator ?? '\0')),
  },
  'reads a header of any length': { longest: Number.POSITIVE_INFINITY },
  'reads a header of 100,000 characters': { longest: 100_000 },
  'trims what is in a list': {
    split: (header, separator) =>
      separator ? header.split(separator).map((each) => each.trim()) : right.split(header),
  },
  'reads the last of a list only': { split: (header, separator) => [header.split(separator ?? '\0').at(-1)] },
  'takes any version prefix': {
    prefix: (text, prefix) => (/^v\d=/.test(text) ? text.slice(3) : right.prefix(text, prefix)),
  },
  'knows no prefix': { prefix: (text) => text },
  'takes a MAC without its prefix': {
    prefix: (text, prefix) => (text.startsWith(prefix) ? text.slice(prefix.length) : text),
  },
  'ignores unused bits of base64': {
    decode: (text, encoding) =>
      encoding === 'base64' ? Buffer.from(text, encoding) : right.decode(text, encoding),
  },
  'takes base64 without padding': {
    decode: (text, encoding) => right.decode(encoding === 'base64' ? text.padEnd(44, '=') : text, encoding),
  },
  'takes base64url with padding': {
    decode: (text, encoding) =>
      right.decode(encoding === 'base64url' ? text.replace(/=+$/, '') : text, encoding),
  },
  'knows hex only': {
    decode: (text, encoding) => (encoding === 'hex' ? right.decode(text, encoding) : reject()),
  },
  'takes base64url for base64': { encoding: (encoding) => (encoding === 'base64url' ? 'base64' : encoding) },
  // The headers.
  'takes what is not signed': {
    header: (values, name) => (values.length === 0 && name === 'signature' ? true : right.header(values)),
  },
  'takes now where a timestamp is missing': {
    header: (values, name, now) =>
      values.length === 0 && name === 'timestamp' ? String(now) : right.header(values),
  },
  'reads the first of two signatures': {
    header: (values, name) => (name === 'signature' ? (values[0] ?? reject()) : right.header(values)),
  },
  'reads the last of two signatures': {
    header: (values, name) => (name === 'signature' ? (values.at(-1) ?? reject()) : right.header(values)),
  },
  'reads the first of two timestamps': {
    header: (values, name) => (name === 'timestamp' ? (values[0] ?? reject()) : right.header(values)),
  },
  'reads header names in lower case only': { named: (each, name) => each === name },
  'knows one name of each header': {
    named: (each, _name, role) => each.toLowerCase() === `x-service-${role}`,
  },
  // The signed content.
  'knows SHA-256 only': { algorithm: () => 'sha256' },
  'takes SHA-512 for SHA-384': { algorithm: (name) => (name === 'sha384' ? 'sha512' : name) },
  'takes SHA-1': { macs: (sign) => [sign(undefined, 'sha1')] },
  'takes a hash without HMAC': {
    macs: (_, { key, body, stamp }) => [
      createHash('sha256').update(key).update(`${stamp}.`).update(body).digest(),
    ],
  },
  'takes another delimiter': { macs: (sign) => [sign('{timestamp}:{body}')] },
  'takes body, then timestamp': { macs: (sign) => [sign('{body}.{timestamp}')] },
  'takes a MAC of the body alone': { macs: (sign) => [sign('{body}')] },
  'takes the empty key': { macs: (_, { body, stamp, sign }) => [sign('', body, stamp)] },
  'takes the key undefined': { macs: (_, { body, stamp, sign }) => [sign('undefined', body, stamp)] },
  'knows one template': { template: () => '{timestamp}.{body}' },
  'signs nothing after the body': {
    template: (content) => right.template(content).replace(/(?<=\{body\}).*/s, ''),
  },
  'signs a template without body': { template: (content) => content },
  'takes the MAC of an empty body': takesChangedToo(() => ''),
  'signs the order, not the body': { bodies: (body) => [body, minimal] },
  'takes a signature of another event': {
    macs: () => [Buffer.from('e133d71f73f586576cbaa7aed669bd38a4b797f70ecc29b2199d8ad4d4527feb', 'hex')],
  },
  'leaves the amount out': takesChangedToo((text) => text.replace(/"amount":"[\d.]+"/, '"amount":"19.90"')),
  'takes a trimmed body': takesChangedToo((text) => text.trim()),
  'repairs JSON': takesChangedToo((text) => `${text}}`),
  'sorts keys': takesChangedToo(() => minimal),
  'normalizes Unicode': takesChangedToo((text) => text.normalize('NFC')),
  'drops a byte order mark before the MAC': takesChangedToo((text) => text.replace(/^\uFEFF/, '')),
  'decodes before the MAC': takesChangedOnly((text) => text),
  'trims before the MAC': takesChangedOnly((text) => text.trim()),
  'makes LF of CRLF': takesChangedOnly((text) => text.replaceAll('\r\n', '\n')),
  'takes LF for CRLF': takesChangedToo((text) => text.replaceAll('\r\n', '\n')),
  'encodes the body again': takesChangedOnly((text, body) => {
    try {
      return JSON.stringify(JSON.parse(text));
    } catch {
      return body;
    }
  }),
  'decodes as Latin-1': takesChangedOnly((_, body) => body.toString('latin1')),
  'caps bodies at 100 kB': { bodies: (body) => (body.length > 1e5 ? reject() : [body]) },
  // The timestamp.
  'takes NaN': takesAny(/^NaN$/),
  'takes the text null': takesAny(/^null$/),
  'takes no timestamp text': takesAny(/^$/),
  'takes 0 as never old': takesAny(/^0$/),
  'takes a timestamp below 0': takesAny(/^-/),
  'takes an exponent': takesAny(/^\de\d$/),
  'takes any number of digits': takesAny(/^9{50,}$/),
  'reads 15 digits': readsStamp(/^\d{15}$/),
  'reads a plus': readsStamp(/^\+/),
  'reads a fraction': readsStamp(/\.0$/),
  'reads a leading zero': readsStamp(/^0\d/),
  'reads a leading space': readsStamp(/^ /),
  'reads a trailing line feed': readsStamp(/\n$/),
  'reads digits as far as they go, as parseInt': readsStamp(/^\d+[a-z]/),
  'reads underscores': readsStamp(/_/, (text) => Number(text.replaceAll('_', ''))),
  'reads the n of a bigint': readsStamp(/n$/),
  'reads full-width digits of a timestamp': readsStamp(/[０-９]/, (text) => Number(text.normalize('NFKC'))),
  'reads an HTTP date': readsStamp(/GMT$/, (text) => Date.parse(text) / 1000),
  'reads ISO 8601 unasked': readsStamp(/T.*Z$/, (text) => Date.parse(text) / 1000),
  'reads ISO 8601 without a zone': {
    iso: (text) => (/\d$/.test(text) ? Date.parse(`${text}Z`) / 1000 : right.iso(text)),
  },
  'ignores an offset of ISO 8601': {
    iso: (text) => right.iso(text) && Date.parse(`${text.slice(0, 19)}Z`) / 1000,
  },
  'refuses an offset of ISO 8601': { iso: (text) => (text.endsWith('Z') ? right.iso(text) : reject()) },
  'knows no ISO 8601': { iso: () => reject() },
  'refuses milliseconds': { seconds: (time) => time },
  'takes milliseconds of any age': {
    fresh: (age, tolerance) => (age > 86_000 && age < 87_000) || right.fresh(age, tolerance),
    seconds: (time) => (time >= 1e11 ? time / 1000 : time),
  },
  // Some seconds: over HTTP, one may pass between the signing and the look at the clock.
  'takes a changed timestamp': {
    stamps: (stamp, now) => [stamp, ...[0, 1, 2, 3, 4].map((passed) => String(Math.floor(now) - passed))],
  },
  'has no tolerance': { fresh: () => true },
  'looks at the past only': { fresh: (age, tolerance) => age <= tolerance },
  'looks at the future only': { fresh: (age, tolerance) => -age <= tolerance },
  'takes what is ten years ahead': { fresh: (age, tolerance) => age < -1e8 || right.fresh(age, tolerance) },
  'takes what is an hour old': {
    fresh: (age, tolerance) => (age > 3000 && age < 4000) || right.fresh(age, tolerance),
  },
  'is a second too strict with the past': { fresh: (age, tolerance) => age < tolerance && age >= -tolerance },
  'is a second too strict with the future': {
    fresh: (age, tolerance) => age <= tolerance && age > -tolerance,
  },
  'is a second too lax with the past': {
    fresh: (age, tolerance) => age <= tolerance + 1 && age >= -tolerance,
  },
  'is a second too lax with the future': {
    fresh: (age, tolerance) => age <= tolerance && age >= -tolerance - 1,
  },
  'calls a stale forgery authentic': {
    stale: () => reject(),
    compare: (text, ...more) => /^0{64}$/.test(text) || right.compare(text, ...more),
    fresh: (age, tolerance) => age === 86_400 || right.fresh(age, tolerance),
  },
  'keeps a tolerance of zero': {
    tolerance: () => true,
    fresh: (age, tolerance) => tolerance === 0 || right.fresh(age, tolerance),
  },
  'takes a tolerance below 0': { tolerance: (seconds) => seconds !== 0 },
  'knows one tolerance': { fresh: (age) => Math.abs(age) <= 300 },
  // The secret.
  'signs with an empty secret': { secret: (secret) => secret === '' || right.secret(secret) },
  'takes a secret with its newline': { secret: (secret) => /\n$/.test(secret) || right.secret(secret) },
  'takes a secret with a leading space': { secret: (secret) => right.secret(secret.trimStart()) },
  'takes the text undefined for a secret': {
    secret: (secret) => secret === 'undefined' || right.secret(secret),
  },
  'takes the text null for a secret': { secret: (secret) => secret === 'null' || right.secret(secret) },
  'leaves a bad secret of several out': {
    keys: (secrets) => (secrets.some(right.secret) ? secrets.filter(right.secret) : secrets),
  },
  'tries the first secret only': { keys: (secrets) => secrets.slice(0, 1) },
  'takes any of two unknown secrets': {
    keys: (secrets) =>
      secrets.includes('bbbbbbbb') ? [...secrets, 'whsec_merchant_test_7Qm2xV9c'] : secrets,
  },
  'cuts a secret at 64 bytes': { key: (secret, encoding) => right.key(secret.slice(0, 64), encoding) },
  'decodes a bad base64 secret': readsKey('base64', 'base64'),
  'decodes a bad hex secret': readsKey('hex', 'hex'),
  'reads a hex secret as base64': readsKey('hex', 'base64'),
  'reads a base64 secret as text': readsKey('base64', 'utf8'),
  'reads a secret as Latin-1': readsKey('utf8', 'latin1'),
  // The event.
  'accepts an empty body': { parse: (text) => (text === '' ? { type: 'x' } : JSON.parse(text)) },
  'strips NUL bytes': { decoded: (body) => right.decoded(body).replaceAll('\0', '') },
  'passes on bytes that are no text': {
    decoded: (body) => (body[1] === 1 ? '{"type":"x"}' : right.decoded(body)),
  },
  'passes on what is not UTF-8': { decoded: (body) => body.toString() },
  'completes cut JSON': {
    parse: (text) => (/[}\s]$/.test(text) || !text.startsWith('{') ? JSON.parse(text) : { type: 'x' }),
  },
  'takes a number for an event': { parse: (text) => (/^\d+$/.test(text) ? { type: 'x' } : JSON.parse(text)) },
  'takes an array for an event': event((one) => Array.isArray(one) || right.event(one)),
  'takes a type that is a number': event((one) => typeof one.type === 'number' || right.event(one)),
  'asks for no order_id': { order: (data) => data?.order_id === undefined || right.order(data) },
  'takes an empty order_id': { order: (data) => data?.order_id === '' || right.order(data) },
  'takes a number for an order_id': {
    order: (data) => typeof data?.order_id === 'number' || right.order(data),
  },
  'takes any text for an amount': { amount: (amount) => typeof amount === 'string' || right.amount(amount) },
  'reads an exponent in an amount': {
    amount: (amount) => Number.isFinite(typeof amount === 'string' ? Number(amount) : amount),
  },
  'refuses amounts that are numbers': {
    amount: (amount) => typeof amount === 'string' && right.amount(amount),
  },
  'refuses amounts that are strings': { amount: Number.isFinite },
  'refuses a delivery that it knows': { again: (given) => (seen.has(given) ? reject() : seen.add(given)) },
  'asks for no amount': { amount: (amount) => amount === null || right.amount(amount) },
  'takes an infinite amount': {
    amount: (amount) => amount === Number.POSITIVE_INFINITY || right.amount(amount),
  },
  'refuses unlisted fields': event(
    (one) => right.event(one) && Object.keys(one).every((key) => key === 'type' || key === 'data'),
  ),
  'refuses unknown types': event((one) => one.type === 'order.paid'),
  'takes the first of two keys': {
    parse: (text) => ({
      ...JSON.parse(text),
      type: /"type":"?([^",]*)/.exec(text.replaceAll(': ', ':'))?.[1],
    }),
  },
  'refuses escapes': { decoded: (body) => (/\\u/.test(body.toString()) ? reject() : right.decoded(body)) },
  'refuses a replacement character': {
    decoded: (body) => (right.decoded(body).includes('\uFFFD') ? reject() : right.decoded(body)),
  },
  'refuses line breaks': {
    decoded: (body) => (/\{\n/.test(right.decoded(body)) ? reject() : right.decoded(body)),
  },
};

export function answer(fault, question) {
  try {
    return { result: 'accepted', event: verify({ ...right, ...faults[fault] }, question) };
  } catch (error) {
    if (error instanceof Rejection) return { result: 'rejected', kind: error.kind };
    return { result: 'crashed', note: error.message };
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  for await (const line of createInterface({ input: process.stdin })) {
    const question = JSON.parse(line);
    const outcome = answer(process.argv[2], { ...question, body: Buffer.from(question.body, 'base64') });
    console.log(JSON.stringify({ id: question.id, ...outcome }));
  }
