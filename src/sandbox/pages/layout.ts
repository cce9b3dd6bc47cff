// This folder has the pages of the sandbox: the payment page for customers and the dashboard for developers.
import { randomBytes } from 'node:crypto';
import { html, raw } from 'hono/html';
import { script } from './script.js';
import { theme } from './theme.js';

/** Escaped HTML. */
export type Html = ReturnType<typeof html>;

export interface PageParts {
  title: string;
  content: Html;
  style: string;
  banner: string;
  head?: Html | false;
  status?: number | undefined;
  /** URL that the browser is redirected to, and the delay. */
  refresh?: { url: string; seconds: number } | undefined;
}

/** Returns a whole page, with headers that let only its own style and script load. */
export async function page(parts: PageParts): Promise<Response> {
  const { title, content, style, banner, head, status = 200, refresh } = parts;
  const nonce = randomBytes(16).toString('base64');
  const text = await html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" href="data:,">
<style nonce="${nonce}">${raw(unindent(theme + style))}</style>
${head}
</head>
<body>
<aside class="banner" aria-label="Sandbox" data-testid="sandbox-banner">${banner}</aside>
${content}
<script nonce="${nonce}">${raw(unindent(script))}</script>
</body>
</html>`;
  const policy = [
    `default-src 'none'`,
    `script-src 'nonce-${nonce}'`,
    `style-src 'nonce-${nonce}'`,
    `img-src 'self' data: http: https:`,
    `connect-src 'self'`,
    `form-action 'self'`,
    `base-uri 'none'`,
    `frame-ancestors 'none'`,
  ];
  return new Response(String(text), {
    status,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'content-security-policy': policy.join('; '),
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'same-origin',
      ...(refresh === undefined ? {} : { refresh: `${refresh.seconds}; url=${new URL(refresh.url).href}` }),
    },
  });
}

const unindent = (source: string): string => source.replace(/\n\s*/g, '\n').trim();

/** Returns a form with a token that only its own page knows. */
export const postForm = (action: string, token: string, content: Html): Html =>
  html`<form method="post" action="${action}"><input type="hidden" name="token" value="${token}">${content}</form>`;

const icons = {
  arrow: '<path d="M16 10H4m0 0 5-5m-5 5 5 5"/>',
  card: '<rect x="2" y="4" width="16" height="12" rx="2.5"/><path d="M2 8h16M5.5 12.5h3"/>',
  phone: '<rect x="5.5" y="2" width="9" height="16" rx="2.2"/><path d="M9 15h2"/>',
  parcel:
    '<path d="m10 2.5 6.5 3.4v8.2L10 17.5l-6.5-3.4V5.9zM3.7 6 10 9.3 16.3 6M10 9.3v8M6.9 4.2l6.3 3.3"/>',
  clock: '<circle cx="10" cy="10" r="7.5"/><path d="M10 5.8V10l2.8 1.8"/>',
  check: '<path d="m4.5 10.5 3.7 3.7 7.3-8"/>',
  cross: '<path d="m5.5 5.5 9 9m0-9-9 9"/>',
  alert: '<circle cx="10" cy="10" r="7.5"/><path d="M10 6v4.7M10 13.7v.1"/>',
};
export type IconName = keyof typeof icons;

export const icon = (name: IconName, size = 20): Html =>
  html`<svg class="icon" aria-hidden="true" width="${size}" height="${size}" viewBox="0 0 20 20" fill="none" stroke="currentColor" stroke-width="1.6" stroke-linecap="round" stroke-linejoin="round">${raw(icons[name])}</svg>`;
