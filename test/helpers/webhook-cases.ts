import { readFileSync } from 'node:fs';

/** A body with its MACs, each computed by three independent implementations. */
export interface Vector {
  id: string;
  title: string;
  secret: string;
  timestamp: string;
  bodyLength: number;
  bodySha256: string;
  bodyBase64?: string;
  bodyRecipe?: { head: string; fill: string; tail: string; totalBytes: number };
  hmacSha256: { hex: string; base64: string; base64url: string };
  hmacSha512: { hex: string };
  bodyOnlySha256: { hex: string; base64: string };
  standardWebhooks: { id: string; timestamp: string; secret: string; signature: string };
}

type HeaderText = string | { recipe: { repeat: string; times: number; then: string } };

/** An attack or edge case with its expected result. */
export interface Case {
  id: string;
  title: string;
  body: { vector?: string; base64?: string; js?: string };
  /** Present only in the cases of JavaScript. */
  bodyForm?: string;
  headers: [string, HeaderText][];
  /** Present only in the cases of JavaScript. */
  headersForm?: string;
  secret: unknown;
  clock: number;
  receivedAt?: string;
  toleranceSeconds?: number | { js: string };
  scheme?: Record<string, string>;
  expect: 'accept' | 'reject';
  kind?: 'config' | 'verification' | 'payload';
  code?: string;
  value?: object;
}

const read = (path: string) =>
  JSON.parse(readFileSync(new URL(`../../${path}.json`, import.meta.url), 'utf8'));

export const vectors: Vector[] = read('conformance/vectors').vectors;
/** Those of any language, then those that only JavaScript can express. */
export const cases: Case[] = [
  ...read('conformance/cases').cases,
  ...read('test/fixtures/webhooks/javascript-cases').cases,
];

export function vector(id: string): Vector {
  const found = vectors.find((each) => each.id === id);
  if (!found) throw new Error(`no vector ${id}`);
  return found;
}

export function bodyOf({ bodyBase64, bodyRecipe }: Vector): Buffer {
  if (!bodyRecipe) return Buffer.from(bodyBase64 ?? '', 'base64');
  const { head, fill, tail, totalBytes } = bodyRecipe;
  return Buffer.from(head + fill.repeat(totalBytes - head.length - tail.length) + tail);
}

/** The options of `verify()` that a case describes; `untyped`, as half of them are wrong on purpose. */
export function optionsOf(one: Case): Record<string, unknown> {
  return {
    rawBody: one.body.js ? strangeBody(one.body.js) : inForm(bodyBytes(one), one.bodyForm),
    headers: container(one),
    secret: isJs(one.secret) ? strangeSecret(one.secret.js) : one.secret,
    receivedAt: new Date(one.receivedAt ?? one.clock * 1000),
    ...(one.toleranceSeconds !== undefined && { toleranceSeconds: toleranceOf(one.toleranceSeconds) }),
    ...(one.scheme && { scheme: one.scheme }),
  };
}

function bodyBytes({ body }: Case): Buffer {
  return body.vector ? bodyOf(vector(body.vector)) : Buffer.from(body.base64 ?? '', 'base64');
}

function inForm(bytes: Buffer, form = 'buffer'): unknown {
  if (form === 'string') return bytes.toString();
  if (form === 'dataview') return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (form === 'buffer') return bytes;
  throw new Error(`no body form ${form}`);
}

function strangeBody(name: string): unknown {
  const parsed = JSON.parse(bodyOf(vector('minimal')).toString());
  const bodies: Record<string, unknown> = {
    'parsed-object': parsed,
    undefined: undefined,
    request: new Request('https://shop.example', { method: 'POST', body: JSON.stringify(parsed) }),
    blob: new Blob([JSON.stringify(parsed)]),
    array: [...bodyOf(vector('minimal'))],
  };
  if (!(name in bodies)) throw new Error(`no body ${name}`);
  return bodies[name];
}

function container({ headers, headersForm = 'pairs' }: Case): unknown {
  const pairs = headers.map(([name, value]): [string, unknown] => [name, headerText(value)]);
  const asText = pairs.map(([name, value]): [string, string] => [name, String(value)]);
  switch (headersForm) {
    case 'object':
    case 'polluted-prototype':
      return Object.fromEntries(pairs);
    case 'Headers':
      return new Headers(asText);
    case 'pairs':
      return pairs;
    case 'object-upper':
      return Object.fromEntries(pairs.map(([name, value]) => [name.toUpperCase(), value]));
    case 'array-of-one':
      return Object.fromEntries(pairs.map(([name, value]) => [name, [value]]));
    case 'js-undefined':
      return undefined;
    case 'js-promise':
      return Promise.resolve(new Headers(asText));
    case 'js-number':
      return 7;
    default:
      throw new Error(`no headers form ${headersForm}`);
  }
}

function headerText(value: HeaderText): unknown {
  if (!isObject(value) || !('recipe' in value)) return value;
  const { repeat, times, then } = value.recipe;
  return repeat.repeat(times) + then;
}

function strangeSecret(name: string): unknown {
  const secrets: Record<string, unknown> = {
    'js-null': null,
    'js-empty-array': [],
    'bytes-of-secret': new TextEncoder().encode('whsec_merchant_test_7Qm2xV9c'),
  };
  if (!(name in secrets)) throw new Error(`no secret ${name}`);
  return secrets[name];
}

function toleranceOf(given: number | { js: string }): unknown {
  if (typeof given === 'number') return given;
  return given.js === 'null' ? null : Number(given.js);
}

function isJs(value: unknown): value is { js: string } {
  return typeof value === 'object' && value !== null && 'js' in value;
}

function isObject<Value>(value: Value): value is Value & object {
  return typeof value === 'object' && value !== null;
}
