import { Refusal, type RequestNotes } from './notes.js';

/** The longest request body, in bytes. */
const bodyLimit = 1024 * 1024;

/** Reads a JSON object, or refuses. Without notes, nothing at all is an empty object too: a POST of our own routes. */
export async function readObject(request: Request, notes?: RequestNotes): Promise<Record<string, unknown>> {
  const type = request.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase();
  const bytes = await readBytes(request);
  if (!notes && bytes.byteLength === 0 && (type === undefined || type === 'application/json')) return {};
  if (type !== 'application/json')
    throw new Refusal(
      'content_type',
      'The body is not declared as JSON. Send Content-Type: application/json.',
    );
  const text = decode(bytes);
  if (notes) notes.body = text;
  const value = parse(text);
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
  throw new Refusal('validation', 'The body is not a JSON object.');
}

/** Reads the fields of a form, or refuses. */
export async function readForm(request: Request): Promise<Record<string, string>> {
  return Object.fromEntries(new URLSearchParams(decode(await readBytes(request))));
}

/** The whole body, or a refusal as soon as it is over the limit. Why not hono's: docs/decisions/hono-middleware.md. */
async function readBytes(request: Request): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body ?? []) {
    size += chunk.byteLength;
    if (size > bodyLimit) throw new Refusal('body_too_large', 'The body is larger than 1 MiB.');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function decode(bytes: Uint8Array): string {
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
