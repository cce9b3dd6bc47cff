import { html } from 'hono/html';
import { type Html, type IconName, icon, type PageParts, postForm } from '../layout.js';
import { type CheckoutView, payPage, type Wallet, walletPath } from './frame.js';
import type { PageMessages, Say } from './messages.js';

/** One message in the middle of the page, with links to go on. */
interface Note extends Pick<PageParts, 'status' | 'refresh'> {
  /** Of the message that is the heading. */
  name: keyof PageMessages;
  /** Default: the name. */
  testId?: string;
  /** Default: a cross. */
  icon?: IconName;
  tone?: 'good' | 'bad' | 'calm';
  text: string;
  more?: Html;
  /** Links and buttons, the likeliest first. */
  ways?: (Html | false)[];
}

function notePage(say: Say, note: Note): Promise<Response> {
  const { name, testId = name, icon: sign = 'cross', tone = 'calm', text, more, ways, ...rest } = note;
  const heading = say(name);
  return payPage(say, {
    title: heading,
    ...rest,
    content: html`<main class="note" data-of-checkout><div class="panel" data-testid="${testId}">
<div class="badge ${tone}">${icon(sign, 32)}</div>
<div role="status"><h1>${heading}</h1>
<p class="soft">${text}</p></div>
${more}
<div class="ways">${ways}</div>
</div></main>`,
  });
}

export function paidPage(view: CheckoutView): Promise<Response> {
  const { say, successUrl, eventId } = view;
  return notePage(say, {
    name: 'paid',
    icon: 'check',
    tone: 'good',
    text: `${say('paidTo')} ${say(successUrl === undefined ? 'staying' : 'leaving')}`,
    more: html`<dl class="facts receipt"><dt>${say('order')}</dt><dd><code data-testid="order-id">${view.orderId}</code></dd>
${eventId !== undefined && html`<dt>${say('event')}</dt><dd><a href="/events/${eventId}" data-testid="event-link"><code>${eventId}</code></a></dd>`}</dl>`,
    ways: [way(successUrl, say('continueTo'), 'return-link')],
    refresh: successUrl,
  });
}

export function cancelledPage(view: CheckoutView): Promise<Response> {
  const { say, cancelUrl, payable } = view;
  return notePage(say, {
    name: 'cancelled',
    text: `${say('cancelledText')} ${say(cancelUrl === undefined ? 'staying' : 'leaving')}`,
    ways: [back(view), payable && way(`/pay/${view.id}`, say('returnToPayment'), 'return-to-payment')],
    refresh: cancelUrl,
  });
}

export function expiredPage(view: CheckoutView): Promise<Response> {
  const text = view.say(view.wallet === undefined ? 'expiredText' : 'expiredWaiting');
  return notePage(view.say, { name: 'expired', icon: 'clock', text, ways: [back(view)], status: 410 });
}

export function archivedPage(view: CheckoutView): Promise<Response> {
  const text = view.say('archivedText');
  return notePage(view.say, { name: 'archived', icon: 'parcel', text, ways: [back(view)], status: 409 });
}

export const unknownPage = (say: Say): Promise<Response> =>
  notePage(say, { name: 'unknown', tone: 'bad', text: say('unknownText'), status: 404 });

/** The pretend wallet that the QR code opens: asks for approval while the payment page waits for it, then tells the result. */
export function walletPage(view: CheckoutView, wallet: Wallet): Promise<Response> {
  const { say } = view;
  const result = (what: 'Approved' | 'Declined' | 'Nothing') => ({
    name: `wallet${what}` as const,
    testId: `wallet-${what.toLowerCase()}`,
    text: say(`wallet${what}Text`, { wallet: say(wallet) }),
  });
  if (view.state === 'paid' && view.method === wallet)
    return notePage(say, { ...result('Approved'), icon: 'check', tone: 'good' });
  if (view.declined === 'wallet_declined') return notePage(say, result('Declined'));
  if (!view.payable || view.wallet !== wallet) return notePage(say, { ...result('Nothing'), status: 409 });
  const buttons = html`<button class="button primary wide" name="answer" value="approve" data-testid="approve">${say('approve')}</button>
<button class="button wide" name="answer" value="decline" data-testid="decline">${say('decline')}</button>`;
  return notePage(say, {
    name: 'walletHeading',
    testId: 'wallet',
    icon: 'phone',
    text: say(wallet),
    more: html`<dl class="facts receipt"><dt>${say('merchant')}</dt><dd><bdi>${view.merchant}</bdi></dd>
<dt>${say('product')}</dt><dd><bdi>${view.name}</bdi></dd></dl>`,
    ways: [postForm(walletPath(view.id, wallet), view.token, buttons)],
  });
}

const back = ({ cancelUrl, say }: CheckoutView) => way(cancelUrl, say('backTo'), 'return-link');

const way = (href: string | undefined, text: string, testId: string): Html | false =>
  href !== undefined &&
  html`<a class="button wide" href="${href}" data-testid="${testId}"><bdi>${text}</bdi></a>`;
