import type { Inbox, OrderBook } from 'merchant-payments/inbox';
import { openOrderBook } from 'merchant-payments/inbox';
import { expect, test } from 'vitest';
import { connect, deferCleanup, openSqlite, temporaryFile } from './inboxes.js';

const paid = { order_id: 'ord_1', amount: '19.90', currency: 'USD' };

test.each<[name: string, misspelt: string, meant: string, call: (inbox: Inbox, given: never) => unknown]>([
  ['list', 'stat', 'state', (inbox, given) => inbox.list(given)],
  ['retry', 'forced', 'force', (inbox, given) => inbox.retry('order.paid:ord_1', given)],
  ['purge', 'older', 'olderThan', (inbox, given) => inbox.purge(given)],
  ['refused', 'limits', 'limit', (inbox, given) => inbox.refused(given)],
  ['discardRefused', 'older', 'olderThan', (inbox, given) => inbox.discardRefused(given)],
  ['recover', 'schem', 'scheme', (inbox, given) => inbox.recover(given)],
  ['drain', 'forms', 'forMs', (inbox, given) => inbox.drain(given)],
])(
  'inbox.%s() refuses the unknown option %s, and names the likely one: %s',
  async (_, misspelt, meant, call) => {
    const { inbox } = openSqlite();
    const run = async () => Reflect.apply(call, undefined, [inbox, { [misspelt]: undefined }]);
    await expect(run()).rejects.toThrow(`${misspelt} is unknown. Did you mean ${meant}?`);
  },
);

test.each<
  [
    name: string,
    misspelt: string,
    meant: string,
    call: (book: OrderBook, given: never, file: string) => unknown,
  ]
>([
  ['reserve', 'prices', 'price', (book, given) => book.reserve(given)],
  ['open', 'expires', 'expiresAt', (book, given) => book.open('order-1', given)],
  [
    'credit',
    'received',
    'receivedAt',
    (book, given, file) => {
      const database = connect(file);
      database.exec('BEGIN');
      return book.credit(database, paid, given);
    },
  ],
])(
  'book.%s() refuses the unknown option %s, and names the likely one: %s',
  async (_, misspelt, meant, call) => {
    const file = temporaryFile();
    const book = openOrderBook({ file });
    deferCleanup(() => book.close());
    const run = async () => Reflect.apply(call, undefined, [book, { [misspelt]: undefined }, file]);
    await expect(run()).rejects.toThrow(`${misspelt} is unknown. Did you mean ${meant}?`);
  },
);
