import { expect, test } from 'vitest';
import { sign } from '../../../src/webhooks/index.js';
import { history, randomFrom } from '../../matching/histories.js';
import { secret } from '../inboxes.js';
import { runInbox } from '../program.js';
import { type BookOptions, type ContractBook, deathAt, newPlace, openAt, type Place } from './places.js';

const minute = 60_000;
const hour = 60 * minute;
const mug = { price: '19.90', currency: 'USD' };
const inMinutes = (minutes: number) => new Date(Date.now() + minutes * minute);
const payment = (order_id: string, amount = '19.90') => ({ order_id, amount, currency: 'USD' });

/** Lets time pass for what is in the book. */
async function pass(place: Place, ms: number): Promise<void> {
  const shift = (columns: string[]) => columns.map((name) => `${name} = ${name} - ${ms}`).join();
  await place.run(
    `UPDATE $order SET ${shift(['created_at', 'expires_at', 'returned_at', 'payable_until', 'paid_at'])}`,
  );
  await place.run(`UPDATE $order_payment SET ${shift(['received_at'])}`);
}

function openBook(options?: BookOptions): ContractBook & { place: Place } {
  const place = newPlace();
  return { ...place.openBook(options), place };
}

async function buy(book: ContractBook, id: string, minutes = 30, price = '19.90'): Promise<string | null> {
  const { amount } = await book.reserve({ ...mug, price, id });
  if (amount !== null) await book.open(id, { expiresAt: inMinutes(minutes) });
  return amount;
}

const credit = (book: ContractBook, id: string, amount?: string) =>
  book.runWithin(async ({ credit }) => (await credit(payment(id, amount))).map(({ id }) => id));
const reasonsOf = async (book: ContractBook) =>
  (await book.held()).map(
    ({ payment, candidates, because }) => `${payment.id} for ${candidates.map(({ id }) => id)}: ${because}`,
  );

test('fifty reservations at the same moment on two instances get fifty amounts', async () => {
  const place = newPlace();
  const books = [place.openBook(), place.openBook()];
  const reserve = (number: number) => books[number % 2]?.reserve({ ...mug, id: number });
  const reserved = await Promise.all(Array.from({ length: 50 }, (_, number) => reserve(number)));
  const amounts = reserved.map((one) => one?.amount);
  expect(new Set(amounts).size).toBe(50);
  expect(amounts).toContain('19.90');
  expect(amounts).not.toContain(null);
  expect(await books[0]?.reserve({ ...mug, id: 'last' })).toEqual({ amount: '19.40' });
  expect(await books[1]?.reserve({ ...mug, id: 'too many' })).toEqual({ amount: null });
  expect(await books[1]?.reserve({ ...mug, id: 'too many', most: '0.51' })).toEqual({ amount: '19.39' });
  expect(await books[1]?.reserve({ ...mug, currency: 'eur', id: 'in euros' })).toEqual({ amount: '19.90' });
}, 120_000);

test('an amount comes back when its checkout is over and no webhook can come, that which was free for the longest first', async () => {
  const book = openBook({ most: '0.02' });
  expect(await buy(book, 'A', 60)).toBe('19.90');
  expect(await buy(book, 'B', 30)).toBe('19.89');
  await credit(book, 'paid by B', '19.89');
  expect(await buy(book, 'C', 90)).toBe('19.88');
  await pass(book.place, 2 * hour + 29 * minute);
  expect(await buy(book, 'D')).toBeNull();
  await pass(book.place, 32 * minute);
  // That of B has been free for longer than that of A.
  expect([await buy(book, 'E'), await buy(book, 'F'), await buy(book, 'G')]).toEqual([
    '19.89',
    '19.90',
    null,
  ]);
});

test('an order whose customer came back keeps its amount until it is paid or cancelled', async () => {
  const book = openBook({ most: '0', lateFor: '1m' });
  await buy(book, 'A');
  await book.returned('A');
  await pass(book.place, 99 * hour);
  expect(await buy(book, 'B')).toBeNull();
  expect((await book.overdue()).map(({ id }) => id)).toEqual(['A']);
  await book.cancel('A');
  expect([await book.overdue(), await buy(book, 'B')]).toEqual([[], '19.90']);
});

test('a reservation without open() ends after ten minutes, and a cancelled one at once', async () => {
  const book = openBook({ most: '0' });
  const reserve = (id: string) => book.reserve({ ...mug, id });
  await reserve('A');
  await book.cancel('A');
  expect([await reserve('B'), await reserve('C')]).toEqual([{ amount: '19.90' }, { amount: null }]);
  await pass(book.place, 10 * minute + 1);
  await expect(book.open('B')).rejects.toMatchObject({
    code: 'order_unknown',
    message:
      'There is no reservation for order "B", or it ended ten minutes after reserve(). Reserve again, and create another checkout.',
  });
  expect(await reserve('C')).toEqual({ amount: '19.90' });
});

test('an order that is reserved again keeps its amount, so that a second checkout of it can be paid', async () => {
  const book = openBook({ most: '0.05' });
  expect([await buy(book, 'A'), await buy(book, 'A')]).toEqual(['19.90', '19.90']);
  await pass(book.place, hour);
  expect(await buy(book, 'A')).toBe('19.90');
  expect(await credit(book, 'p')).toEqual(['A']);
  await expect(buy(book, 'A')).rejects.toMatchObject({ code: 'order_conflict', message: /"A" is paid/ });
  expect(await buy(book, 'B')).toBe('19.89');
  await expect(buy(book, 'B', 30, '25.00')).rejects.toMatchObject({ code: 'order_conflict' });
  // The order gets another amount once another order may have the first one.
  await pass(book.place, 3 * hour);
  expect(await buy(book, 'B')).toBe('19.88');
});

test('a payment is taken once, and comes for the order of its amount', async () => {
  const book = openBook();
  await buy(book, 'A');
  await buy(book, 'B');
  const paid = await book.runWithin(({ credit }) => credit(payment('p', '19.9')));
  expect(paid).toEqual([{ id: 'A', amount: '19.90', currency: 'USD', paymentId: 'p' }]);
  expect(await credit(book, 'p')).toEqual([]);
  expect(await credit(book, 'q')).toEqual([]);
  expect(await reasonsOf(book)).toEqual(['q for : no_candidate']);
  await expect(credit(book, 'p', '90.00')).rejects.toMatchObject({
    code: 'order_conflict',
    message:
      'Payment "p" came with 19.90 USD before, and now comes with 90.00 USD. Nothing was credited. Compare both with your order: ' +
      'discard this delivery, or decide on the order by hand.',
  });
});

test('nothing is credited if the transaction is rolled back', async () => {
  const book = openBook();
  await buy(book, 'A');
  const failing = book.runWithin(async ({ credit }) => {
    expect(await credit(payment('p'))).toHaveLength(1);
    throw new Error('the shop failed');
  });
  await expect(failing).rejects.toThrow('the shop failed');
  expect(await credit(book, 'p')).toEqual(['A']);
});

test('a payment that waited in the inbox is matched as of when it arrived', async () => {
  const place = newPlace();
  const book = place.openBook({ most: '0' });
  const { post } = openAt({ place, on: { 'order.paid': () => undefined } });
  await buy(book, 'A');
  await post(JSON.stringify({ type: 'order.paid', data: payment('of A') }));
  await place.run('UPDATE $inbox SET received_at = received_at - 10800000');
  await pass(place, 3 * hour);
  // By now nobody but B could have paid, and the payment came before B ordered.
  expect(await buy(book, 'B')).toBe('19.90');
  expect(await credit(book, 'of A')).toEqual(['A']);
  expect(await credit(book, 'of B')).toEqual(['B']);
});

test('a late webhook of an expired order is held, and not credited to the next customer', async () => {
  const book = openBook({ most: '0' });
  await buy(book, 'A');
  await pass(book.place, 45 * minute);
  expect(await credit(book, 'of A')).toEqual([]);
  expect(await reasonsOf(book)).toEqual(['of A for A: expired']);
  expect(await book.decide('of A', 'A')).toMatchObject([{ id: 'A', paymentId: 'of A' }]);
  expect(await book.held()).toEqual([]);
});

test('a payment that came after every window has the unpaid orders of its amount as candidates, and is never credited by itself', async () => {
  const book = openBook({ most: '0' });
  await buy(book, 'cancelled');
  await book.cancel('cancelled');
  await pass(book.place, 24 * hour);
  await buy(book, 'A');
  await pass(book.place, 24 * hour);
  expect(await credit(book, 'of A')).toEqual([]);
  await pass(book.place, hour);
  expect(await buy(book, 'ordered after it')).toBe('19.90');
  expect(await reasonsOf(book)).toEqual(['of A for A,cancelled: expired']);
  expect(await credit(book, 'of the last')).toEqual(['ordered after it']);
  expect(await book.decide('of A', 'A')).toMatchObject([{ id: 'A', paymentId: 'of A' }]);
});

test('an order that a person fulfilled before its webhook came is done when that comes, with its amount', async () => {
  const book = openBook();
  await buy(book, 'A');
  expect(await book.runWithin(({ decide }) => decide('ord_1', 'A'))).toMatchObject([
    { id: 'A', paymentId: 'ord_1' },
  ]);
  expect(await credit(book, 'ord_1')).toEqual([]);
  expect(await book.held()).toEqual([]);
  await expect(credit(book, 'ord_1', '5.00')).rejects.toMatchObject({ code: 'order_conflict' });
  // The same decision again changes nothing, another one is refused.
  expect(await book.decide('ord_1', 'A')).toEqual([]);
  await buy(book, 'B');
  await expect(book.decide('ord_1', 'B')).rejects.toMatchObject({ message: /was credited to order "A"/ });
  await expect(book.decide('ord_2', 'A')).rejects.toMatchObject({ message: /is paid, by payment "ord_1"/ });
  await expect(book.decide('ord_2', 'none')).rejects.toMatchObject({ code: 'order_unknown' });
});

test('several candidates are for a person, whose decision may make another payment certain', async () => {
  const book = openBook();
  for (const id of ['A', 'B']) {
    await book.reserve({ ...mug, id });
    await book.open(id, { expiresAt: inMinutes(30), amount: '19.9' });
  }
  expect([await credit(book, 'p'), await credit(book, 'q')]).toEqual([[], []]);
  expect(await reasonsOf(book)).toEqual(['p for A,B: several_candidates', 'q for A,B: several_candidates']);
  await buy(book, 'C');
  await expect(book.decide('p', 'C')).rejects.toMatchObject({
    message: /is of 19.90 USD, and order "C" asks for/,
  });
  const paid = await book.runWithin(({ decide }) => decide('p', 'B'));
  expect(paid.map(({ id, paymentId }) => `${id} ${paymentId}`)).toEqual(['B p', 'A q']);
});

test('outside of a transaction nothing is credited by itself, and held() shows what has become certain', async () => {
  const book = openBook();
  for (const id of ['A', 'B']) {
    await book.reserve({ ...mug, id });
    await book.open(id, { expiresAt: inMinutes(30), amount: '19.90' });
  }
  await credit(book, 'p');
  await book.cancel('B');
  expect(await reasonsOf(book)).toEqual(['p for A: only_candidate']);
  expect(await book.decide('p', 'A')).toHaveLength(1);
});

test('cancel() in a transaction credits what has become certain', async () => {
  const book = openBook();
  for (const id of ['A', 'B']) {
    await book.reserve({ ...mug, id });
    await book.open(id, { expiresAt: inMinutes(30), amount: '19.90' });
  }
  await credit(book, 'p');
  expect(await book.runWithin(({ cancel }) => cancel('B'))).toMatchObject([{ id: 'A', paymentId: 'p' }]);
  await expect(book.cancel('A')).rejects.toMatchObject({ code: 'order_conflict', message: /by payment "p"/ });
});

test('the payment of a cancelled order is held, and a person can still credit it', async () => {
  const book = openBook();
  await buy(book, 'A');
  await book.cancel('A');
  expect(await buy(book, 'B')).toBe('19.89');
  expect(await credit(book, 'p')).toEqual([]);
  expect(await reasonsOf(book)).toEqual(['p for A: no_candidate']);
  expect(await book.decide('p', 'A')).toHaveLength(1);
});

test('a return decides only where returns are trusted', async () => {
  for (const trustReturns of [false, true]) {
    const book = openBook({ trustReturns });
    for (const id of ['A', 'B']) {
      await book.reserve({ ...mug, id });
      await book.open(id, { expiresAt: inMinutes(30), amount: '19.90' });
    }
    await credit(book, 'p');
    const paid = await book.runWithin(({ returned }) => returned('B'));
    expect(paid.map(({ id }) => id)).toEqual(trustReturns ? ['B'] : []);
  }
});

test('a dismissed payment is no longer held, and a credited one cannot be dismissed', async () => {
  const book = openBook();
  await credit(book, 'stray', '1.00');
  await book.dismiss('stray');
  await book.dismiss('stray');
  expect([await book.held(), await credit(book, 'stray', '1.00')]).toEqual([[], []]);
  await buy(book, 'A');
  await credit(book, 'p');
  await expect(book.dismiss('p')).rejects.toMatchObject({ code: 'order_conflict' });
  await expect(book.dismiss('none')).rejects.toMatchObject({ code: 'order_unknown' });
});

test('overdue() has the orders whose customer came back more than 15 minutes ago and that are unpaid', async () => {
  const book = openBook();
  for (const id of ['A', 'B', 'C']) await buy(book, id);
  await book.returned('A');
  await book.returned('B');
  await credit(book, 'p', '19.89');
  await pass(book.place, 14 * minute);
  expect(await book.overdue()).toEqual([]);
  await pass(book.place, 2 * minute);
  expect(await book.overdue()).toMatchObject([
    { id: 'A', amount: '19.90', state: 'open', returnedAt: expect.any(Date) },
  ]);
  await expect(book.returned('none')).rejects.toMatchObject({ code: 'order_unknown' });
});

test('ids keep every character', async () => {
  const book = openBook();
  const [order, paid] = ['Bestellung \\ "7" – 日本 ?', "o'rd \\u0041 $1 ?"];
  await buy(book, order);
  expect(await book.runWithin(({ credit }) => credit(payment(paid)))).toMatchObject([
    { id: order, paymentId: paid },
  ]);
  await credit(book, 'q');
  expect(await credit(book, paid)).toEqual([]);
});

test('the command lists what is held with its candidates, decides and dismisses', async () => {
  const book = openBook();
  const { args, cwd } = book.place;
  const [at = '', ...schema] = args;
  const listHeld = (...flags: string[]) => runInbox([at, 'held', ...flags, ...schema], cwd);
  await buy(book, 'A');
  await book.cancel('A');
  await credit(book, 'ord_1');
  await credit(book, 'ord_2', '5.00');
  const listed = listHeld();
  expect(listed).toMatchObject({ status: 0, stderr: '' });
  expect(listed.stdout).toMatch(
    /^PAYMENT .*\nord_1 +19\.90 USD +\S+Z +no open order asks for it +A \(cancelled\)\nord_2 /,
  );
  expect(JSON.parse(listHeld('--json').stdout)).toMatchObject([
    { payment: { id: 'ord_1' } },
    { payment: { id: 'ord_2' } },
  ]);
  expect(listHeld('--decide', 'ord_1', '--order', 'A').stdout).toMatch(
    /credited to order A\s.*Your shop is not told, .*: fulfil it by hand\.\n$/s,
  );
  expect(await book.runWithin(({ decide }) => decide('ord_1', 'A'))).toEqual([]);
  expect(listHeld('--help').stdout.replace(/\s+/g, ' ')).toMatch(
    /--decide <payment> .*fulfil the order by hand, or call book\.decide\(\) in your code instead/,
  );
  expect(listHeld('--dismiss', 'ord_2')).toMatchObject({
    status: 0,
    stdout: expect.stringContaining('dismissed'),
  });
  expect(listHeld().stdout).toContain('No payment waits for a person.');
  expect(listHeld('--dismiss', 'ord_1')).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('was credited to order "A"'),
  });
  expect(listHeld('--decide', 'ord_1')).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('Pass --decide and --order together'),
  });
});

test('the command finds an order with its payment, and what may be its payment', async () => {
  const book = openBook();
  const { args, cwd } = book.place;
  const [at = '', ...schema] = args;
  const find = (...words: string[]) => runInbox([at, 'find', ...words, ...schema], cwd);
  const { inbox, post } = openAt({
    place: book.place,
    retries: [],
    on: {
      'order.paid': ({ data }) => {
        if (['ord_0', 'ord_2', 'ord_5'].includes(data.order_id)) throw new Error('no stock');
      },
    },
  });
  const send = (data: object, key = secret) => {
    const body = JSON.stringify({ type: 'order.paid', data: { currency: 'USD', ...data } });
    return post(body, sign({ rawBody: body, secret: key }));
  };
  await send({ order_id: 'ord_0', amount: '19.89' });
  await inbox.idle();
  await credit(book, 'ord_0', '19.89');
  await pass(book.place, hour);
  await book.place.run('UPDATE $inbox SET received_at = received_at - 3600000');
  expect([await buy(book, 'A'), await buy(book, 'B')]).toEqual(['19.90', '19.89']);
  await send({ order_id: 'ord_1', amount: '19.90', email: 'Ann@shop.example' });
  await send({ order_id: 'ord_2', amount: '19.89' });
  await send({ order_id: 7 });
  await send({ order_id: 'ord_3', amount: '19.89' }, 'whsec_of_another_shop');
  for (const order_id of ['ord_4', 'ord_5']) await send({ order_id, amount: '5.00' });
  await inbox.idle();
  await credit(book, 'ord_1');
  await credit(book, 'ord_4', '5.00');

  const paid = find('A');
  expect(paid).toMatchObject({ status: 0, stderr: '' });
  expect(paid.stdout).toMatch(/^order +A\nstate +paid\namount +19\.90 USD\npaid by +ord_1\n/);
  expect(paid.stdout).toMatch(/\nord_1 +19\.90 USD +credited +A +\S+Z\n/);
  expect(paid.stdout).toMatch(/\norder\.paid:ord_1 +done /);
  expect(find('ord_1').stdout).toBe(paid.stdout);

  const unpaid = JSON.parse(find('B', '--json').stdout);
  expect(unpaid).toMatchObject({ order: { id: 'B', state: 'open', paymentId: null }, payments: [] });
  expect(unpaid.deliveries).toMatchObject([
    { key: expect.stringMatching('invalid:') },
    { key: 'order.paid:ord_2' },
  ]);
  expect(unpaid.refused).toMatchObject([{ rawBody: expect.stringContaining('ord_3') }]);
  expect(find('B').stdout).toMatch(/What was refused .*: `refused --identify`, then `recover`\./);

  expect(find('ord_4').stdout).toMatch(
    /^PAYMENT .*\nord_4 +5\.00 USD +held +- .*\n\n.*`held --decide .*`\.\n/,
  );
  expect(find('ann@Shop.example').stdout).toMatch(
    /^The order book has no order .*\norder\.paid:ord_1 +done /s,
  );
  expect(find('none')).toMatchObject({ status: 1, stdout: expect.stringContaining('Nothing is found.') });
  expect(find()).toMatchObject({ status: 2, stderr: expect.stringContaining('Pass the id of an order') });
});

test('the command finds a delivery of the amount of an order that is done, but was not credited', async () => {
  const book = openBook();
  const { args, cwd } = book.place;
  const { inbox, post } = openAt({ place: book.place, on: { 'order.paid': () => {} } });
  await buy(book, 'A');
  const body = JSON.stringify({
    type: 'order.paid',
    data: { order_id: 'ord_1', amount: '19.90', currency: 'USD' },
  });
  await post(body, sign({ rawBody: body, secret }));
  await inbox.idle();
  const [at = '', ...schema] = args;
  const { stdout } = runInbox([at, 'find', 'A', ...schema], cwd);
  expect(stdout).toMatch(/\norder\.paid:ord_1 +done /);
  expect(stdout).not.toContain('Nothing is stored');
});

test('the command finds a payment behind 1,000 newer refused deliveries, and says how many were dropped', async () => {
  const book = openBook();
  const { args, cwd } = book.place;
  expect(await book.held()).toEqual([]); // makes the tables
  const { inbox, post } = openAt({ place: book.place, on: { 'order.paid': () => {} }, keepRefused: 2000 });
  const body = JSON.stringify({
    type: 'order.paid',
    data: { order_id: 'ord_1', amount: '19.90', currency: 'USD' },
  });
  await post(body, sign({ rawBody: body, secret: 'whsec_of_another_shop' }));
  await inbox.idle();
  const rows = Array.from({ length: 1000 }, (_, n) => `('no_match', 0, 2, '{}', '{}', '${n}', 0)`);
  await book.place.run(
    `INSERT INTO $inbox_refused (code, received_at, bytes, headers, raw_body, body_hash, last_at) VALUES ${rows}`,
  );
  await book.place.run(`INSERT INTO $inbox_refused (code, received_at, bytes, headers, raw_body, body_hash, times, last_at)
    VALUES ('dropped', 0, 0, '{}', '', 'dropped', 7, 0)`);
  const [at = '', ...schema] = args;
  expect(runInbox([at, 'find', 'ord_1', ...schema], cwd).stdout).toMatch(/\nREFUSED .*\n1 +\w+ .*ord_1/);
  expect(runInbox([at, 'find', 'ord_2', ...schema], cwd).stdout).toContain(
    '7 refused deliveries had been dropped',
  );
});

const wrong: [name: string, call: (book: ContractBook) => unknown, message: RegExp][] = [
  [
    'price',
    (book) => book.reserve({ ...mug, id: 'A', price: '19,90' }),
    /orderBook.reserve: price must be a decimal/,
  ],
  ['id', (book) => book.reserve({ ...mug, id: '' }), /orderBook.reserve: id must be a string of 1 to 255/],
  [
    'currency',
    (book) => book.reserve({ ...mug, id: 'A', currency: '$' }),
    /currency must be a currency code/,
  ],
  ['most', (book) => book.reserve({ ...mug, id: 'A', most: '10.01' }), /most makes more than 1000 amounts/],
  [
    'expiresAt',
    (book) => book.open('A', { expiresAt: new Date('never') }),
    /orderBook.open: expiresAt must be/,
  ],
  ['amount', (book) => credit(book, 'p', '1e3'), /orderBook.credit: amount must be a decimal/],
  ['paymentId', (book) => book.dismiss(''), /orderBook.dismiss: paymentId must be/],
];

test.each(wrong)(
  'an invalid %s is refused, and the error says what to pass',
  async (_name, call, message) => {
    await expect(Promise.resolve(call(openBook()))).rejects.toMatchObject({
      name: 'InvalidParamsError',
      message,
    });
  },
);

test('a process that dies before any statement of the book leaves it as it was, and doing it again does it once', async () => {
  const place = newPlace();
  let dies = () => {};
  const book = place.openBook({ most: '0' }, () => dies());
  expect(await book.held()).toEqual([]); // makes the tables
  const bookKilledAt = (killAt: number | undefined) => {
    dies = deathAt(killAt);
    return book;
  };
  const expiresAt = inMinutes(30);
  const steps: Record<string, (killAt?: number) => Promise<unknown>> = {
    reserve: (killAt) => bookKilledAt(killAt).reserve({ ...mug, id: 'A' }),
    open: (killAt) => bookKilledAt(killAt).open('A', { expiresAt }),
    'reserve another': (killAt) => bookKilledAt(killAt).reserve({ ...mug, id: 'B', price: '20.00' }),
    'open another, at the same amount': (killAt) =>
      bookKilledAt(killAt).open('B', { expiresAt, amount: '19.90' }),
    returned: (killAt) => bookKilledAt(killAt).returned('A'),
    'credit what is held': (killAt) => book.runWithin(({ credit }) => credit(payment('p')), killAt),
    'cancel, which credits it': (killAt) => book.runWithin(({ cancel }) => cancel('B'), killAt),
    'credit again': (killAt) => book.runWithin(({ credit }) => credit(payment('q')), killAt),
    decide: (killAt) => book.runWithin(({ decide }) => decide('q', 'B'), killAt),
    'credit for none': (killAt) => book.runWithin(({ credit }) => credit(payment('r')), killAt),
    dismiss: (killAt) => bookKilledAt(killAt).dismiss('r'),
  };
  const rows = async () => [
    ...(await place.run('SELECT id, amount, state, payment_id, returned_at FROM $order ORDER BY id')),
    ...(await place.run('SELECT id, state, order_id FROM $order_payment ORDER BY id')),
  ];
  for (const [name, step] of Object.entries(steps)) {
    const before = await rows();
    let deaths = 0;
    for (; deaths < 40; deaths++) {
      const died = await step(deaths + 1).then(
        () => false,
        (error: unknown) => String(error) === 'Error: killed',
      );
      if (!died) break;
      expect(await rows(), `${name}, at ${deaths + 1}`).toEqual(before);
    }
    const after = await rows();
    expect(deaths, name).toBeGreaterThan(0);
    expect(after, name).not.toEqual(before);
    await step();
    expect(await rows(), `${name}, again`).toEqual(after);
  }
  expect((await rows()).map(({ id, state }) => `${id} ${state}`)).toEqual([
    'A paid',
    'B paid',
    'p credited',
    'q credited',
    'r dismissed',
  ]);
});

test('random shops whose process dies between any two statements credit no payment to an order that was not paid with it', async () => {
  const late = 2 * 60;
  const book = openBook({ lateFor: `${late + 5}m` });
  expect(await book.overdue()).toEqual([]); // makes the tables
  const first = Math.floor(Math.random() * 2 ** 31);
  let [credited, kills, undecided] = [0, 0, 0];
  for (let seed = first; seed < first + 80; seed++) {
    const random = randomFrom(~seed);
    const ids = new Map<string, string>();
    const nameOf = (id: string) => `${id} of ${seed}`;
    let time = 0;
    for (const { at, ordered, returned, payment } of history(seed, { attackers: true, late })) {
      await pass(book.place, (at - time) * minute);
      time = at;
      const toMinutes = (date: Date) => inMinutes(date.getTime() / minute - at);
      if (ordered) {
        const id = nameOf(ordered.id);
        const wanted = { id, price: ordered.amount, currency: 'USD', most: '0.10' };
        const { amount } = await book.reserve(wanted);
        // Died before there was a checkout: the customer presses Buy again.
        if (random() < 0.3) expect(await book.reserve(wanted)).toEqual({ amount });
        // Most amounts are the same, as they are in a shop that sells more than it has cents.
        const shared = random() < 0.6 || amount === null ? ordered.amount : amount;
        if (amount === null) ids.set(id, 'none');
        else
          await book.open(id, {
            expiresAt: ordered.expiresAt ? toMinutes(ordered.expiresAt) : undefined,
            amount: shared,
          });
        ordered.amount = shared;
      }
      if (returned) await book.returned(nameOf(returned.id)).catch(() => {});
      if (payment) {
        const data = { order_id: nameOf(payment.id), amount: payment.of.amount, currency: 'USD' };
        for (let killAt = random() < 0.5 ? 1 + Math.floor(random() * 12) : undefined; ; killAt = undefined) {
          try {
            const paid = await book.runWithin(
              ({ credit }) => credit(data, toMinutes(payment.receivedAt)),
              killAt,
            );
            for (const { id, paymentId } of paid) ids.set(paymentId, id);
            credited += paid.length;
            break;
          } catch (error) {
            expect(String(error)).toBe('Error: killed');
            kills++;
          }
        }
      }
    }
    for (const [paymentId, id] of ids)
      if (id !== 'none') expect(id.slice(6), `seed ${seed}`).toBe(paymentId.slice(8));
    undecided += (await book.held()).length;
    await book.place.run('DELETE FROM $order');
    await book.place.run('DELETE FROM $order_payment');
  }
  expect(credited).toBeGreaterThan(15);
  expect(undecided).toBeGreaterThan(10);
  expect(kills).toBeGreaterThan(10);
}, 300_000);
