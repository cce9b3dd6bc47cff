import * as z from 'zod/mini';
import { describeIssues } from '../schemas/issues.js';
import { isObject } from '../schemas/object.js';
import { idProblem } from '../schemas/params.js';
import { ownFields } from './call-options.js';
import { type CallDescription, type FailedAttempt, refusal, unusable } from './failures.js';
import { type CompleteResponse, encodingsOf, isRedirect, isSuccess } from './fetch-contract.js';
import { isPolluted, shielded } from './shield.js';

/** The data of a response, parsed by the schema, or why there is none. */
export function readResponse<T>(
  call: CallDescription,
  response: CompleteResponse,
  schema: z.ZodMiniType<T>,
): { data: T; error: undefined } | FailedAttempt {
  const { status, bytes } = response;
  if (isRedirect(status)) {
    const problem = `it redirects${redirectTarget(call, response)}, and following it could expose the API key. Check baseUrl`;
    return unusable(call, status, 'redirect', problem);
  }
  const envelope = openEnvelope(response);
  if (!isSuccess(status) || envelope.kind === 'refusal') {
    const said = envelope.kind === 'refusal' ? envelope : {};
    // The whole body: it is shortened after secrets are removed.
    const snippet = bytes.byteLength === 0 ? undefined : new TextDecoder().decode(bytes);
    return refusal(call, response, { ...said, snippet });
  }
  if (envelope.kind === 'unusable') {
    const mayBeCut = envelope.reason === 'json' && !response.delimited;
    const retriable = mayBeCut ? 'reads' : 'never';
    return unusable(call, status, envelope.reason, envelope.problem, { retriable });
  }
  const parsed = z.safeParse(schema, envelope.data);
  if (parsed.success) return { data: parsed.data, error: undefined };
  if (envelope.data === undefined || envelope.data === null)
    return unusable(call, status, 'envelope', 'it has no data');
  const issues = describeIssues(parsed.error.issues);
  const shown = issues.slice(0, 5).map(({ path, message }) => `${path || 'data'}: ${message}`);
  const problem = shown.join('; ') + (issues.length > 5 ? `; and ${issues.length - 5} more` : '');
  return unusable(call, status, 'schema', problem, { issues, id: idOf(envelope.data) });
}

/** A parsed response body. */
type Envelope =
  /** `code` 0: success. */
  | { kind: 'success'; data: unknown }
  /** Another `code`, which the service uses for errors, whatever the HTTP status. */
  | { kind: 'refusal'; code: number; message: string | undefined }
  /** Something else, for the reason given. */
  | { kind: 'unusable'; reason: UnusableReason; problem: string };

type UnusableReason = 'empty' | 'encoding' | 'json' | 'content_type' | 'envelope';

const decoder = new TextDecoder('utf-8', { fatal: true });

/**
 * Opens `{code, message, data}`. Spec, "Response envelope": `code` is the integer 0 on success.
 *
 * The content type does not matter: valid JSON is accepted under any, and JSON is always UTF-8.
 */
function openEnvelope({ bytes, headers }: CompleteResponse): Envelope {
  if (bytes.byteLength === 0) return unusableFor('empty', 'the body is empty');
  let text: string;
  try {
    text = decoder.decode(bytes);
  } catch {
    const encodings = encodingsOf(headers.get('content-encoding')).join(', ');
    return encodings === ''
      ? unusableFor('encoding', 'the body is not valid UTF-8')
      : unusableFor('encoding', `the body cannot be decoded: its Content-Encoding is ${encodings}`);
  }
  let body: unknown;
  try {
    // Objects inherit nothing where a polluted prototype would fill in what the response lacks.
    body = JSON.parse(text, isPolluted() ? (_, value: unknown) => ownFields(value) ?? value : undefined);
  } catch {
    const type = headers.get('content-type') ?? '';
    if (type === '' || /\bjson\b/i.test(type)) return unusableFor('json', 'the body is not valid JSON');
    return unusableFor('content_type', `the body is ${type.split(';')[0]}, not JSON. Check baseUrl`);
  }
  const { code, message, data } = fieldsOf(body);
  if (!Number.isInteger(code)) {
    return unusableFor('envelope', 'the body is not {code, message, data} with an integer code');
  }
  if (code === 0) return { kind: 'success', data };
  return { kind: 'refusal', code: Number(code), message: typeof message === 'string' ? message : undefined };
}

function unusableFor(reason: UnusableReason, problem: string): Envelope {
  return { kind: 'unusable', reason, problem };
}

/** The own fields of a JSON object, without those of a polluted prototype; none if it is not an object. */
function fieldsOf(body: unknown): Partial<Record<'code' | 'message' | 'data' | 'id', unknown>> {
  return shielded(isObject(body) ? body : {});
}

/** The host of a Location, the only part that is safe to print. */
function redirectTarget(call: CallDescription, { headers }: CompleteResponse): string {
  const location = headers.get('location');
  const base = `https://${call.host}`;
  if (location === null || !URL.canParse(location, base)) return '';
  const { host, protocol } = new URL(location, base);
  return ` to ${call.redact(host || protocol)}`;
}

/** The id in data that is otherwise unusable, if it is a valid one. */
function idOf(data: unknown): string | undefined {
  const { id } = fieldsOf(data);
  return typeof id === 'string' && idProblem(id) === undefined ? id : undefined;
}
