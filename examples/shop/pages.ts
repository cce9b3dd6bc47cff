import type { Product } from 'merchant-payments';
import type { BookOrder, HeldPayment } from 'merchant-payments/inbox';
import type { Order, Orders } from './orders.ts';

const escapeHtml = (text: string) => text.replace(/[&<>"']/g, (sign) => `&#${String(sign.charCodeAt(0))};`);

export const style = `
:root { color-scheme: light dark; --ink: #22302b; --soft: #5a6a63; --ground: #f7f4ee; --card: #fffdf9; --line: #e4ded2; --accent: #24544a; --on: #fff }
@media (prefers-color-scheme: dark) { :root { --ink: #eef2ee; --soft: #a3b1a9; --ground: #111916; --card: #1a2420; --line: #2d3a34; --accent: #9fd4c0; --on: #10201a } }
* { box-sizing: border-box } body { margin: 0; background: var(--ground); color: var(--ink); font: 1rem/1.5 Inter, system-ui, sans-serif }
header, main, footer { max-width: 62rem; margin: 0 auto; padding: 1.25rem } footer { color: var(--soft); font-size: .875rem } header a { color: inherit; font: 650 1.25rem Georgia, serif; text-decoration: none }
h1 { margin: .5rem 0 1.5rem; font: 500 2rem/1.2 Georgia, serif } h2 { margin: 0; font-size: 1.0625rem } p { margin: .25rem 0; color: var(--soft) } a { color: var(--accent) }
.goods { display: grid; gap: 1.25rem; grid-template-columns: repeat(auto-fill, minmax(17rem, 1fr)) }
article { display: flex; flex-direction: column; overflow: hidden; border: 1px solid var(--line); border-radius: 1rem; background: var(--card) }
article img { width: 100%; aspect-ratio: 4 / 3; object-fit: cover } article div { display: flex; flex: 1; flex-direction: column; padding: 1.125rem }
article form { display: flex; align-items: center; justify-content: space-between; margin-top: auto; padding-top: 1rem; font-weight: 650 }
button { min-height: 2.75rem; padding: 0 1.5rem; border: 0; border-radius: .625rem; background: var(--accent); color: var(--on); font: inherit; cursor: pointer }
.order { max-width: 34rem; margin-bottom: 2rem; padding: 1.75rem; border: 1px solid var(--line); border-radius: 1rem; background: var(--card) } .order h1 { margin-top: 0 }
.state { display: inline-block; padding: .25rem .875rem; border-radius: 1rem; background: #fff0cf; color: #6b4700; font-weight: 600; white-space: nowrap } .state.paid { background: #d8f3e3; color: #0b5c38 }
.order label { display: flex; gap: .5rem; align-items: baseline; padding: .375rem 0 } .order form { margin-top: 1rem } .order button { margin-top: 1rem }
.wide { overflow-x: auto } table { width: 100%; border-collapse: collapse } th, td { padding: .625rem 1rem .625rem 0; border-bottom: 1px solid var(--line); text-align: left; white-space: nowrap } th { color: var(--soft); font-weight: 500 }
`;

const layout = (title: string, body: string): string =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title><link rel="icon" href="data:,"><style>${style}</style></head>
<body><header><a href="/">North &amp; Pine</a></header><main>${body}</main>
<footer>Behind the counter: <a href="/orders">orders of this shop</a></footer></body></html>`;

const offer = ({ id, name, description, image, price, currency }: Product): string =>
  `<article>${image ? `<img src="${escapeHtml(image)}" alt="">` : ''}<div><h2>${escapeHtml(name)}</h2><p>${escapeHtml(description ?? '')}</p>
<form method="post" action="/buy/${encodeURIComponent(id)}"><span>${price} ${currency}</span><button>Buy</button></form></div></article>`;

/** Asks every second whether the webhook has come; without script the page reloads every two seconds. */
const live = `<noscript><meta http-equiv="refresh" content="2"></noscript><script>
const timer = setInterval(async () => {
  const html = await (await fetch(location.href)).text();
  const fresh = new DOMParser().parseFromString(html, 'text/html').querySelector('main');
  if (!fresh.querySelector('.paid')) return;
  clearInterval(timer);
  document.querySelector('main').replaceWith(fresh);
}, 1000);
</script>`;

const openSince = ({
  createdAt,
  returnedAt,
  expiresAt,
}: Pick<Order, 'createdAt' | 'returnedAt' | 'expiresAt'>): string => {
  const back = returnedAt ? `customer came back at ${time(returnedAt)}` : 'customer not back';
  const over = expiresAt && expiresAt < new Date() ? ', checkout expired' : '';
  return `ordered at ${time(createdAt)}, ${back}${over}`;
};
const time = (date: Date) => date.toISOString().slice(11, 16);

const why = {
  no_candidate: 'No open order asks for this amount.',
  several_candidates: 'Several orders ask for this amount, and the webhook does not say which one it is.',
  expired: 'The checkout had expired of each order that asks for this amount.',
  only_candidate: 'Only this order asks for the amount by now.',
  returned: 'Only this customer came back.',
};

/** A payment that may be for one of several orders, or for none: a person chooses. */
const heldPayment = ({ payment, candidates, because }: HeldPayment, titleOf: TitleOf): string =>
  `<section class="order"><h2>${payment.amount} ${escapeHtml(payment.currency)}, paid as <code>${escapeHtml(payment.id)}</code> at ${time(payment.receivedAt)} UTC</h2>
<p>${why[because]}${candidates.length > 0 ? ' Ask the customers for a receipt before you choose: coming back proves nothing.' : ''}</p>
<form method="post"><input type="hidden" name="payment" value="${escapeHtml(payment.id)}">
${candidates.map((order) => `<label><input type="radio" name="order" value="${order.id}" required><span>${titleOf(order)}, ${openSince(order)}</span></label>`).join('')}
<label><input type="radio" name="order" value="" required><span>None of my orders</span></label><button>Decide</button></form></section>`;

/** The customer came back, and no webhook did. */
const overdueOrder = (order: BookOrder, titleOf: TitleOf): string =>
  `<section class="order"><h2>${titleOf(order)}, ${order.amount} ${escapeHtml(order.currency)}</h2>
<p>${openSince(order)}. Its webhook may be lost. Ask the service; close the order only if it was not paid.</p>
<form method="post"><button name="close" value="${order.id}">Close</button></form></section>`;

type TitleOf = (order: BookOrder) => string;

const row = (order: Order): string =>
  `<tr><td>${order.id}<td>${escapeHtml(order.name)}<td>${order.amount} ${escapeHtml(order.currency)}<td>${stateOf(order)}<td>${escapeHtml(order.paidAs ?? '')}</tr>`;
const stateOf = (order: Order): string => {
  if (order.paidAs) return '<span class="state paid">Paid</span>';
  return `<span class="state">${order.isClosed ? 'Closed' : 'Open'}</span> ${openSince(order)}`;
};

export const page = {
  catalogue: (products: readonly Product[]) =>
    layout(
      'North & Pine',
      products.length > 0
        ? `<h1>Good things</h1><div class="goods">${products.map(offer).join('')}</div>`
        : '<h1>The shelves are empty</h1><p>Run <code>stock-the-shop.ts</code> with the same PAYMENTS_API_KEY, then reload this page.</p>',
    ),

  /** The page that the customer sees after paying. Only the webhook makes it say "paid". */
  order: ({ id, name, amount, currency, paidAs }: Order) =>
    layout(
      `Order ${id}`,
      `<div class="order"><p>Order ${id}</p><h1>${paidAs ? 'Thank you' : 'Almost there'}</h1>
<p role="status"><span class="state ${paidAs ? 'paid' : ''}">${paidAs ? 'Paid' : 'Payment is being confirmed'}</span></p>
<p>${escapeHtml(name)}, ${amount} ${escapeHtml(currency)}</p>
<p><a href="/">Back to the shop</a></p></div>${paidAs ? '' : live}`,
    ),

  /**
   * Behind the counter. Its forms go to its own address, which has the key. No link leads to an order's page, as opening
   * that means that the customer came back.
   */
  orders: async ({ list, book }: Orders) => {
    const [all, held, overdue] = [list(), await book.held(), await book.overdue()];
    const titleOf: TitleOf = ({ id }) =>
      `Order ${id}: ${escapeHtml(all.find((order) => order.id === id)?.name ?? '')}`;
    const sections = [
      ...(held.length > 0 ? ['<h1>Payments that need a decision</h1>'] : []),
      ...held.map((one) => heldPayment(one, titleOf)),
      ...(overdue.length > 0 ? ['<h1>Customers back, and no payment</h1>'] : []),
      ...overdue.map((one) => overdueOrder(one, titleOf)),
      '<h1>Orders of this shop</h1>',
      all.length > 0
        ? `<div class="wide" tabindex="0"><table><tr><th>Order<th>Product<th>Amount<th>State<th>Paid as</tr>${all.map(row).join('')}</table></div>`
        : '<p>None yet.</p>',
    ];
    return layout('Orders', sections.join(''));
  },

  missing: () => layout('Not found', '<h1>There is nothing here</h1><p><a href="/">Back to the shop</a></p>'),

  locked: () =>
    layout(
      'Orders',
      '<h1>Behind the counter</h1><p>This page opens at the address that the terminal shows.</p>',
    ),

  undecided: () =>
    layout(
      'Not changed',
      '<h1>Nothing was changed</h1><p>The form is out of date. <a href="">Look at the orders again</a></p>',
    ),

  failed: () =>
    layout(
      'Please try again',
      '<h1>That did not work</h1><p>Nothing was charged. <a href="/">Try again later</a></p>',
    ),
};
