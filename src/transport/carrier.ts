import type { Carrier } from './exchange.js';
import { fetchCarrier } from './fetch-exchange.js';
import { nodeCarrier } from './node-exchange.js';

/** Node's and Deno's `http` costs half of their fetch and says more; elsewhere the platform's fetch is the better one. */
export function carrierFor(baseUrl: URL, fetch: typeof globalThis.fetch | undefined): Carrier {
  if (fetch) return fetchCarrier(fetch);
  return hasNodeHttp() ? nodeCarrier(baseUrl) : fetchCarrier((input, init) => globalThis.fetch(input, init));
}

function hasNodeHttp(): boolean {
  if (typeof process === 'undefined' || typeof process.getBuiltinModule !== 'function') return false;
  return (
    process.release?.name === 'node' &&
    !process.versions.bun &&
    globalThis.navigator?.userAgent !== 'Cloudflare-Workers'
  );
}
