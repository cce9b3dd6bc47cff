import type { Product } from 'merchant-payments';
import type { Order } from './shop.js';

const safe = (text: string) => text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);

const style = `
:root { color-scheme: light dark; --ink: #22302b; --soft: #5a6a63; --ground: #f7f4ee; --card: #fffdf9; --line: #e4ded2; --accent: #24544a; --on: #fff }
@media (prefers-color-scheme: dark) { :root { --ink: #eef2ee; --soft: #a3b1a9; --ground: #111916; --card: #1a2420; --line: #2d3a34; --accent: #9fd4c0; --on: #10201a } }
* { box-sizing: border-box } body { margin: 0; background: var(--ground); color: var(--ink); font: 1rem/1.5 Inter, system-ui, sans-serif }
header, main, footer { max-width: 62rem; margin: 0 auto; padding: 1.25rem } footer { color: var(--soft); font-size: .875rem } header a { color: inherit; font: 650 1.25rem Georgia, serif; text-decoration: none }
h1 { margin: .5rem 0 1.5rem; font: 500 2rem/1.2 Georgia, serif } h2 { margin: 0; font-size: 1.0625rem } p { margin: .25rem 0; color: var(--soft) } a { color: var(--accent) }
.goods { display: grid; gap: 1.25rem; grid-template-columns: repeat(auto-fill, minmax(17rem, 1fr)) }
article { display: flex; flex-direction: column; overflow: hidden; border: 1px solid var(--line); border-radius: 1rem; background: var(--card) }
article img { width: 100%; aspect-ratio: 4 / 3; object-fit: cover } article div { display: flex; flex: 1; flex-direction: column; padding: 1.125rem }
form { display: flex; align-items: center; justify-content: space-between; margin-top: auto; padding-top: 1rem; font-weight: 650 }
button { min-height: 2.75rem; padding: 0 1.5rem; border: 0; border-radius: .625rem; background: var(--accent); color: var(--on); font: inherit; cursor: pointer }
.order { max-width: 34rem; padding: 1.75rem; border: 1px solid var(--line); border-radius: 1rem; background: var(--card) } .order h1 { margin-top: 0 }
.state { display: inline-block; padding: .25rem .875rem; border-radius: 1rem; background: #fff0cf; color: #6b4700; font-weight: 600 } .state.paid { background: #d8f3e3; color: #0b5c38 }
`;

const layout = (title: string, body: string): string =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${safe(title)}</title><link rel="icon" href="data:,"><style>${style}</style></head>
<body><header><a href="/">North &amp; Pine</a></header><main>${body}</main>
<footer>Behind the counter: <a href="/orders">orders of this shop</a> · <a href="/dashboard">the sandbox's dashboard</a></footer></body></html>`;

const offer = ({ id, name, description, image, price, currency }: Product): string =>
  `<article><img src="${safe(image ?? '')}" alt=""><div><h2>${safe(name)}</h2><p>${safe(description ?? '')}</p>
<form method="post" action="/buy/${encodeURIComponent(id)}"><span>${price} ${currency}</span><button>Buy</button></form></div></article>`;

/** The page turns paid when the webhook has come; without script it looks again every two seconds. */
const live = (number: number): string => `<noscript><meta http-equiv="refresh" content="2"></noscript><script>
new EventSource('/orders/${number}/paid').addEventListener('paid', async ({ target }) => {
  target.close();
  const fresh = new DOMParser().parseFromString(await (await fetch(location.href)).text(), 'text/html');
  document.querySelector('main').replaceWith(fresh.querySelector('main'));
});
</script>`;

export const page = {
  catalogue: (products: readonly Product[]) =>
    layout(
      'North & Pine',
      `<h1>Three good things</h1><div class="goods">${products.map(offer).join('')}</div>`,
    ),

  order: ({ number, product, paidAs }: Order) =>
    layout(
      `Order ${number}`,
      `<div class="order"><p>Order ${number}</p><h1>${paidAs ? 'Thank you' : 'Almost there'}</h1>
<p role="status"><span class="state ${paidAs ? 'paid' : ''}">${paidAs ? 'Paid' : 'Payment is being confirmed'}</span></p>
<p>${safe(product.name)}, ${product.price} ${product.currency}${paidAs ? `, paid as <code>${safe(paidAs)}</code>` : ''}</p>
<p><a href="/">Back to the shop</a></p></div>${paidAs ? '' : live(number)}`,
    ),

  orders: (orders: readonly Order[]) =>
    layout(
      'Orders',
      `<h1>Orders of this shop</h1>${orders.length === 0 ? '<p>None yet.</p>' : ''}<ul>${orders
        .map(
          ({ number, product, paidAs }) =>
            `<li><a href="/orders/${number}">Order ${number}</a>: ${safe(product.name)}, ${paidAs ? 'paid' : 'being confirmed'}</li>`,
        )
        .join('')}</ul>`,
    ),

  missing: () => layout('Not found', '<h1>There is nothing here</h1><p><a href="/">Back to the shop</a></p>'),

  failed: () =>
    layout(
      'Please try again',
      '<h1>The payment page cannot be reached</h1><p>Nothing was charged. <a href="/">Try again in a minute</a></p>',
    ),
};
