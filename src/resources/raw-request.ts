import * as z from 'zod/mini';
import type { Issue } from '../errors.js';
import { checkedField } from '../input/fields.js';
import { readInto } from '../input/read.js';
import { hasBlankOrControl } from '../input/url.js';
import { quote } from '../input/visible.js';
import type { Operation, Query, ReadParts, RequestParts } from '../transport/call.js';

/** A request to an operation that has no method of its own. */
export interface RawRequest {
  /** The HTTP method. All methods but GET count as writes. */
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** The path after `baseUrl`, such as `/v1/products`; its segments are already encoded. */
  path: string;
  /** The query, not encoded. `undefined` values are left out, and the name of an array is repeated for each of its values. */
  query?: Query | undefined;
  /** The body: any value that can be written as JSON. */
  body?: unknown;
}

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

const noMethod = 'Pass GET, POST, PUT, PATCH or DELETE.';
const noValue = 'must be a string, finite number or boolean, or an array of them.';
const value = z.union([z.string(), z.number(), z.boolean()]);

const requestParams = z.strictObject({
  method: z.enum(methods, {
    error: ({ input }) =>
      `${input === undefined ? 'is missing' : `${quote(input)} is not supported`}. ${noMethod}`,
  }),
  path: checkedField<string>((path) =>
    problemOfPath(path)?.concat(' Pass one under baseUrl, such as "/v1/products".'),
  ),
  query: z.optional(
    z.record(
      z.string(),
      z.optional(z.union([value, z.array(value)], noValue)),
      'is not an object of names and values.',
    ),
  ),
  body: z.optional(z.unknown()),
});

/** Returns the operation that errors and hooks name, and a function that reads the parts of a request. */
export function readRawRequest(request: RawRequest): { operation: Operation; readParts: ReadParts } {
  const { method, path }: Partial<Record<keyof RawRequest, unknown>> = Object(request);
  const operation = {
    operation: 'request',
    method: methods.find((known) => known === method) ?? '',
    path: typeof path === 'string' ? path : '',
    recoveryHint: 'Check whether it was done before you send it again.',
    mayBeEmpty: method !== 'GET',
  };
  return { operation, readParts: (issues) => readRequestParts(issues, request) };
}

function readRequestParts(issues: Issue[], request: RawRequest): RequestParts {
  const { method, query, body } = readInto(issues, requestParams, request) ?? {};
  if (method === 'GET' && body !== undefined)
    issues.push({ path: 'body', message: 'is not allowed with GET. Use query.' });
  // zod drops a field with this name silently.
  if (Object.hasOwn(Object(request?.query), '__proto__'))
    issues.push({ path: 'query.__proto__', message: 'is reserved by JavaScript. Choose another name.' });
  return { query, body };
}

/** A schema that accepts any data as the type that the caller names: `never` is assignable to every type. */
export const unchecked = z.custom<never>();

/**
 * Returns the problem of a path, if it has one. The URL parser must leave the path unchanged, so that it leads to no other
 * path, origin or query.
 */
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
