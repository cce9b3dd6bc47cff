import { type RawBody, readBody } from './body.js';
import { encodeBody } from './delivery.js';
import { headerPairs } from './headers.js';
import { isFromDoctor } from './probe.js';

/** A delivery that was refused, as plain JSON. It is a stranger's data until `recover()` proves it authentic. */
export interface RefusedDelivery {
  /** The reason for the refusal, such as `signature_mismatch`. */
  code: string;
  /** The time at which the delivery was received, in ISO 8601. */
  receivedAt: string;
  /** Length of the body in bytes. */
  bytes: number;
  /**
   * The headers that begin with `x-`, that the scheme signs, or that are named like a signature or timestamp; with your own
   * `verify` all headers but cookies and credentials.
   */
  headers: Record<string, string>;
  /** The body as received; base64 if `encoding` says so. */
  rawBody: string;
  /** `base64` if the body is not valid UTF-8, or has a NUL. */
  encoding?: 'base64' | undefined;
}

/** A request that is not proved authentic and fresh. */
export interface RefusedRequest {
  /** The code in the response. */
  code: string;
  rawBody: RawBody;
  headers: unknown;
  receivedAt: Date;
  /** The names of the headers that the scheme signs, the signature header first. */
  signatureHeaders: readonly string[];
  /** True if `scheme.verify` is set, which may read any header. */
  readsAny: boolean;
}

/**
 * Codes of refusals that no other scheme, secret, tolerance, setup or verifier can fix. `timestamp_too_old` is not one: a
 * wrong clock may have caused it.
 */
const incurable = ['duplicate_header', 'invalid_headers', 'invalid_body'];
const longestRefused = 64 * 1024;
const longestHeader = 4096;

/**
 * Returns the parts of a refused request that `recover()` needs. Returns `undefined` for a request that is not worth keeping:
 * nothing can prove it authentic, it is too large, or the doctor sent it.
 */
export function toRefused(request: RefusedRequest): RefusedDelivery | undefined {
  const { code, receivedAt, signatureHeaders, readsAny } = request;
  if (incurable.includes(code) || isFromDoctor(request.headers)) return undefined;
  const body = readBody(request.rawBody);
  if (body.byteLength > longestRefused) return undefined;
  const mayBeRead = (name: string) =>
    (readsAny || /^x-|sign|timestamp/.test(name)) && !/cookie|authorization/.test(name);
  const kept = headerPairs(request.headers)
    .filter(([name]) => signatureHeaders.includes(name) || mayBeRead(name))
    .filter(([, value]) => value.length <= longestHeader);
  // The scheme may name the wrong header.
  if (!kept.some(([name]) => name === signatureHeaders[0] || name.includes('sign'))) return undefined;
  const facts = { code, receivedAt: receivedAt.toISOString(), bytes: body.byteLength };
  return { ...facts, headers: Object.fromEntries(kept), ...encodeBody(body) };
}
