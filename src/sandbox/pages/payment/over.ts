import { html } from 'hono/html';
import { checkIcon, clockLargeIcon, crossIcon, parcelIcon, phoneIcon } from '../icons.js';
import { type Html, page } from '../layout.js';
import type { CheckoutView, Wallet } from './checkout-view.js';
import { tokenField } from './frame.js';
import type { Say } from './messages.js';
import { payScript } from './script.js';
import { payStyle } from './style.js';

/** One message in the middle of the page, with links to go on. */
interface Note {
  testId: string;
  icon: Html;
  tone?: 'good' | 'bad' | 'calm';
  heading: string;
  text: string;
  more?: Html;
  /** Links and buttons, the likeliest first. */
  ways?: (Html | undefined)[];
  /** Default 200. */
  status?: number;
  refresh?: string | undefined;
}

function notePage({ say, lang }: { say: Say; lang: string }, note: Note): Promise<Response> {
  const { testId, icon, tone = 'calm', heading, text, more, ways, status, refresh } = note;
  return page({
    title: heading,
    lang,
    banner: say('banner'),
    style: payStyle,
    script: payScript,
    status,
    refresh,
    content: html`<main class="note"><div class="panel" data-testid="${testId}">
<div class="badge ${tone}">${icon}</div>
<div role="status"><h1>${heading}</h1>
<p class="soft">${text}</p></div>
${more}
<div class="ways">${ways}</div>
</div></main>`,
  });
}

export function paidPage(view: CheckoutView): Promise<Response> {
  const { say, successUrl, eventId } = view;
  return notePage(view, {
    testId: 'paid',
    icon: checkIcon,
    tone: 'good',
    heading: say('paid'),
    text: `${say('paidTo')} ${say(successUrl === undefined ? 'staying' : 'leaving')}`,
    more: html`<dl class="receipt"><dt>${say('order')}</dt><dd><code data-testid="order-id">${view.orderId}</code></dd>
${eventId !== undefined && html`<dt>${say('event')}</dt><dd><a href="/events/${eventId}" data-testid="event-link"><code>${eventId}</code></a></dd>`}</dl>`,
    ways: [way(successUrl, say('continueTo'), 'return-link')],
    refresh: successUrl,
  });
}

export function cancelledPage(view: CheckoutView, payable: boolean): Promise<Response> {
  const { say, cancelUrl } = view;
  return notePage(view, {
    testId: 'cancelled',
    icon: crossIcon,
    heading: say('cancelled'),
    text: `${say('cancelledText')} ${say(cancelUrl === undefined ? 'staying' : 'leaving')}`,
    ways: [
      back(view),
      payable ? way(`/pay/${view.id}`, say('returnToPayment'), 'return-to-payment') : undefined,
    ],
    refresh: cancelUrl,
  });
}

/** A checkout that can no longer be paid. */
export function expiredPage(view: CheckoutView): Promise<Response> {
  const { say, wallet } = view;
  const text = say(wallet === undefined ? 'expiredText' : 'expiredWaiting');
  const ways = [back(view)];
  return notePage(view, {
    testId: 'expired',
    icon: clockLargeIcon,
    heading: say('expired'),
    text,
    ways,
    status: 410,
  });
}

export function archivedPage(view: CheckoutView): Promise<Response> {
  const [heading, text] = [view.say('archived'), view.say('archivedText')];
  return notePage(view, {
    testId: 'archived',
    icon: parcelIcon,
    heading,
    text,
    ways: [back(view)],
    status: 409,
  });
}

/** What went wrong with a request that may have no checkout. */
export function wrongPage(
  texts: { say: Say; lang: string },
  what: 'unknown' | 'staleForm' | 'badChoice',
  status: number,
  payment?: string,
): Promise<Response> {
  const { say } = texts;
  const ways = [way(payment, say('returnToPayment'), 'return-to-payment')];
  const [heading, text] = [say(what), say(`${what}Text`)];
  return notePage(texts, { testId: what, icon: crossIcon, tone: 'bad', heading, text, ways, status });
}

/**
 * The sandbox's pretend wallet, which the QR code opens. It is no real wallet's format. It asks for approval while
 * the payment page waits for this wallet, then shows the result.
 */
export function walletPage(view: CheckoutView, wallet: Wallet, payable: boolean): Promise<Response> {
  const { say } = view;
  if (payable && view.wallet === wallet)
    return notePage(view, {
      testId: 'wallet',
      icon: phoneIcon,
      heading: say('walletHeading'),
      text: say(wallet),
      more: html`<dl class="receipt"><dt>${say('merchant')}</dt><dd><bdi>${view.merchant}</bdi></dd>
<dt>${say('product')}</dt><dd><bdi>${view.name}</bdi></dd></dl>`,
      ways: [
        html`<form method="post">${tokenField(view)}
<button class="button primary wide" name="answer" value="approve" data-testid="approve">${say('approve')}</button>
<button class="button wide" name="answer" value="decline" data-testid="decline">${say('decline')}</button></form>`,
      ],
    });
  const result = (what: 'Approved' | 'Declined' | 'Nothing') => ({
    testId: `wallet-${what.toLowerCase()}`,
    icon: crossIcon,
    heading: say(`wallet${what}`),
    text: say(`wallet${what}Text`, { wallet: say(wallet) }),
  });
  if (view.state === 'paid' && view.method === wallet)
    return notePage(view, { ...result('Approved'), icon: checkIcon, tone: 'good' });
  if (view.declined === 'wallet_declined') return notePage(view, result('Declined'));
  return notePage(view, { ...result('Nothing'), status: 409 });
}

/** To the shop, if the checkout says where. */
const back = ({ cancelUrl, say }: CheckoutView) => way(cancelUrl, say('backTo'), 'return-link');

/** A link, if there is somewhere to go. */
const way = (href: string | undefined, text: string, testId: string): Html | undefined =>
  href === undefined
    ? undefined
    : html`<a class="button wide" href="${href}" data-testid="${testId}"><bdi>${text}</bdi></a>`;
