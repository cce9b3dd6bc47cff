const keyLike = 'service_(?:live|test)_[\\w-]+';

/** Removes the client's secrets from text that came from outside, in each encoding in which they may be echoed. */
export function redactor(secrets: readonly string[]): (text: string) => string {
  const forms = secrets.filter((secret) => secret.length >= 6).flatMap(formsOf);
  const literals = [...new Set(forms)].sort((a, b) => b.length - a.length).map(literal);
  // Case-insensitive: host names are echoed in lower case, percent-encoding in either.
  const pattern = new RegExp([...literals, keyLike].join('|'), 'gi');
  return (text) => text.replace(pattern, '[redacted]');
}

function formsOf(secret: string): string[] {
  const base64 = btoa(secret).replace(/(?<!=)=+$/, '');
  const base64url = base64.replaceAll('+', '-').replaceAll('/', '_');
  const json = JSON.stringify(secret).slice(1, -1);
  return [secret, json, encodeURIComponent(secret), base64, base64url];
}

function literal(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
}
