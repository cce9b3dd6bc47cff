import { html } from 'hono/html';
import type { SandboxContext } from '../../context.js';
import { eventTypes } from '../../service/event.js';
import { type Html, icon, page, postForm } from '../layout.js';
import { block, table } from './cells.js';
import { dashboardStyle } from './style.js';

const tabs = {
  '/': 'Overview',
  '/products': 'Products',
  '/checkouts': 'Checkouts',
  '/events': 'Events',
  '/requests': 'Requests',
  '/developer': 'Developer',
};

type Tab = keyof typeof tabs;

/** A request for a page, with the reason why the form that was sent from the page failed, if it did. */
export interface Asked {
  id?: string | undefined;
  /** The webhook URL that was refused, to fill the field again. */
  url?: string | undefined;
  problem?: string;
  status?: number;
}

export function dashboardPage(asked: Asked, current: Tab, content: Html, title: string = tabs[current]) {
  const { problem, status } = asked;
  const links = Object.entries(tabs).map(
    ([href, name]) => html`<a href="${href}"${href === current && html` aria-current="page"`}>${name}</a>`,
  );
  return page({
    title: `${title} · Sandbox`,
    banner: 'Sandbox: no money moves. What you see here never reached the service.',
    style: dashboardStyle,
    status,
    content: html`<header class="top"><div class="wrap">
<a class="brand" href="/"><span class="mark" aria-hidden="true"></span>Sandbox</a>
<nav aria-label="Dashboard">${links}</nav>
</div></header>
<main class="wrap">
${problem !== undefined && html`<div class="notice bad" role="alert" tabindex="-1" autofocus data-testid="problem">${icon('alert')}<p>${problem}</p></div>`}
${content}
<div class="spoken" role="status" data-say></div>
</main>`,
  });
}

interface List<T> {
  actions?: Html;
  intro?: Html;
  /** Items of the list, oldest first. */
  items: readonly T[];
  none: string;
  columns: readonly string[];
  row(item: T): Html;
}

/** Returns the page of a list, with the newest 500 items, newest first. */
export function listPage<T>(asked: Asked, tab: Tab, list: List<T>): Promise<Response> {
  const { actions, intro, items, none, columns, row } = list;
  const title = tabs[tab];
  const rows = items.slice(-500).map(row);
  const content = html`<div class="heading"><h1>${title}</h1>${actions}</div>
${intro}
${live(title.toLowerCase(), rows.length === 0 ? empty(none) : table(title, columns, rows.reverse()))}`;
  return dashboardPage(asked, tab, content);
}

export const actionForm = ({ guard }: SandboxContext, action: string, content: Html): Html =>
  postForm(action, guard.token('dashboard'), content);

/** Returns a button for each documented type of event. */
export const testEventForm = (context: SandboxContext): Html[] =>
  Object.keys(eventTypes).map((type) => {
    const button = html`<button class="button" name="type" value="${type}" data-testid="send-test-event">Send test event</button>`;
    return actionForm(context, '/developer/test-event', button);
  });

export function doctorForm(context: SandboxContext, label: string): Html {
  const button = html`<button class="button" data-testid="run-doctor">${label}</button>`;
  return actionForm(context, '/developer/doctor', button);
}

/** Returns a part of the page that is updated while the page is open. */
export const live = (name: string, content: Html | false | undefined): Html =>
  html`<div data-live="${name}">${content}</div>`;

export const empty = (text: string | Html): Html => html`<div class="empty"><p>${text}</p></div>`;

export const copyButton = (text: string, what: string): Html =>
  html`<button class="button small" type="button" data-copy="${text}" aria-label="Copy ${what}">Copy</button>`;

/** Returns a block of text with a heading and a copy button. `shown` is displayed instead of a text that is hard to read. */
export const copyBlock = (heading: string, text: string, what: string, testId: string, shown = text) =>
  html`<div class="heading"><h3>${heading}</h3>${copyButton(text, what)}</div>
${block(shown, heading, testId)}`;
