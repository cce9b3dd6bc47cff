import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

/**
 * Keeps other websites' pages from driving the sandbox through a visitor's browser: unsafe methods must come from
 * the sandbox's own pages, and forms carry a token that only those pages know. Where other machines can reach the
 * sandbox, dashboard and control routes ask for an access token too.
 */
export class Guard {
  readonly #secret = randomBytes(32);
  /** Set while other machines can reach the sandbox. */
  accessToken: string | undefined;

  /** The token of one form scope, such as a checkout's id. */
  token(scope: string): string {
    return createHmac('sha256', this.#secret).update(scope).digest('base64url');
  }

  checkToken(scope: string, given: unknown): boolean {
    return typeof given === 'string' && sameText(given, this.token(scope));
  }

  /** Lets a request to pages or control routes through, or answers it. */
  async protect(
    request: Request,
    path: string,
    origin: string,
    next: () => Promise<void>,
  ): Promise<Response | undefined> {
    const { method } = request;
    if (method === 'OPTIONS') return plain(405, 'Other origins have no access.');
    const safe = method === 'GET' || method === 'HEAD';
    if (!safe && !fromHere(request, origin)) return plain(403, "The request comes from another site's page.");
    if (this.accessToken === undefined || isOpen(path) || this.#knows(request)) {
      await next();
      return undefined;
    }
    const url = new URL(request.url);
    const offered = url.searchParams.get('token');
    if (!safe || offered === null || !sameText(offered, this.accessToken))
      return plain(
        401,
        'This needs the access token. Open the dashboard by the link that was printed at the start.',
      );
    url.searchParams.delete('token');
    const cookie = `${cookieName}=${this.accessToken}; Path=/; HttpOnly; SameSite=Strict`;
    return new Response(null, {
      status: 303,
      headers: { location: url.pathname + url.search, 'set-cookie': cookie },
    });
  }

  #knows(request: Request): boolean {
    const bearer = /^Bearer (\S+)$/.exec(request.headers.get('authorization') ?? '')?.[1];
    const cookies = request.headers.get('cookie')?.split(/; */) ?? [];
    const cookie = cookies.find((one) => one.startsWith(`${cookieName}=`))?.slice(cookieName.length + 1);
    return [bearer, cookie].some((given) => given !== undefined && sameText(given, this.accessToken ?? ''));
  }
}

const cookieName = 'sandbox_token';

/** What a customer and a health check reach without a token. */
const isOpen = (path: string) => /^\/(?:pay|wallet)\/|^\/_sandbox\/health$/.test(path);

/** Whether a request that changes something may come from where it says it comes from. */
function fromHere(request: Request, origin: string): boolean {
  const site = request.headers.get('sec-fetch-site');
  if (site !== null && site !== 'same-origin' && site !== 'none') return false;
  const from = request.headers.get('origin');
  return from === null || from === origin || from === new URL(request.url).origin;
}

/** Compares two texts in time that tells nothing but whether they are of one length. */
export function sameText(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.byteLength === right.byteLength && timingSafeEqual(left, right);
}

const plain = (status: number, text: string) =>
  new Response(`${text}\n`, { status, headers: { 'content-type': 'text/plain; charset=utf-8' } });
