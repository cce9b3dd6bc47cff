// Makes the delivery that a case's recipe describes, for any secret, clock and scheme.
import { createHash, createHmac } from 'node:crypto';
import { bytesOf } from './corpus.mjs';

/** `{ body, headers }`: bytes, and [name, value] pairs in their order. */
export function makeDelivery(one, { secret, now, scheme }) {
  const recipe = one.recipe;
  const sentAt = now + (recipe.offsetSeconds ?? 0);
  const timestamp = stampOf(recipe.timestamp ?? '{seconds}', sentAt);
  const mac = macOf({
    key: recipe.key ?? secret,
    algorithm: recipe.algorithm ?? 'sha256',
    content: recipe.content ?? scheme.content,
    timestamp: recipe.signedTimestamp ? stampOf(recipe.signedTimestamp, sentAt) : timestamp,
    body: recipe.signs ? bytesOf({ vector: recipe.signs }) : bytesOf(one.body),
  });
  const parts = { signature: signatureOf(recipe.signature ?? '{mac}', mac, scheme.encoding), timestamp };
  const headers = Object.entries(scheme.headers).flatMap(([name, templates]) => {
    const kept = templates.filter((template) => !recipe.omit || !template.includes(`{${recipe.omit}}`));
    if (kept.length === 0) return [];
    const value = (values) => fill(kept.join(','), values);
    const pair = [name, value(parts)];
    const isRepeated = recipe.repeated && kept.join().includes(`{${recipe.repeated}}`);
    if (!isRepeated) return [pair];
    const wrong = [name, value({ ...parts, signature: zerosLike(mac).toString(scheme.encoding) })];
    return recipe.rightFirst ? [pair, wrong] : [wrong, pair];
  });
  return { body: bytesOf(one.body), headers };
}

function stampOf(template, seconds) {
  return fill(template, {
    seconds: String(seconds),
    'seconds+1': String(seconds + 1),
    milliseconds: String(seconds * 1000),
    iso: new Date(seconds * 1000).toISOString().replace('.000', ''),
    httpDate: new Date(seconds * 1000).toUTCString(),
  });
}

function macOf({ key, algorithm, content, timestamp, body }) {
  const [before, after] = content.split('{body}').map((text) => fill(text, { timestamp }));
  const signed = Buffer.concat([Buffer.from(before), body, Buffer.from(after)]);
  if (algorithm === 'sha256-without-hmac') return createHash('sha256').update(key).update(signed).digest();
  return createHmac(algorithm, key).update(signed).digest();
}

function signatureOf(template, mac, encoding) {
  const text = mac.toString(encoding);
  const flipped = (at) => mac.map((byte, index) => (index === at ? byte ^ 3 : byte)).toString(encoding);
  return fill(template, {
    mac: text,
    first: text.slice(0, 1),
    half: text.slice(0, text.length / 2),
    start: text.slice(0, -2),
    rest: text.slice(1),
    secondHalf: text.slice(text.length / 2),
    upper: text.toUpperCase(),
    flipped: flipped(mac.length - 1),
    flippedFirst: flipped(0),
    flippedMiddle: flipped(mac.length / 2),
    zeros: zerosLike(mac).toString(encoding),
    base64: mac.toString('base64'),
  });
}

function zerosLike(mac) {
  return Buffer.alloc(mac.length);
}

function fill(template, values) {
  return template.replaceAll(/\{([^{}]+)\}/g, (whole, name) => values[name] ?? whole);
}
