import type { Issue } from '../errors.js';
import { quote } from '../schemas/params.js';
import { hasBlankOrControl } from '../schemas/url.js';
import type { Operation, Parts } from '../transport/transport.js';
import { invalid } from './check.js';

/** A request to an operation that has no method of its own. */
export interface RawRequest {
  /** All but GET count as writes. */
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** From `baseUrl` on, such as `/v1/products`, with its parts already encoded. */
  path: string;
  query?: Readonly<Record<string, string | number | boolean | undefined>> | undefined;
  /** Anything that JSON can hold. */
  body?: unknown;
}

/** What errors and hooks call the request. */
export function rawOperation({ method, path }: Partial<RawRequest>): Operation {
  return {
    operation: 'request',
    method: String(method),
    path: String(path),
    afterDoubt: 'Find out what became of it before you send it again.',
  };
}

/** Query and body of a request that can be sent as it is; what cannot be meant is refused. */
export function checkRawRequest(operation: Operation, request: Partial<RawRequest>): Parts {
  const { method, path, query, body, ...rest } = request;
  const issues: Issue[] = Object.keys(rest).map((name) => ({
    path: name,
    message: 'is not a part of a request.',
  }));
  const refuse = (field: string, message: string) => issues.push({ path: field, message });
  if (!['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].includes(String(method))) {
    refuse('method', `${quote(method)} is none of GET, POST, PUT, PATCH and DELETE.`);
  }
  if (typeof path !== 'string' || !isPlainPath(path)) {
    refuse(
      'path',
      `${quote(path)} is not a path under baseUrl, such as "/v1/products", with its parts encoded.`,
    );
  }
  if (query !== undefined && (typeof query !== 'object' || query === null))
    refuse('query', 'is not an object.');
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value !== undefined && !['string', 'number', 'boolean'].includes(typeof value)) {
      refuse(`query.${name}`, 'is neither text nor a number nor true or false.');
    }
  }
  if (body !== undefined && method === 'GET') refuse('body', 'cannot go with GET.');
  if (body !== undefined && !isJson(body)) refuse('body', 'cannot be written as JSON.');
  if (issues.length > 0) throw invalid(operation, issues);
  return { query: { ...query }, body };
}

/** A path that the URL parser leaves as it is: nothing in it leads to another place, origin or query. */
function isPlainPath(path: string): boolean {
  if (!path.startsWith('/') || path.startsWith('//') || hasBlankOrControl(path)) return false;
  const url = URL.canParse(path, 'https://base.invalid') ? new URL(path, 'https://base.invalid') : undefined;
  return (
    url?.href === `https://base.invalid${path}` && url.search === '' && url.hash === '' && !/%2e/i.test(path)
  );
}

function isJson(body: unknown): boolean {
  try {
    return JSON.stringify(body) !== undefined;
  } catch {
    return false;
  }
}
