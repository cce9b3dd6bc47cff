import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Context } from 'hono';
import { getCookie, setCookie } from 'hono/cookie';

/**
 * Keeps other websites' pages from driving the sandbox through a visitor's browser: unsafe methods must come from its
 * own pages, whose forms carry a token. Where other machines can reach it, dashboard and control routes require an
 * access token too. Why not hono's `csrf()` and `bearerAuth()`: docs/decisions/hono-middleware.md.
 */
export class Guard {
  readonly #secret = randomBytes(32);
  /** Set while other machines can reach the sandbox. */
  accessToken: string | undefined;

  /** The token of one form scope, such as a checkout's id. */
  token(scope: string): string {
    return createHmac('sha256', this.#secret).update(scope).digest('base64url');
  }

  checkToken(scope: string, given: string | undefined): boolean {
    return sameText(given, this.token(scope));
  }

  /** Lets a request to pages or control routes through, or responds to it. */
  async protect(c: Context, origin: string, next: () => Promise<void>): Promise<Response | undefined> {
    const { method, path } = c.req;
    if (method === 'OPTIONS') return c.text('Other origins have no access.\n', 405);
    const safe = method === 'GET' || method === 'HEAD';
    if (!safe && !fromHere(c, origin)) return c.text("The request comes from another site's page.\n", 403);
    if (this.accessToken === undefined || isOpen(path) || this.#knows(c)) return void (await next());
    const url = new URL(c.req.url);
    if (!safe || !sameText(url.searchParams.get('token'), this.accessToken)) return c.text(needsToken, 401);
    setCookie(c, cookieName, this.accessToken, { path: '/', httpOnly: true, sameSite: 'Strict' });
    url.searchParams.delete('token');
    return c.redirect(url.pathname + url.search, 303);
  }

  #knows(c: Context): boolean {
    const bearer = /^Bearer (\S+)$/.exec(c.req.header('authorization') ?? '')?.[1];
    return [bearer, getCookie(c, cookieName)].some((given) => sameText(given, this.accessToken));
  }
}

const cookieName = 'sandbox_token';
const needsToken =
  'This needs the access token. Open the dashboard by the link that was printed at the start; in a program, send it as "authorization: Bearer <SANDBOX_TOKEN>".\n';

/** Paths that customers and health checks reach without a token. */
const isOpen = (path: string) => /^\/(?:pay|wallet)\/|^\/_sandbox\/health$/.test(path);

/** Whether a request that changes something comes from the sandbox's own pages, or from no page at all. */
function fromHere(c: Context, origin: string): boolean {
  const site = c.req.header('sec-fetch-site');
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return false;
  const from = c.req.header('origin');
  return from === undefined || from === origin || from === new URL(c.req.url).origin;
}

/** Compares in constant time, except for the length. A missing text equals nothing, not even another. */
export function sameText(a: string | null | undefined, b: string | undefined): boolean {
  if (typeof a !== 'string' || b === undefined) return false;
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.byteLength === right.byteLength && timingSafeEqual(left, right);
}
