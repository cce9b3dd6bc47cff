import { Buffer } from 'node:buffer';

/** The form in which a platform has encoded a body once more, and the body that was sent. */
export interface RecodedBody {
  form: 'base64' | 'JSON string';
  sent: Uint8Array;
}

/**
 * Returns the body before a platform encoded it as base64 or as a JSON string, if it is a JSON object.
 * Parses nothing but a JSON string, because the body is not authentic.
 */
export function decodeRecoded(body: Uint8Array): RecodedBody | undefined {
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString().trim();
  const sent = Buffer.from(text, 'base64');
  if (sent.toString('base64') === text && isObject(sent.toString())) return { form: 'base64', sent };
  const inner = text.startsWith('"') && readString(text);
  return inner && isObject(inner) ? { form: 'JSON string', sent: Buffer.from(inner) } : undefined;
}

/** Advice on getting the body that was sent, by form. */
export const decodingOf: Readonly<Record<RecodedBody['form'], string>> = {
  base64: "The body is base64, as AWS Lambda passes it: decode it, or pass `encoding: 'base64'`.",
  'JSON string':
    'The body is a JSON string that holds the body: something encoded it once more. Pass `JSON.parse(rawBody)`.',
};

function isObject(text: string): boolean {
  const trimmed = text.trim();
  return trimmed.startsWith('{') && trimmed.endsWith('}');
}

function readString(text: string): string | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
