import { type Exchange, Refusal } from './exchange.js';
import { excerptLength } from './log.js';

/** Bytes of a request's body that are read at most. */
export const bodyLimit = 1024 * 1024;

/** Reads a JSON object, or refuses. */
export async function readObject(request: Request, exchange: Exchange): Promise<Record<string, unknown>> {
  const type = request.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase();
  if (type !== 'application/json')
    throw new Refusal(
      'content_type',
      'The body is not declared as JSON. Send Content-Type: application/json.',
    );
  const text = decode(await readBytes(request));
  exchange.body = text.slice(0, excerptLength);
  const value = parse(text);
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
  throw new Refusal('validation', 'The body is not a JSON object.');
}

/** The whole body, or a refusal as soon as it is over the limit. */
export async function readBytes(request: Request): Promise<Uint8Array> {
  if (Number(request.headers.get('content-length') ?? 0) > bodyLimit) throw tooLarge();
  if (!request.headers.has('transfer-encoding')) return whole(request);
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body ?? []) {
    size += chunk.byteLength;
    if (size > bodyLimit) throw tooLarge();
    chunks.push(chunk);
  }
  const [first] = chunks;
  return chunks.length === 1 && first ? first : Buffer.concat(chunks);
}

/** A body of known length, or one that is in memory already: read at once, which costs a third of reading a stream. */
async function whole(request: Request): Promise<Uint8Array> {
  const bytes = new Uint8Array(await request.arrayBuffer());
  if (bytes.byteLength > bodyLimit) throw tooLarge();
  return bytes;
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
    throw new Refusal(
      'malformed_json',
      text.trim() === '' ? 'The body is empty.' : 'The body is not valid JSON.',
    );
  }
}

const tooLarge = () => new Refusal('body_too_large', 'The body is larger than 1 MiB.');
