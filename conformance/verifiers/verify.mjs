// A verifier in JavaScript, written from README.md alone. `node conformance/run.mjs --stdio -- node conformance/verifiers/verify.mjs`
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

export class Rejected extends Error {
  constructor(kind) {
    super(kind);
    this.kind = kind;
  }
}

export function verify({ body, headers, secrets, now, toleranceSeconds, scheme }) {
  if (!(toleranceSeconds > 0) || !scheme.content.includes('{body}')) throw new Rejected('config');
  const keys = secrets.map((secret) => keyOf(secret, scheme.secretEncoding));
  const signatureHeader = only(headers, scheme.signatureHeader);
  const timestamp = only(headers, scheme.timestampHeader);
  const sentAt = secondsOf(timestamp, scheme.timestamp);
  const macs = signaturesOf(signatureHeader, scheme);
  const [before, after] = scheme.content
    .split('{body}')
    .map((text) => text.replaceAll('{timestamp}', timestamp));
  const signed = Buffer.concat([Buffer.from(before), body, Buffer.from(after)]);
  const isSigned = keys.some((key) => {
    const mac = createHmac(scheme.algorithm, key).update(signed).digest();
    return macs.some((each) => timingSafeEqual(each, mac));
  });
  if (!isSigned) throw new Rejected('verification');
  if (Math.abs(now - sentAt) > toleranceSeconds) throw new Rejected('verification');
  return eventOf(body);
}

function keyOf(secret, encoding) {
  if (secret === '' || secret.trim() !== secret || secret === 'null' || secret === 'undefined') {
    throw new Rejected('config');
  }
  const key = Buffer.from(secret, encoding);
  if (encoding !== 'utf8' && key.toString(encoding) !== secret) throw new Rejected('config');
  return key;
}

function only(headers, name) {
  const values = headers.filter(([each]) => each.toLowerCase() === name).map(([, value]) => value);
  if (values.length !== 1 || values[0].length > 4096) throw new Rejected('verification');
  return values[0];
}

function secondsOf(text, unit) {
  if (unit === 'iso8601') {
    if (!/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/.test(text)) {
      throw new Rejected('verification');
    }
    return Date.parse(text) / 1000;
  }
  if (!/^[1-9]\d{0,13}$/.test(text)) throw new Rejected('verification');
  return Number(text) >= 1e11 ? Number(text) / 1000 : Number(text);
}

function signaturesOf(header, { prefix, separator, encoding, algorithm }) {
  const length = createHmac(algorithm, '').digest().length;
  return (separator ? header.split(separator) : [header]).map((item) => {
    if (!item.startsWith(prefix)) throw new Rejected('verification');
    const text = item.slice(prefix.length);
    const bytes = Buffer.from(text, encoding);
    const again = bytes.toString(encoding);
    const isExact = encoding === 'hex' ? again === text.toLowerCase() : again === text;
    if (!isExact || bytes.length !== length) throw new Rejected('verification');
    return bytes;
  });
}

function eventOf(body) {
  try {
    const event = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
    const { type, data } = event;
    const isPaid = typeof data?.order_id === 'string' && data.order_id !== '' && isMoney(data.amount);
    if (typeof type === 'string' && (type !== 'order.paid' || isPaid)) return event;
  } catch {
    // Not JSON, or null.
  }
  throw new Rejected('payload');
}

function isMoney(amount) {
  return typeof amount === 'string' ? /^\d+(\.\d+)?$/.test(amount) : Number.isFinite(amount);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await answerQuestions();

async function answerQuestions() {
  for await (const line of createInterface({ input: process.stdin })) {
    const question = JSON.parse(line);
    const outcome = { id: question.id };
    try {
      outcome.event = verify({ ...question, body: Buffer.from(question.body, 'base64') });
      outcome.result = 'accepted';
    } catch (error) {
      outcome.result = error instanceof Rejected ? 'rejected' : 'crashed';
      outcome.kind = error.kind;
      outcome.note = error.message;
    }
    console.log(JSON.stringify(outcome));
  }
}
