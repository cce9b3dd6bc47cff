import { html } from 'hono/html';
import { checkIcon, clockLargeIcon, crossIcon, parcelIcon } from '../icons.js';
import { type Html, page } from '../layout.js';
import type { CheckoutView } from './checkout-view.js';
import type { Say } from './messages.js';
import { payScript } from './script.js';
import { payStyle } from './style.js';

/** One message in the middle of the page, with links to go on. */
interface Note {
  say: Say;
  lang: string;
  testId: string;
  icon: Html;
  tone: 'good' | 'bad' | 'calm';
  heading: string;
  text: string;
  more?: Html | undefined;
  /** Links and buttons, the likeliest first. */
  ways?: (Html | undefined)[];
  /** Default 200. */
  status?: number;
  refresh?: string | undefined;
}

export function notePage(note: Note): Promise<Response> {
  const { say, heading } = note;
  return page({
    title: heading,
    lang: note.lang,
    banner: say('banner'),
    style: payStyle,
    script: payScript,
    status: note.status,
    refresh: note.refresh,
    content: html`<main class="note"><div class="panel" data-testid="${note.testId}">
<div class="badge ${note.tone}">${note.icon}</div>
<div role="status"><h1>${heading}</h1>
<p class="soft">${note.text}</p></div>
${note.more}
<div class="ways">${note.ways}</div>
</div></main>`,
  });
}

export function paidPage(view: CheckoutView): Promise<Response> {
  const { say, merchant, successUrl: next } = view;
  return notePage({
    ...view,
    testId: 'paid',
    icon: checkIcon,
    tone: 'good',
    heading: say('paid', { amount: view.amount }),
    text: `${say('paidTo', { merchant })} ${next === undefined ? say('staying') : say('leaving', { merchant })}`,
    more: html`<dl class="receipt"><dt>${say('order')}</dt><dd><code data-testid="order-id">${view.orderId}</code></dd>
${view.eventId !== undefined && html`<dt>${say('event')}</dt><dd><a href="/events/${view.eventId}" data-testid="event-link"><code>${view.eventId}</code></a></dd>`}</dl>`,
    ways: [way(next, say('continueTo', { merchant }), 'return-link')],
    refresh: next,
  });
}

export function cancelledPage(view: CheckoutView, payable: boolean): Promise<Response> {
  const { say, merchant, cancelUrl: next } = view;
  return notePage({
    ...view,
    testId: 'cancelled',
    icon: crossIcon,
    tone: 'calm',
    heading: say('cancelled'),
    text: `${say('cancelledText')} ${next === undefined ? say('staying') : say('leaving', { merchant })}`,
    ways: [
      way(next, say('backTo', { merchant }), 'return-link'),
      way(payable ? `/pay/${view.id}` : undefined, say('returnToPayment'), 'return-to-payment'),
    ],
    refresh: next,
  });
}

/** A checkout that can no longer be paid. */
export function expiredPage(view: CheckoutView): Promise<Response> {
  const { say, merchant, wallet } = view;
  const text =
    wallet === undefined
      ? say('expiredText', { merchant })
      : say('expiredWaiting', { merchant, wallet: say(wallet) });
  const heading = say('expired');
  return deadEnd(view, { testId: 'expired', icon: clockLargeIcon, heading, text, status: 410 });
}

export function archivedPage(view: CheckoutView): Promise<Response> {
  const { say, merchant } = view;
  const text = say('archivedText', { merchant });
  return deadEnd(view, { testId: 'archived', icon: parcelIcon, heading: say('archived'), text, status: 409 });
}

/** With a link back to the shop, if the checkout has one. */
function deadEnd(view: CheckoutView, note: Pick<Note, 'testId' | 'icon' | 'heading' | 'text' | 'status'>) {
  const { say, merchant, cancelUrl } = view;
  const ways = [way(cancelUrl, say('backTo', { merchant }), 'return-link')];
  return notePage({ ...view, ...note, tone: 'calm', ways });
}

/** What went wrong with a request that may have no checkout. */
export function wrongPage(
  messages: { say: Say; lang: string },
  what: 'unknown' | 'staleForm' | 'badChoice',
  status: number,
  back?: string,
): Promise<Response> {
  const { say } = messages;
  return notePage({
    ...messages,
    testId: what,
    icon: crossIcon,
    tone: 'bad',
    heading: say(what),
    text: say(`${what}Text`),
    ways: [way(back, say('returnToPayment'), 'return-to-payment')],
    status,
  });
}

/** A link, if there is somewhere to go. */
const way = (href: string | undefined, text: string, testId: string): Html | undefined =>
  href === undefined
    ? undefined
    : html`<a class="button wide" href="${href}" data-testid="${testId}"><bdi>${text}</bdi></a>`;
