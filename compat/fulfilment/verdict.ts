// Compares the responses that the service got with the shop's tables.
import { markOf, type Order, type Plan } from './plan.js';
import type { Reply } from './sender.js';

/** The shop's tables. */
export interface Books {
  /** Each fulfilment: the order's id and its cents. */
  fulfilled: Order[];
  /** The sum of what fulfilling took in, in cents: written in the same transaction, and wrong if one ran twice. */
  takenCents: number;
  /** The bodies of what is stored, and not done: waiting, running, or parked for a person. */
  left: string[];
}

export interface Verdict {
  accepted: number;
  fulfilled: number;
  /** Answered 200, neither fulfilled nor kept for a person. */
  lost: string[];
  /** Of all that is stored, what is still to be fulfilled. */
  pending: number;
  /** Conflicts and unreadable events that a person will see. */
  parked: number;
  /** Fulfilled more than once. */
  repeated: string[];
  /** Fulfilled, and never paid. */
  unpaid: string[];
  /** The takings differ from the sum of the orders that were fulfilled. */
  takingsWrong: boolean;
  /** A forged delivery that was not answered 400. */
  forgedTaken: string[];
  /** Paid, not answered 200 and not fulfilled: the service knows of these, and could send them again if it wanted. */
  neverAccepted: string[];
}

export function judge(plan: Plan, replies: Map<string, Reply[]>, books: Books): Verdict {
  const readable = [...plan.paid, ...plan.conflicts];
  const authentic = plan.sendings.filter(({ forged }) => !forged).map(({ order }) => order);
  const isAccepted = (order: Order) => replies.get(markOf(order))?.includes(200) ?? false;
  const fulfilled = new Set(books.fulfilled.map(markOf));
  const ids = books.fulfilled.map(({ id }) => id);
  const left = new Set(books.left.map(markOfBody));
  const isKnown = ({ id }: Order) => ids.includes(id);
  // A delivery that contradicts a fulfilled order, or cannot be read, is for a person. Every other one has to be fulfilled.
  const isForPerson = (order: Order) =>
    !readable.some(({ id }) => id === order.id) || (isKnown(order) && !fulfilled.has(markOf(order)));
  const kept = authentic.filter((order) => left.has(markOf(order)));
  return {
    accepted: new Set(plan.paid.filter(isAccepted).map(({ id }) => id)).size,
    fulfilled: new Set(ids).size,
    lost: [...new Set(authentic.filter(isAccepted).map(markOf))].filter(
      (mark) => !fulfilled.has(mark) && !left.has(mark),
    ),
    pending: kept.filter((order) => !isForPerson(order)).length,
    parked: new Set(kept.filter(isForPerson).map(markOf)).size,
    repeated: ids.filter((id, place) => ids.indexOf(id) !== place),
    unpaid: [...fulfilled].filter((mark) => !readable.some((order) => markOf(order) === mark)),
    takingsWrong: books.takenCents !== books.fulfilled.reduce((sum, { cents }) => sum + cents, 0),
    forgedTaken: plan.sendings
      .filter(({ forged }) => forged)
      .map(({ order }) => markOf(order))
      .filter((mark) => replies.get(mark)?.some((reply) => reply !== 400 && reply !== 'no response')),
    neverAccepted: plan.paid.filter((order) => !isAccepted(order) && !isKnown(order)).map(({ id }) => id),
  };
}

function markOfBody(rawBody: string): string {
  const { data } = JSON.parse(rawBody);
  return markOf({
    id: data.order_id,
    cents: Math.round(Number(String(data.amount).replace(',', '.')) * 100),
  });
}
