import { randomBytes } from 'node:crypto';
import { html, raw } from 'hono/html';

type Html = ReturnType<typeof html>;

const style = `
  body { font: 16px/1.5 system-ui, sans-serif; max-width: 32rem; margin: 0 auto; padding: 1rem; color-scheme: light dark }
  .banner { background: #fff3cd; color: #533f03; padding: .5rem .75rem; border-radius: .5rem }
  button, .button { font: inherit; min-height: 44px; padding: .5rem 1rem }
`;

/** A whole page with the headers that keep it safe: nothing loads or runs but what is ours. */
export async function page(
  title: string,
  content: Html,
  { status = 200, headers = {} }: { status?: number; headers?: Record<string, string> } = {},
): Promise<Response> {
  const nonce = randomBytes(16).toString('base64');
  const text = await html`<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>${title}</title>
    <style nonce="${nonce}">${raw(style)}</style>
  </head>
  <body>
    <p class="banner">Sandbox: no money moves. Never enter a real card.</p>
    <main>${content}</main>
  </body>
</html>`;
  return new Response(String(text), {
    status,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'content-security-policy': [
        `default-src 'none'`,
        `script-src 'nonce-${nonce}'`,
        `style-src 'nonce-${nonce}'`,
        `img-src 'self' data: http: https:`,
        `connect-src 'self'`,
        `form-action 'self'`,
        `base-uri 'none'`,
        `frame-ancestors 'none'`,
      ].join('; '),
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'same-origin',
      ...headers,
    },
  });
}
