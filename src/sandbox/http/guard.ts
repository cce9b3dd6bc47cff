import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Context } from 'hono';
import { getCookie, setCookie } from 'hono/cookie';

/**
 * Keeps pages of other websites from driving the sandbox through a visitor's browser: unsafe methods must come from the
 * sandbox's own pages, whose forms carry a token. If other machines can reach the sandbox, dashboard and control routes
 * require an access token too. docs/decisions/hono-middleware.md says why hono's `csrf()` and `bearerAuth()` are not used.
 */
export class Guard {
  readonly #secret = randomBytes(32);
  /** Access token, set while other machines can reach the sandbox. */
  accessToken: string | undefined;

  /** Returns the token of the forms of one scope, such as a checkout's id. */
  token(scope: string): string {
    return createHmac('sha256', this.#secret).update(scope).digest('base64url');
  }

  checkToken(scope: string, given: string | undefined): boolean {
    return sameText(given, this.token(scope));
  }

  /** Lets a request to pages or control routes through, or responds with a refusal or a redirect. */
  async protect(c: Context, origin: string, next: () => Promise<void>): Promise<Response | undefined> {
    const { method, path } = c.req;
    if (method === 'OPTIONS') return c.text('Other origins have no access.\n', 405);
    const safe = method === 'GET' || method === 'HEAD';
    if (!safe && !isFromHere(c, origin)) return c.text("The request comes from another site's page.\n", 403);
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

/** True if customers and health checks reach a path without a token. */
const isOpen = (path: string) => /^\/(?:pay|wallet)\/|^\/_sandbox\/health$/.test(path);

/** True if an unsafe request comes from the sandbox's own pages, or from no page at all. */
function isFromHere(c: Context, origin: string): boolean {
  const site = c.req.header('sec-fetch-site');
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return false;
  const from = c.req.header('origin');
  return from === undefined || from === origin || from === new URL(c.req.url).origin;
}

/** Compares two texts in constant time, except for their length. A missing text equals nothing, not even another missing one. */
export function sameText(a: string | null | undefined, b: string | undefined): boolean {
  if (typeof a !== 'string' || b === undefined) return false;
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.byteLength === right.byteLength && timingSafeEqual(left, right);
}
