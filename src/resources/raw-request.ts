import * as z from 'zod/mini';
import type { Issue } from '../errors.js';
import { didYouMean } from '../input/closest.js';
import { isObject, ownFields } from '../input/object.js';
import { hasBlankOrControl } from '../input/url.js';
import { quote, visible } from '../input/visible.js';
import type { Operation, Query, ReadParts, RequestParts } from '../transport/call.js';

/** A request to an operation that has no method of its own. */
export interface RawRequest {
  /** All but GET count as writes. */
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Appended to `baseUrl`, such as `/v1/products`; its segments are already encoded. */
  path: string;
  /** Added to the path, encoded; what is `undefined` is left out, and the name of an array is repeated. */
  query?: Query | undefined;
  /** Anything that can be written as JSON. */
  body?: unknown;
}

const methods: readonly unknown[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
const partNames = ['method', 'path', 'query', 'body'];

/** Reads the fields of a request: what errors and hooks call it, and how it is checked. */
export function readRawRequest(request: RawRequest): { operation: Operation; readParts: ReadParts } {
  const copy = ownFields<Partial<RawRequest>>(request, partNames) ?? {};
  const { method, path } = copy;
  const operation = {
    operation: 'request',
    method: methods.includes(method) ? String(method) : '',
    path: typeof path === 'string' ? path : '',
    recoveryHint: 'Check whether it was done before you send it again.',
    mayBeEmpty: method !== 'GET',
  };
  return { operation, readParts: (issues) => check(issues, copy) };
}

/** A schema that takes any data, of whatever type the caller says: `never` is assignable to every type. */
export const unchecked = z.custom<never>();

/** Returns query and body of a request, and adds what is wrong with it to `issues`. */
function check(issues: Issue[], request: Partial<RawRequest>): RequestParts {
  const refuse = (field: string, message: string) => issues.push({ path: visible(field), message });
  const { method, path, query, body, ...rest } = request;
  for (const name of Object.keys(rest))
    refuse(name, `is not a field of a request. ${didYouMean(name, partNames)}`);
  const whatIsWrong = method === undefined ? 'is missing' : `${quote(method)} is not supported`;
  if (!methods.includes(method)) refuse('method', `${whatIsWrong}. Pass GET, POST, PUT, PATCH or DELETE.`);
  const pathProblem = problemOfPath(path);
  if (pathProblem) refuse('path', `${pathProblem} Pass one under baseUrl, such as "/v1/products".`);
  if (query !== undefined && (!isObject(query) || Symbol.iterator in query))
    refuse('query', 'is not an object of names and values.');
  const pairs = Object.entries(query ?? {}).filter(([, value]) => value !== undefined);
  for (const [name, value] of pairs)
    if (![value].flat().every((each) => Number.isFinite(each) || ['string', 'boolean'].includes(typeof each)))
      refuse(`query.${name}`, 'must be a string, finite number or boolean, or an array of them.');
  if (method === 'GET' && body !== undefined) refuse('body', 'is not allowed with GET. Use query.');
  return { query: Object.fromEntries(pairs), body };
}

/** A path must not lead to another path, origin or query: the URL parser must leave it unchanged. */
function problemOfPath(path: unknown): string | undefined {
  if (path === undefined) return 'is missing.';
  if (typeof path !== 'string') return 'is not a string.';
  if (!path.startsWith('/')) return `${quote(path)} does not begin with a slash.`;
  if (/[?#]/.test(path)) return `${quote(path)} contains a query or a hash. Move it to query.`;
  const base = 'https://base.invalid';
  const url = !hasBlankOrControl(path) && URL.canParse(path, base) ? new URL(path, base) : undefined;
  return url?.href === base + path && !/%2e/i.test(path)
    ? undefined
    : `${quote(path)} is not a path with encoded segments.`;
}
