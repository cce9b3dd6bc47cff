import { html } from 'hono/html';
import { type Html, type IconName, icon, type PageParts, postForm } from '../layout.js';
import { type CheckoutView, payPage, type Wallet, walletNames, walletPath } from './frame.js';

/** A message in the middle of the page, with links to go on. */
interface Note extends Pick<PageParts, 'status' | 'refresh'> {
  heading: string;
  testId: string;
  /** Icon of the message. Default: a cross. */
  icon?: IconName;
  tone?: 'good' | 'bad' | 'calm';
  text: string;
  more?: Html;
  /** Links and buttons, the likeliest first. */
  ways?: (Html | false)[];
}

function notePage(note: Note): Promise<Response> {
  const { heading, testId, icon: sign = 'cross', tone = 'calm', text, more, ways, ...rest } = note;
  return payPage({
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
  const { merchant, successUrl, eventId } = view;
  return notePage({
    heading: `Paid ${view.amount}`,
    testId: 'paid',
    icon: 'check',
    tone: 'good',
    text: `Your payment to ${merchant} went through. ${leaveText(merchant, successUrl)}`,
    more: html`<dl class="facts receipt"><dt>Order</dt><dd><code data-testid="order-id">${view.orderId}</code></dd>
${eventId !== undefined && html`<dt>Event</dt><dd><a href="/events/${eventId}" data-testid="event-link"><code>${eventId}</code></a></dd>`}</dl>`,
    ways: [returnLink(successUrl, `Continue to ${merchant}`, 'return-link')],
    // Three seconds let the customer see the order.
    refresh: successUrl === undefined ? undefined : { url: successUrl, seconds: 3 },
  });
}

export function cancelledPage(view: CheckoutView): Promise<Response> {
  const { merchant, cancelUrl, payable } = view;
  return notePage({
    heading: 'Payment cancelled',
    testId: 'cancelled',
    text: `Nothing was charged. ${leaveText(merchant, cancelUrl)}`,
    ways: [
      backLink(view),
      payable && returnLink(`/pay/${view.id}`, 'Return to payment', 'return-to-payment'),
    ],
    // Browsers leave a page that redirects this soon out of their history, so that Back comes to the form.
    refresh: cancelUrl === undefined ? undefined : { url: cancelUrl, seconds: 1 },
  });
}

export function expiredPage(view: CheckoutView): Promise<Response> {
  const waiting = view.wallet === undefined ? '' : `${walletNames[view.wallet]} can no longer approve it. `;
  return notePage({
    heading: 'This payment link has expired',
    testId: 'expired',
    icon: 'clock',
    text: `${waiting}Nothing was charged. Ask ${view.merchant} for a new link.`,
    ways: [backLink(view)],
    status: 410,
  });
}

export function archivedPage(view: CheckoutView): Promise<Response> {
  return notePage({
    heading: 'This product is no longer sold',
    testId: 'archived',
    icon: 'parcel',
    text: `${view.merchant} has archived it, so it cannot be paid. Nothing was charged.`,
    ways: [backLink(view)],
    status: 409,
  });
}

export const unknownPage = (): Promise<Response> =>
  notePage({
    heading: 'There is no such payment',
    testId: 'unknown',
    tone: 'bad',
    text: 'Check the link. The sandbox forgets its payments when it is reset or ends.',
    status: 404,
  });

/** Returns the page of the simulated wallet that the QR code opens. It asks for approval while the payment page waits, then shows the result. */
export function walletPage(view: CheckoutView, wallet: Wallet): Promise<Response> {
  if (view.state === 'paid' && view.method === wallet)
    return notePage({
      heading: 'Approved',
      testId: 'wallet-approved',
      icon: 'check',
      tone: 'good',
      text: `${view.amount} to ${view.merchant}. The payment page goes on by itself.`,
    });
  if (view.declined === 'wallet_declined')
    return notePage({
      heading: 'Declined',
      testId: 'wallet-declined',
      text: 'Nothing was charged. Choose another way on the payment page.',
    });
  if (!view.payable || view.wallet !== wallet)
    return notePage({
      heading: 'Nothing to approve',
      testId: 'wallet-nothing',
      text: `The payment page no longer waits for ${walletNames[wallet]}.`,
      status: 409,
    });
  const buttons = html`<button class="button primary wide" name="answer" value="approve" data-testid="approve">Approve</button>
<button class="button wide" name="answer" value="decline" data-testid="decline">Decline</button>`;
  return notePage({
    heading: `Pay ${view.amount}?`,
    testId: 'wallet',
    icon: 'phone',
    text: walletNames[wallet],
    more: html`<dl class="facts receipt"><dt>To</dt><dd><bdi>${view.merchant}</bdi></dd>
<dt>For</dt><dd><bdi>${view.name}</bdi></dd></dl>`,
    ways: [postForm(walletPath(view.id, wallet), view.token, buttons)],
  });
}

const backLink = ({ cancelUrl, merchant }: CheckoutView) =>
  returnLink(cancelUrl, `Back to ${merchant}`, 'return-link');

const leaveText = (merchant: string, url: string | undefined): string =>
  url === undefined ? 'You can close this page.' : `You are being taken back to ${merchant}.`;

const returnLink = (href: string | undefined, text: string, testId: string): Html | false =>
  href !== undefined &&
  html`<a class="button wide" href="${href}" data-testid="${testId}"><bdi>${text}</bdi></a>`;
