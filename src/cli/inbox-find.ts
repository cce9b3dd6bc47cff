import { fieldsOf } from '../doctor/link.js';
import type { InboxEntry, RefusedEntry } from '../inbox/entry.js';
import { toBookAmount } from '../inbox/order-book-options.js';
import { type FoundOrder, type FoundPayment, lookUp } from '../inbox/orders.js';
import type { InboxStore } from '../inbox/store.js';
import type { WebhookEvent } from '../webhooks/index.js';
import { decodeRecoded } from '../webhooks/recoded.js';
import { eventOf } from '../webhooks/verify.js';
import { actionAt, type Result, tableText } from './inbox-action.js';
import { withTables } from './inbox-place.js';
import { paragraphs, refuseUnless } from './terminal.js';

/** The most entries that are read at once. */
const pageSize = 1000;

export const find = actionAt(
  {
    name: 'find',
    summary: 'finds one order, its payment, and what may be its payment: for a customer who says "I paid"',
    usage: ` <id>

Pass the id of an order in the order book or of a payment, or another value of an event, such as an e-mail address. For an
order, it also lists what may be its payment: payments and deliveries of its amount since it was reserved, deliveries that
cannot be read, and refused ones of its amount. The exit code is 1 if nothing is found.`,
    example: ' 7',
    words: 1,
  },
  async (place, given, [text]): Promise<Result> => {
    refuseUnless(text, 'Pass the id of an order or of a payment, or another value in its event.');
    return withTables(place, given.text('schema'), async ({ store, hasBook, openBook }): Promise<Result> => {
      const isBook = await hasBook();
      const known = isBook ? await openBook().run(() => lookUp(text)) : undefined;
      const { order = null, payments = [] } = known ?? {};
      const found = {
        order,
        payments,
        deliveries: await findDeliveries(store, text, order),
        refused: await findRefused(store, text, order),
        dropped: (await store.stats()).dropped,
      };
      return [textOf(found, isBook && !known), found, isAny(found)];
    });
  },
);

interface Found {
  order: FoundOrder | null;
  payments: readonly FoundPayment[];
  deliveries: readonly InboxEntry[];
  refused: readonly RefusedEntry[];
  /** The number of refused deliveries that are no longer stored. */
  dropped: number;
}

const isAny = ({ order, payments, deliveries, refused }: Found) =>
  order !== null || payments.length + deliveries.length + refused.length > 0;

/** Returns deliveries that name the value, the delivery of the order's payment, and those that may be its payment. */
async function findDeliveries(
  store: InboxStore,
  text: string,
  order: FoundOrder | null,
): Promise<InboxEntry[]> {
  const keys = [text, `order.paid:${order?.paymentId ?? text}`];
  // A delivery of the order's amount may be done though the shop's function credited nothing.
  const mayPay = ({ event, state, receivedAt }: InboxEntry) =>
    event !== null &&
    (event.type === 'unknown' ? state !== 'done' : hasAmount(event, order)) &&
    isSince(receivedAt, order);
  const found: InboxEntry[] = [];
  let after: string | undefined;
  do {
    const page = await store.list({ limit: pageSize, after });
    const named = (entry: InboxEntry) =>
      keys.includes(entry.key) || names(Buffer.from(JSON.stringify(entry.event)), text);
    found.push(...page.filter((entry) => named(entry) || mayPay(entry)));
    after = page.length < pageSize ? undefined : page.at(-1)?.key;
  } while (after !== undefined);
  return found;
}

/** Returns refused deliveries that name the value, or that may be the order's payment. */
async function findRefused(
  store: InboxStore,
  text: string,
  order: FoundOrder | null,
): Promise<RefusedEntry[]> {
  const matches = ({ rawBody, encoding, lastAt }: RefusedEntry) => {
    const given = Buffer.from(rawBody, encoding ?? 'utf8');
    const body = decodeRecoded(given)?.sent ?? given;
    return names(body, text) || (hasAmount(eventOf(body), order) && isSince(lastAt, order));
  };
  const found: RefusedEntry[] = [];
  for (let after: number | undefined = 0; after !== undefined; ) {
    const page: RefusedEntry[] = await store.refused(pageSize, after);
    found.push(...page.filter(matches));
    after = page.at(-1)?.id;
  }
  return found.reverse();
}

/** True if a field of the body has this value. */
function names(body: Uint8Array, text: string): boolean {
  return fieldsOf(body).some(({ value }) => String(value).toLowerCase() === text.toLowerCase());
}

function hasAmount(event: WebhookEvent, order: FoundOrder | null): boolean {
  if (event.type === 'unknown' || order === null) return false;
  const { amount, currency } = event.data;
  return toBookAmount(amount) === order.amount && currency.toUpperCase() === order.currency;
}

/** True if a delivery came after the order was reserved, give or take a minute by which clocks may differ. */
function isSince(receivedAt: string, order: FoundOrder | null): boolean {
  return order !== null && Date.parse(receivedAt) >= order.createdAt.getTime() - 60_000;
}

function textOf(found: Found, isUnknown: boolean): string {
  const { order, payments, deliveries, refused, dropped } = found;
  const lost =
    dropped > 0 &&
    `${dropped} refused deliveries had been dropped, because the quarantine was full (keepRefused): they cannot be searched.`;
  if (!isAny(found))
    return paragraphs(
      'Nothing is found. An order has the id that you passed to reserve() of the order book.',
      lost,
    );
  const isHeld = payments.some(({ state }) => state === 'held');
  return paragraphs(
    order
      ? tableText([
          ['order', order.id],
          ['state', order.state],
          ['amount', `${order.amount} ${order.currency}`],
          ['paid by', order.paymentId],
          ['reserved at', order.createdAt.toISOString()],
          ['checkout until', order.expiresAt?.toISOString()],
          ['customer back at', order.returnedAt?.toISOString()],
        ])
      : isUnknown && 'The order book has no order or payment of this id.',
    table(
      ['PAYMENT', 'AMOUNT', 'STATE', 'FOR ORDER', 'RECEIVED AT'],
      payments.map((one) => [
        one.id,
        `${one.amount} ${one.currency}`,
        one.state,
        one.orderId,
        one.receivedAt.toISOString(),
      ]),
    ),
    isHeld && 'Decide on a held payment: `held --decide <payment> --order <order>`.',
    table(
      ['DELIVERY', 'STATE', 'RECEIVED AT', 'LAST ERROR'],
      deliveries.map((one) => [one.key, one.state, one.receivedAt, one.lastError]),
    ),
    table(
      ['REFUSED', 'BECAUSE', 'RECEIVED AT', 'BODY'],
      refused.map((one) => [one.id, one.code, one.receivedAt, one.rawBody.slice(0, 60)]),
    ),
    refused.length > 0 &&
      'What was refused may come from strangers. To prove it authentic: `refused --identify`, then `recover`.',
    order?.state !== 'paid' &&
      payments.length + deliveries.length + refused.length === 0 &&
      'Nothing is stored that may be its payment. Ask the service for it: docs/when-the-webhook-never-comes.md',
    order?.state !== 'paid' && lost,
  );
}

function table(head: string[], rows: readonly (readonly unknown[])[]): string | false {
  return rows.length > 0 && tableText([head, ...rows]);
}
