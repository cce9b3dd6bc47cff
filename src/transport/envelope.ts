import type { Answer } from './exchange.js';
import { shielded } from './shield.js';

/** What an answer's body turned out to be. */
export type Envelope =
  /** `code` 0: the service did it. */
  | { kind: 'success'; data: unknown }
  /** Another `code`, which the service uses for errors, whatever the HTTP status. */
  | { kind: 'refusal'; code: number; message: string | undefined }
  /** Something else, for the reason given. */
  | {
      kind: 'unusable';
      reason: 'empty' | 'encoding' | 'json' | 'content_type' | 'envelope';
      problem: string;
    };

const decoder = new TextDecoder('utf-8', { fatal: true });

/**
 * Opens `{code, message, data}`. Spec, "Response envelope": `code` is the integer 0 on success.
 *
 * The content type is not asked for: good JSON under a wrong label is taken, and JSON is UTF-8 whatever its label.
 */
export function openEnvelope(answer: Answer): Envelope {
  const unusable = (
    reason: Extract<Envelope, { kind: 'unusable' }>['reason'],
    problem: string,
  ): Envelope => ({
    kind: 'unusable',
    reason,
    problem,
  });
  if (answer.body.byteLength === 0) return unusable('empty', 'the body is empty');
  let text: string;
  try {
    text = decoder.decode(answer.body);
  } catch {
    return unusable('encoding', 'the body is not valid UTF-8');
  }
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    const type = answer.header('content-type') ?? '';
    if (type === '' || /\bjson\b/i.test(type)) return unusable('json', 'the body is not valid JSON');
    return unusable('content_type', `the body is ${type.split(';')[0]}, not JSON. Check baseUrl`);
  }
  const { code, message, data } = fieldsOf(body);
  if (!Number.isInteger(code)) {
    return unusable('envelope', 'the body is not {code, message, data} with an integer code');
  }
  if (code !== 0) {
    return {
      kind: 'refusal',
      code: Number(code),
      message: typeof message === 'string' ? message : undefined,
    };
  }
  return { kind: 'success', data };
}

/** The fields of a JSON object itself, of which a polluted prototype adds none; nothing where it is no object. */
function fieldsOf(body: unknown): { code?: unknown; message?: unknown; data?: unknown } {
  return shielded(typeof body === 'object' && body !== null ? body : {});
}

/** A body for people to read, or nothing where there is none. All of it: it is cut once secrets are out of it. */
export function snippetOf(body: Uint8Array): string | undefined {
  return body.byteLength === 0 ? undefined : new TextDecoder().decode(body);
}
