import * as z from 'zod/mini';
import { isObject } from '../input/object.js';
import { describeIssues } from '../input/read.js';
import { idParam } from '../schemas/params.js';
import {
  encodingsOf,
  hasForeignType,
  isRedirect,
  isSuccess,
  type ResponseHead,
  type WholeResponse,
} from './response.js';
import {
  type CallDescription,
  errorOfRefusal,
  errorOfUnusableResponse,
  type FailedAttempt,
  type Problem,
  type RefusalText,
} from './to-error.js';

/** Returns the data that the schema reads from a response, or the failure if there is none. */
export async function readData<T>(
  call: CallDescription,
  response: WholeResponse,
  schema: z.ZodMiniType<T>,
): Promise<{ data: T; error: undefined } | FailedAttempt> {
  const { status } = response;
  if (isRedirect(status)) {
    const problem = `it redirects${describeTarget(call, response)}, and following it could expose the API key`;
    return errorOfUnusableResponse(call, response, {
      reason: 'redirect',
      problem,
      outcome: 'unknown',
      isForeign: true,
    });
  }
  const bytes = await response.bytes();
  const isEmpty = call.mayBeEmpty && isSuccess(status) && bytes.byteLength === 0 && isOwnEmpty(response);
  const { body, fault } = isEmpty ? { body: { code: 0 }, fault: undefined } : parseBody(response, bytes);
  const { code, data } = fieldsOf(body);
  const isEnvelope = isInteger(code);
  if (!isSuccess(status) || (isEnvelope && code !== 0)) {
    const snippet = new TextDecoder().decode(bytes) || undefined;
    // `code` 0 means success, so the message beside it describes no failure.
    const said = { ...readRefusalText(code === 0 ? undefined : body), snippet };
    const note = ' The response is not JSON: a proxy or another site may have sent it.';
    return errorOfRefusal(call, response, said, fault?.reason === 'content_type' ? note : '');
  }
  if (fault) {
    const mayBeCut = fault.reason === 'json' && !isDelimited(response);
    const failed = errorOfUnusableResponse(call, response, { ...fault, outcome: 'unknown' });
    return mayBeCut ? { ...failed, retriable: 'get' } : failed;
  }
  if (!isEnvelope) {
    const problem = 'the body is not {code, message, data} with an integer code';
    return errorOfUnusableResponse(call, response, {
      reason: 'envelope',
      problem,
      outcome: 'unknown',
      isForeign: true,
    });
  }
  const parsed = z.safeParse(schema, data, { error: wordIssue });
  if (parsed.success) return { data: parsed.data, error: undefined };
  if (data === undefined || data === null)
    return errorOfUnusableResponse(call, response, {
      reason: 'envelope',
      problem: 'it has no data',
      outcome: 'done',
    });
  const issues = describeIssues(parsed.error.issues.slice(0, 100));
  const named = issues
    .slice(0, 5)
    .map(({ path, message }) => `${path || 'data'}: ${message}${describeItem(path, data)}`);
  if (issues.length > 5) named.push('and more');
  const { data: id } = z.safeParse(idParam, fieldsOf(data).id);
  return errorOfUnusableResponse(call, response, {
    reason: 'schema',
    problem: named.join('; '),
    outcome: 'done',
    issues,
    id,
  });
}

/** True unless an empty body is a web page, which does not come from the service. A 204 or 205 has none, whatever type it names. */
function isOwnEmpty({ status, headers }: ResponseHead): boolean {
  return status === 204 || status === 205 || !/\bhtml\b/i.test(headers.get('content-type') ?? '');
}

/** Returns the page and the id of the list item that a path leads into, or an empty string. */
function describeItem(path: string, data: unknown): string {
  const { items, pagination } = fieldsOf(data);
  const [name, index] = path.split('.');
  if (name !== 'items' || index === undefined || !Array.isArray(items)) return '';
  const { page } = fieldsOf(pagination);
  const { data: id } = z.safeParse(idParam, fieldsOf(items[Number(index)]).id);
  const facts = [isInteger(page) && `page ${page}`, id !== undefined && `id ${JSON.stringify(id)}`].filter(
    Boolean,
  );
  return facts.length === 0 ? '' : ` (${facts.join(', ')})`;
}

/** Returns the message of a zod issue. It never quotes the value, which may be secret. */
function wordIssue(issue: z.core.$ZodRawIssue): string {
  if (issue.code === 'invalid_type') return `expected ${nouns[issue.expected] ?? issue.expected}`;
  if (issue.code === 'too_small') return `expected at least ${issue.minimum}`;
  return issue.code === 'too_big' ? `expected at most ${issue.maximum}` : 'expected another value';
}

/** The types in words, by the name that zod gives them. */
const nouns: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'an integer',
  object: 'an object',
  array: 'an array',
};

/**
 * True if a truncated body would have been noticed: its end is marked by a length or a last chunk.
 * For a truncated compressed body, platforms return the readable part without an error.
 */
function isDelimited({ headers }: ResponseHead): boolean {
  const announced = headers.get('content-length') !== null || headers.get('transfer-encoding') !== null;
  return announced && headers.get('content-encoding') === null;
}

/** The reason for which a body cannot be parsed. */
type Fault = Pick<Problem, 'reason' | 'problem' | 'isForeign'>;

/** A decoder that the first response creates: Jest with jsdom has no TextDecoder, and can load this file all the same. */
let decoder: TextDecoder | undefined;

/** Parses a body. JSON is accepted under any content type, and is always UTF-8. */
function parseBody(head: ResponseHead, bytes: Uint8Array): { body?: unknown; fault?: Fault } {
  if (bytes.byteLength === 0)
    return { fault: { reason: 'empty', problem: 'the body is empty', isForeign: hasForeignType(head) } };
  let text: string;
  decoder ??= new TextDecoder('utf-8', { fatal: true });
  try {
    text = decoder.decode(bytes);
  } catch {
    const encodings = encodingsOf(head.headers.get('content-encoding')).join(', ');
    const problem = encodings
      ? `the body cannot be decoded: its Content-Encoding is ${encodings}`
      : 'the body is not valid UTF-8';
    return { fault: { reason: 'encoding', problem, isForeign: hasForeignType(head) } };
  }
  try {
    return { body: JSON.parse(text) };
  } catch {
    const type = head.headers.get('content-type')?.split(';')[0];
    return hasForeignType(head)
      ? { fault: { reason: 'content_type', problem: `the body is ${type}, not JSON`, isForeign: true } }
      : { fault: { reason: 'json', problem: 'the body is not valid JSON', isForeign: !/^\s*\{/.test(text) } };
  }
}

/**
 * Returns the code and the message of a refusal. The spec documents only the body of a 401, `{code, message}`; gateways and
 * services also send `{error: {code, message}}` and `{error}`.
 */
function readRefusalText(body: unknown): Omit<RefusalText, 'snippet'> {
  const { code, message, error } = fieldsOf(body);
  const inner = fieldsOf(error);
  return {
    code: [code, inner.code].find((each) => isText(each) || isInteger(each)),
    message: [message, inner.message, error].find(isText),
  };
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function isInteger(value: unknown): value is number {
  return Number.isInteger(value);
}

type FieldName = 'code' | 'message' | 'error' | 'data' | 'id' | 'items' | 'pagination' | 'page';

/** Returns the fields of a JSON object, or no fields if the value is not an object. */
function fieldsOf(body: unknown): Partial<Record<FieldName, unknown>> {
  return isObject(body) ? body : {};
}

/** Returns the host of a Location, the only part that is safe to print. */
function describeTarget(call: CallDescription, { headers }: ResponseHead): string {
  const location = headers.get('location');
  const base = `https://${call.host}`;
  if (location === null || !URL.canParse(location, base)) return '';
  const { host, protocol } = new URL(location, base);
  return ` to ${host || protocol}`;
}
