/** The part of `Headers` that is used here. */
export interface ResponseHeaders {
  get(name: string): string | null;
  forEach(run: (value: string, name: string) => void): void;
}

/** The headers of a response as they came, names and values: few are read, and `Headers` would take them all apart. */
export function headersFrom(raw: readonly string[]): ResponseHeaders {
  const forEach: ResponseHeaders['forEach'] = (run) => {
    for (let index = 0; index < raw.length; index += 2) run(raw[index + 1] ?? '', raw[index] ?? '');
  };
  const get = (name: string) => {
    const values = raw.filter((_, index) => index % 2 === 1 && raw[index - 1]?.toLowerCase() === name);
    return values.length === 0 ? null : values.join(', ');
  };
  return { get, forEach };
}

/** Status and headers, which arrive before the body and already show the outcome of the call. */
export interface ResponseHead {
  status: number;
  headers: ResponseHeaders;
  /** What has arrived of the body, as far as it can be read. */
  chunks?: Uint8Array<ArrayBuffer>[];
}

/** A response whose body was read to the end. */
export interface CompleteResponse extends ResponseHead {
  /** Decoded; empty for a redirect, whose body is never read. */
  bytes: Uint8Array;
}

/** The encodings of a body, in order: names are case-insensitive (RFC 9110, section 8.4). */
export function encodingsOf(contentEncoding: string | null): string[] {
  const names = contentEncoding?.toLowerCase().split(',') ?? [];
  return names.map((name) => name.trim()).filter((name) => name !== '' && name !== 'identity');
}

export function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

export function isRedirect(status: number): boolean {
  return status >= 300 && status < 400;
}

/** Whether a body calls itself something else than JSON: what a 2xx of a web page or a proxy says. */
export function isForeign(headers: ResponseHeaders): boolean {
  const type = headers.get('content-type') ?? '';
  return type !== '' && !/\bjson\b/i.test(type);
}

/** How the service's success begins, without spaces. */
const successBegins = '{"code":0,';

/** As much of a body, or of what arrived of it. */
function beginning(chunks: readonly Uint8Array[] = []): string {
  const decoder = new TextDecoder();
  const text = chunks.map((chunk) => decoder.decode(chunk)).join('');
  return text.replace(/\s/g, '').slice(0, successBegins.length);
}

/** Whether a body that cannot be parsed is the service's all the same: nothing at all, or the beginning of a success. */
export function isBegun({ headers, bytes }: CompleteResponse): boolean {
  return bytes.byteLength === 0 ? !isForeign(headers) : beginning([bytes]) === successBegins;
}

/** Whether a body that was not read to its end may be the service's success, by its type and by what arrived of it. */
export function mayBeSuccess({ headers, chunks }: ResponseHead): boolean {
  return !isForeign(headers) && successBegins.startsWith(beginning(chunks));
}

/** A larger body is not from the service, and reading stops. Counted after decompression. */
export const largestBody = 8 * 1024 * 1024;
