import { bodyLimit } from 'hono/body-limit';
import { excerptLength } from '../settings.js';
import { Refusal, type RequestNotes } from './notes.js';

/** Refuses a body of more than 1 MiB, as soon as it is over. */
export const limitedBody = bodyLimit({
  maxSize: 1024 * 1024,
  onError: () => {
    throw new Refusal('body_too_large', 'The body is larger than 1 MiB.');
  },
});

/** Reads a JSON object, or refuses. */
export async function readObject(request: Request, notes?: RequestNotes): Promise<Record<string, unknown>> {
  const type = request.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase();
  if (type !== 'application/json')
    throw new Refusal(
      'content_type',
      'The body is not declared as JSON. Send Content-Type: application/json.',
    );
  const text = decode(await request.arrayBuffer());
  if (notes) notes.body = text.slice(0, excerptLength);
  const value = parse(text);
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
  throw new Refusal('validation', 'The body is not a JSON object.');
}

function decode(bytes: ArrayBuffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new Refusal('malformed_json', 'The body is not UTF-8.');
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    const what = text.trim() === '' ? 'The body is empty.' : 'The body is not valid JSON.';
    throw new Refusal('malformed_json', what);
  }
}
