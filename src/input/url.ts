const loopbackName = /^(?:localhost|.+\.localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/** True if a parsed URL's host is the local machine: 127.0.0.0/8, ::1, localhost or *.localhost. */
export function isLoopback(url: URL): boolean {
  return loopbackName.test(url.hostname);
}

/** Returns the text of a `URL` object of any realm, and any other value unchanged. */
export function urlText(value: unknown): unknown {
  return Object.prototype.toString.call(value) === '[object URL]' ? String(value) : value;
}

/** True if a value is in quotes or `<…>`, as some tools leave the value of an environment variable. */
export function isQuoted(value: unknown): boolean {
  return typeof value === 'string' && /^(["'`]).*\1$|^<.*>$/.test(value);
}

/**
 * A pattern of URLs that mean something else to the parser. It takes `localhost` in `localhost:3000` for a scheme, and repairs
 * `https:/shop.example`, which a browser takes for a path relative to the current page.
 */
const notMeant = /^(?:[^:]*:\d|https?:(?!\/\/[^/\\]))/i;

/** Returns an absolute URL, or `undefined` if the text is not one. */
export function parseAbsoluteUrl(text: string): URL | undefined {
  return isAbsoluteUrl(text) ? new URL(text) : undefined;
}

/** True if a text is an absolute URL, and parsing it drops and trims nothing. */
export function isAbsoluteUrl(text: string): boolean {
  return !hasBlankOrControl(text) && !notMeant.test(text) && URL.canParse(text);
}

/** True if a text has white space or control characters, which the URL parser drops silently. */
export function hasBlankOrControl(text: string): boolean {
  return /[\p{Cc} \u00a0\u2028\u2029\ufeff]/u.test(text);
}

/** Schemes that run code or read files instead of opening a web page. */
export const unsafeSchemes: readonly string[] = ['javascript:', 'data:', 'vbscript:', 'file:'];
