import type { Product } from 'merchant-payments';

/** An order of this shop; `paidAs` is the service's order id, once the webhook has come. */
export interface Order {
  name: string;
  amount: string;
  currency: string;
  paidAs?: string;
}

/** A database in a real shop. */
export const orders: Order[] = [];

const safe = (text: string) => text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
const layout = (body: string) =>
  `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Shop</title>${body}`;

export const page = {
  catalogue: (products: readonly Product[]) =>
    layout(
      `<h1>Shop</h1>${products
        .map(
          ({ id, name, price, currency }) =>
            `<form method="post" action="/buy/${encodeURIComponent(id)}">${safe(name)} ${price} ${currency} <button>Buy</button></form>`,
        )
        .join('')}<p><a href="/orders">Orders</a></p>`,
    ),
  orders: () =>
    layout(
      `<h1>Orders</h1><ul>${orders
        .map(
          ({ name, amount, currency, paidAs }) =>
            `<li>${safe(name)}, ${amount} ${currency}: ${paidAs ? 'paid' : 'being confirmed'}</li>`,
        )
        .join('')}</ul><p><a href="/">Shop</a></p>`,
    ),
};
