import { Buffer } from 'node:buffer';
import { WebhookConfigError } from '../errors.js';
import { hasMethods, isThenable } from '../input/functions.js';
import { invalidOptions } from './options.js';

/** A body as received: bytes, or the string that they decode to. */
export type RawBody = string | ArrayBuffer | ArrayBufferView;

/** The longest body that the handlers read, in bytes: 1 MiB. */
export const longestBody = 1024 * 1024;

/** Returns the bytes that were signed and will be parsed. A string is text, or base64 if `encoding` says so. */
export function readBody(rawBody: unknown, encoding?: unknown): Uint8Array {
  if (encoding !== undefined) return readBase64(rawBody, encoding);
  if (typeof rawBody === 'string') return Buffer.from(rawBody);
  try {
    if (ArrayBuffer.isView(rawBody)) {
      // Another thread could change shared memory between the MAC and the parser.
      const own = rawBody.buffer instanceof ArrayBuffer;
      if (own && rawBody instanceof Uint8Array) return rawBody;
      const bytes = new Uint8Array(rawBody.buffer, rawBody.byteOffset, rawBody.byteLength);
      return own ? bytes : bytes.slice();
    }
    if (isArrayBuffer(rawBody)) return new Uint8Array(rawBody);
    throw invalidBody(...mistake(rawBody));
  } catch (error) {
    if (error instanceof WebhookConfigError) throw error;
    throw invalidBody('rawBody could not be read', 'Pass the bytes as received, before you transfer them');
  }
}

/** Returns the bytes of a stored body that is not valid UTF-8. */
function readBase64(rawBody: unknown, encoding: unknown): Uint8Array {
  if (encoding !== 'base64')
    throw invalidOptions('encoding must be "base64", or left out where rawBody is text.');
  const bytes = typeof rawBody === 'string' && Buffer.from(rawBody, 'base64');
  if (bytes && bytes.toString('base64') === rawBody) return bytes;
  throw invalidBody(
    'rawBody is not base64, as encoding says',
    'Pass rawBody and encoding of the same delivery',
  );
}

/**
 * True for an `ArrayBuffer` of any realm. `instanceof` fails on buffers of another realm, which test runners and edge
 * runtimes pass.
 */
function isArrayBuffer(value: unknown): value is ArrayBuffer {
  return Object.prototype.toString.call(value) === '[object ArrayBuffer]';
}

/** Returns the problem of a value that was passed instead of raw bytes, and the fix. */
function mistake(given: unknown): [problem: string, fix: string] {
  if (given === undefined || given === null) {
    return ['rawBody is missing', 'In Express, give the route express.raw({ type: "application/json" })'];
  }
  if (typeof given !== 'object') return ['rawBody is neither bytes nor a string', rawBytes];
  if (isThenable(given)) return ['rawBody is a promise', 'Write `await` before it'];
  if (hasMethods(given, 'arrayBuffer')) {
    return ['rawBody is a whole Request, Response or Blob', 'Pass `await request.arrayBuffer()`'];
  }
  if (hasMethods(given, 'getReader') || hasMethods(given, 'pipe')) {
    return ['rawBody is a stream', 'Read it to its end and pass the bytes, or use webhooks.nodeHandler()'];
  }
  if (Array.isArray(given)) return ['rawBody is an array', 'Pass bytes as a Uint8Array or Buffer'];
  return ['rawBody is a parsed object, and the signature covers the bytes that were received', rawBytes];
}

/** Advice on keeping the raw bytes, by framework. */
export const rawBytes =
  'Keep them: in Express express.raw({ type: "application/json" }) on this route, before express.json(); ' +
  'with a Fetch request `await request.arrayBuffer()`; in NestJS `rawBody: true` and req.rawBody';

export function invalidBody(problem: string, fix: string): WebhookConfigError {
  return new WebhookConfigError(`The webhook cannot be verified: ${problem}. ${fix}.`, 'invalid_body');
}
