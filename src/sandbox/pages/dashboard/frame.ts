import { html } from 'hono/html';
import type { SandboxContext } from '../../context.js';
import { alertIcon } from '../icons.js';
import { type Html, page } from '../layout.js';
import { dashboardScript } from './script.js';
import { dashboardStyle } from './style.js';

const tabs = [
  ['/', 'Overview'],
  ['/checkouts', 'Checkouts'],
  ['/events', 'Events'],
  ['/requests', 'Requests'],
  ['/developer', 'Developer'],
] as const;

export interface DashboardPage {
  title: string;
  /** Which tab is the current one. */
  tab: (typeof tabs)[number][0];
  content: Html;
  /** Why the last action failed. */
  problem?: string | undefined;
  status?: number | undefined;
}

/** A page of the dashboard: tabs, what went wrong, content. */
export function dashboardPage({ title, tab, content, problem, status }: DashboardPage): Promise<Response> {
  return page({
    title: `${title} · Sandbox`,
    banner: 'Sandbox: no money moves. What you see here never reached the service.',
    style: dashboardStyle,
    script: dashboardScript,
    status,
    content: html`<header class="top"><div class="wrap">
<a class="brand" href="/"><span class="mark" aria-hidden="true"></span>Sandbox</a>
<nav aria-label="Dashboard">${tabs.map(([href, name]) => html`<a href="${href}"${href === tab && html` aria-current="page"`}>${name}</a>`)}</nav>
</div></header>
<main class="wrap">
${problem !== undefined && html`<div class="notice bad" role="alert" tabindex="-1" autofocus data-testid="problem">${alertIcon}<p>${problem}</p></div>`}
${content}
<div class="spoken" role="status" data-say></div>
</main>`,
  });
}

/** A form that does one thing. */
export function actionForm(context: SandboxContext, action: string, content: Html): Html {
  return html`<form method="post" action="${action}"><input type="hidden" name="token" value="${context.guard.token('dashboard')}">${content}</form>`;
}

/** A part of the page that is brought up to date while the page is looked at. */
export const live = (name: string, content: Html): Html => html`<div data-live="${name}">${content}</div>`;

export const empty = (text: string, more?: Html): Html =>
  html`<div class="empty"><p>${text}</p>${more}</div>`;

export const badge = (text: string, tone: 'good' | 'bad' | 'warn' | 'calm'): Html =>
  html`<span class="badge ${tone}">${text}</span>`;

export const copyButton = (text: string, what: string): Html =>
  html`<button class="button small" type="button" hidden data-copy="${text}" aria-label="Copy ${what}">Copy</button>`;

/** A table that scrolls by itself where the screen is narrow. */
export const table = (label: string, head: readonly string[], rows: readonly Html[]): Html =>
  html`<div class="scroll" role="region" aria-label="${label}" tabindex="0"><table>
<thead><tr>${head.map((name) => html`<th scope="col">${name === '' ? html`<span class="spoken">Actions</span>` : name}</th>`)}</tr></thead>
<tbody>${rows}</tbody></table></div>`;

/** The newest first, fifty a page. */
export function paged<T>(
  all: readonly T[],
  asked: string | undefined,
): { items: T[]; pages: number; page: number } {
  const pages = Math.max(1, Math.ceil(all.length / 50));
  const page = Math.min(pages, Math.max(1, Number.parseInt(asked ?? '1', 10) || 1));
  const end = all.length - (page - 1) * 50;
  return { items: all.slice(Math.max(0, end - 50), end).reverse(), pages, page };
}

export function pager(path: string, { pages, page }: { pages: number; page: number }): Html | undefined {
  if (pages === 1) return undefined;
  return html`<nav class="pager" aria-label="Pages">
${page > 1 && html`<a class="button small" href="${path}?page=${page - 1}">Newer</a>`}
<span class="soft small">Page ${page} of ${pages}</span>
${page < pages && html`<a class="button small" href="${path}?page=${page + 1}">Older</a>`}</nav>`;
}
