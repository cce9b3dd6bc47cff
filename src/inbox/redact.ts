import { Buffer } from 'node:buffer';
import { redactor } from '../input/redact.js';
import { escapeInvisible } from '../input/visible.js';

/** Matches what looks like an API key, a webhook secret, a login, or the user and password in a URL. */
const secretLike =
  /(?:service|\b[srp]k)_(?:live|test)_[\w-]+|whsec_[\w+/=%-]+|\bbearer\s+\S+|\bbasic\s+(?=\S*[\d=])\S+|(?<=:\/\/)[^\s/]+(?=@)/gi;
/** The most characters that are read, and the most that are stored. */
const longestRead = 100_000;
const longest = 500;

/** Returns an error as text that may be stored: short, without the webhook secrets and API keys. */
export function redactError(error: unknown, secrets: unknown): string {
  const own = [secrets, process.env.PAYMENTS_API_KEY].flat().map((given) => {
    return ArrayBuffer.isView(given)
      ? Buffer.from(given.buffer, given.byteOffset, given.byteLength).toString()
      : String(given ?? '');
  });
  const text = redactor(own)(errorText(error).slice(0, longestRead));
  const lines = text.replace(secretLike, '[redacted]').split('\n');
  return lines.map(escapeInvisible).join('\n').slice(0, longest);
}

function errorText(error: unknown): string {
  try {
    return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  } catch {
    return 'The error could not be read.';
  }
}
