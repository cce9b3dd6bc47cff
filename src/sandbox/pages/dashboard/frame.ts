import { html } from 'hono/html';
import type { SandboxContext } from '../../context.js';
import type { SandboxEvent } from '../../service/event.js';
import { eventTypes } from '../../service/event-types.js';
import { alertIcon } from '../icons.js';
import { type Html, page } from '../layout.js';
import { fullMoment, shortMoment, span } from './moments.js';
import { dashboardScript } from './script.js';
import { dashboardStyle } from './style.js';

const tabs = [
  ['/', 'Overview'],
  ['/products', 'Products'],
  ['/checkouts', 'Checkouts'],
  ['/events', 'Events'],
  ['/requests', 'Requests'],
  ['/developer', 'Developer'],
] as const;

/** What of a page is asked for, and why the form that was sent from it failed. */
export interface Asked {
  id?: string | undefined;
  /** Of a list. */
  page?: string | undefined;
  /** Which secrets are shown. */
  show?: readonly string[] | undefined;
  /** The address that was refused. */
  url?: string | undefined;
  problem?: string;
  status?: number;
}

interface DashboardPage extends Pick<Asked, 'problem' | 'status'> {
  title: string;
  /** Which tab is the current one. */
  tab: (typeof tabs)[number][0];
  content: Html;
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
<div class="spoken" role="status" data-say data-copied="Copied"></div>
</main>`,
  });
}

/** A page of the dashboard that lists what there is. */
interface List<T> extends Pick<DashboardPage, 'title' | 'tab'> {
  /** Beside the heading. */
  actions?: Html;
  /** Above the table. */
  intro?: Html;
  /** Oldest first. */
  items: readonly T[];
  /** Shown while there are no items. */
  none: string;
  columns: readonly string[];
  row(item: T): Html;
}

/** The newest first, fifty a page. */
export function listPage<T>(asked: Asked, list: List<T>): Promise<Response> {
  const { title, tab, actions, intro, items, none, columns, row } = list;
  const pages = Math.max(1, Math.ceil(items.length / 50));
  const page = Math.min(pages, Math.max(1, Number.parseInt(asked.page ?? '1', 10) || 1));
  const end = items.length - (page - 1) * 50;
  const rows = items
    .slice(Math.max(0, end - 50), end)
    .reverse()
    .map(row);
  return dashboardPage({
    ...asked,
    title,
    tab,
    content: html`<div class="heading"><h1>${title}</h1>${actions}</div>
${intro}
${live(title.toLowerCase(), rows.length === 0 ? empty(none) : table(title, columns, rows))}
${pages > 1 && pager(tab, pages, page)}`,
  });
}

const pager = (path: string, pages: number, page: number): Html =>
  html`<nav class="pager" aria-label="Pages">
${page > 1 && html`<a class="button small" href="${path}?page=${page - 1}">Newer</a>`}
<span class="soft small">Page ${page} of ${pages}</span>
${page < pages && html`<a class="button small" href="${path}?page=${page + 1}">Older</a>`}</nav>`;

/** A form that does one thing. */
export function actionForm(context: SandboxContext, action: string, content: Html): Html {
  return html`<form method="post" action="${action}"><input type="hidden" name="token" value="${context.guard.token('dashboard')}">${content}</form>`;
}

/** A button for each type of event that the service documents. */
export const testEventForm = (context: SandboxContext): Html[] =>
  Object.keys(eventTypes).map((type) =>
    actionForm(
      context,
      '/developer/test-event',
      html`<button class="button" name="type" value="${type}" data-testid="send-test-event">Send test event</button>`,
    ),
  );

export const doctorForm = (context: SandboxContext, label: string): Html =>
  actionForm(
    context,
    '/developer/doctor',
    html`<button class="button" data-testid="run-doctor">${label}</button>`,
  );

/** A part of the page that is updated while the page is open. */
export const live = (name: string, content: Html): Html => html`<div data-live="${name}">${content}</div>`;

export const empty = (text: string | Html): Html => html`<div class="empty"><p>${text}</p></div>`;

export const badge = (text: string, tone: 'good' | 'bad' | 'warn' | 'calm'): Html =>
  html`<span class="badge ${tone}">${text}</span>`;

/** The state of an event. */
export function stateBadge({ state, nextAttemptAt }: SandboxEvent, now: number): Html {
  const next = nextAttemptAt && span(nextAttemptAt.getTime() - now);
  const shown = {
    delivered: badge('delivered', 'good'),
    failed: badge('failed', 'bad'),
    retrying: badge(`retrying in ${next}`, 'warn'),
    held: badge('held', 'warn'),
    no_url: badge('no URL', 'calm'),
    pending: badge(next === undefined ? 'sending' : `goes out in ${next}`, 'calm'),
  };
  return shown[state];
}

/** A cell of a table: when it was. */
export const timeCell = (at: Date, now: number): Html =>
  html`<td><time datetime="${at.toISOString()}" title="${fullMoment(at)}">${shortMoment(at, now)}</time></td>`;

/** A cell of a table: how long ago it was. */
export const ageCell = (at: Date, now: number): Html =>
  html`<td class="soft"><time datetime="${at.toISOString()}" title="${fullMoment(at)}">${span(now - at.getTime())}</time></td>`;

export const copyButton = (text: string, what: string): Html =>
  html`<button class="button small" type="button" data-copy="${text}" aria-label="Copy ${what}">Copy</button>`;

/** A table that scrolls sideways on a narrow screen. */
export const table = (label: string, head: readonly string[], rows: readonly Html[]): Html =>
  html`<div class="scroll" role="region" aria-label="${label}" tabindex="0"><table>
<thead><tr>${head.map((name) => html`<th scope="col">${name === '' ? html`<span class="spoken">Actions</span>` : name}</th>`)}</tr></thead>
<tbody>${rows}</tbody></table></div>`;
