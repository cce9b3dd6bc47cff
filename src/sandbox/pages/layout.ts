import { randomBytes } from 'node:crypto';
import { html, raw } from 'hono/html';
import { theme } from './theme.js';

/** Escaped HTML. */
export type Html = ReturnType<typeof html>;

export interface PageParts {
  title: string;
  content: Html;
  style: string;
  script: string;
  lang?: string | undefined;
  /** The text of the banner. */
  banner: string;
  /** More for the head. */
  head?: Html | undefined;
  status?: number | undefined;
  /** Where the browser is redirected after a second. */
  refresh?: string | undefined;
}

/** A whole page with headers that let only our own style and script load. */
export async function page(parts: PageParts): Promise<Response> {
  const { title, content, style, script, lang = 'en', banner, head, status = 200, refresh } = parts;
  const nonce = randomBytes(16).toString('base64');
  const text = await html`<!doctype html>
<html lang="${lang}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" href="data:,">
<style nonce="${nonce}">${raw(compact(theme + style))}</style>
${head}
</head>
<body>
<aside class="banner" aria-label="Sandbox" data-testid="sandbox-banner">${banner}</aside>
${content}
<script nonce="${nonce}">${raw(submitAndCopy + script)}</script>
</body>
</html>`;
  return new Response(String(text), {
    status,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'content-security-policy': policy(nonce),
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'same-origin',
      ...(refresh === undefined ? {} : { refresh: `1; url=${new URL(refresh).href}` }),
    },
  });
}

/** One submission per click, and buttons that copy. */
const submitAndCopy = `
document.addEventListener('submit', (event) => {
  const form = event.target;
  if (form.dataset.sent) return event.preventDefault();
  form.dataset.sent = 'yes';
  setTimeout(() => delete form.dataset.sent, 3000);
});
if (navigator.clipboard) document.documentElement.classList.add('copies');
document.addEventListener('click', async ({ target }) => {
  const button = target.closest('[data-copy]');
  if (!button) return;
  await navigator.clipboard.writeText(button.dataset.copy);
  const say = document.querySelector('[data-say]');
  const before = button.textContent;
  say.textContent = button.textContent = say.dataset.copied;
  setTimeout(() => { button.textContent = before; say.textContent = ''; }, 1500);
});
`;

const policy = (nonce: string): string =>
  [
    `default-src 'none'`,
    `script-src 'nonce-${nonce}'`,
    `style-src 'nonce-${nonce}'`,
    `img-src 'self' data: http: https:`,
    `connect-src 'self'`,
    `form-action 'self'`,
    `base-uri 'none'`,
    `frame-ancestors 'none'`,
  ].join('; ');

/** Style without the indentation of its source. */
const compact = (css: string): string => css.replace(/\n\s*/g, '\n').trim();
