/**
 * The names of headers that carry credentials. The values of other headers, such as a content type or a tenant, stay
 * readable in errors.
 */
const credentialName =
  /^cookie$|(?:^|[^a-z])(?:auth(?:orization)?$|(?:api|auth|access)?(?:key|token)|bearer|jwt|secret|signature|pass(?:word|phrase)|credential|session)s?(?:[^a-z]|$)/;

/**
 * Returns the values of headers (names in lower case) that must not be shown, and their parts: the credentials after
 * `Bearer`, and each cookie.
 */
export function secretsOf(headers: Readonly<Record<string, string>>): string[] {
  return Object.entries(headers)
    .filter(([name]) => credentialName.test(name))
    .flatMap(([name, value]) => [
      value,
      value.replace(/^[\w-]+ +/, ''),
      ...(name === 'cookie' ? value.split(/; */).map((each) => each.replace(/^[^=]*=/, '')) : []),
    ]);
}

/** A pattern that finds API keys by their prefix. */
export const apiKeys = /service_(?:live|test)_[\w-]+/gi;

/** Returns a function that removes the client's secrets from foreign text, in each encoding in which a server may echo them. */
export function redactor(secrets: readonly string[]): (text: string) => string {
  let patterns: readonly RegExp[] | undefined; // created for the first text, as most calls redact none
  return (text) => {
    patterns ??= patternsOf(secrets);
    return patterns.reduce((rest, pattern) => rest.replace(pattern, '[redacted]'), text);
  };
}

function patternsOf(secrets: readonly string[]): RegExp[] {
  const forms = secrets.filter((secret) => secret.length >= 6).flatMap(formsOf);
  const longestFirst = [...new Set(forms)].sort((a, b) => b.length - a.length);
  return [...longestFirst.map(patternOf), apiKeys];
}

function formsOf(secret: string): string[] {
  // A surrogate without its other half makes encodeURIComponent() throw.
  const encoded = encodeURIComponent(secret.replace(/\p{Surrogate}/gu, '\ufffd'));
  // btoa() takes one character for each byte, and Jest with jsdom has no TextEncoder.
  const binary = encoded.replace(/%(..)/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
  const base64 = btoa(binary).replace(/(?<!=)=+$/, '');
  const base64url = base64.replaceAll('+', '-').replaceAll('/', '_');
  const json = JSON.stringify(secret).slice(1, -1);
  return [secret, json, encoded, base64, base64url];
}

/** The longest pattern that is used: V8 refuses one of 64,000 characters. */
const longestPattern = 20_000;

/**
 * Returns the pattern of a secret in one form. It ignores case: servers echo host names in lower case, and percent-encoding in
 * either case. If the pattern would be too long, it compares only the beginning of the secret, unescaped, and removes at most
 * as many characters as the secret has.
 */
function patternOf(form: string): RegExp {
  const whole = form.replace(/[^a-z\d]/gi, patternOfCharacter);
  if (whole.length <= longestPattern) return new RegExp(whole, 'gi');
  const beginning = form.slice(0, 1000).replace(/[^a-z\d]/gi, '\\$&');
  return new RegExp(`${beginning}.{0,${Math.max(0, form.length - 1000)}}`, 'gi');
}

/** Returns a pattern of a character as it is, or as JSON, HTML or a URL writes it. */
function patternOfCharacter(sign: string): string {
  const code = sign.charCodeAt(0);
  const hex = code.toString(16).padStart(2, '0');
  return `(?:\\\\?\\${sign}|\\\\u00${hex}|&#0*${code};|&#x0*${hex};|&[a-z]{2,8};|%${hex})`;
}
