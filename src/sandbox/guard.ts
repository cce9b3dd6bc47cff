import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

/**
 * Keeps other websites' pages from driving the sandbox through a visitor's browser: unsafe methods must come from
 * the sandbox's own pages, and forms carry a token that only those pages know.
 */
export class Guard {
  readonly #secret = randomBytes(32);

  /** The token of one form scope, such as a checkout's id. */
  token(scope: string): string {
    return createHmac('sha256', this.#secret).update(scope).digest('base64url');
  }

  checkToken(scope: string, given: unknown): boolean {
    return typeof given === 'string' && sameText(given, this.token(scope));
  }

  /** Whether a request that changes something may come from where it says it comes from. */
  fromHere(request: Request, origin: string): boolean {
    const site = request.headers.get('sec-fetch-site');
    if (site !== null && site !== 'same-origin' && site !== 'none') return false;
    const from = request.headers.get('origin');
    return from === null || from === origin || from === new URL(request.url).origin;
  }
}

/** Compares two texts in time that tells nothing about where they differ. */
export function sameText(a: string, b: string): boolean {
  return timingSafeEqual(digest(a), digest(b));
}

const digest = (text: string) => createHash('sha256').update(text).digest();
