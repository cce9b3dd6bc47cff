import { visible } from '../schemas/visible.js';

/** What looks like an API key, a webhook secret, or the user and password in a URL. */
const secretLike =
  /\b(?:service|sk|rk|pk)_(?:live|test)_[\w-]+|\bwhsec_[\w+/=-]+|\bBearer \S+|(?<=:\/\/)[^\s/@]+(?=@)/g;
const longest = 500;

/** An error as text that may be stored: short, without the webhook secrets and API keys. */
export function redacted(error: unknown, secrets: unknown): string {
  let text = readable(error);
  for (const given of [secrets, process.env.PAYMENTS_API_KEY].flat()) {
    const secret = ArrayBuffer.isView(given) ? new TextDecoder().decode(given) : String(given ?? '');
    if (secret.length >= 6) text = text.replaceAll(secret, '[redacted]');
  }
  const lines = text.replace(secretLike, '[redacted]').split('\n');
  return lines.map(visible).join('\n').slice(0, longest);
}

function readable(error: unknown): string {
  try {
    return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  } catch {
    return 'The error could not be read.';
  }
}
