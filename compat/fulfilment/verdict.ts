// What the service was told, held against what is in the shop's tables.
import type { Plan } from './plan.js';
import type { Reply } from './sender.js';

/** What a shop has in its tables. */
export interface Books {
  /** How many times each order was fulfilled. */
  fulfilled: Map<string, number>;
  /** The sum of what fulfilling took in, in cents: written in the same transaction, and wrong if one ran twice. */
  takenCents: number;
  /** Stored, and not yet worked on. */
  pending: number;
}

export interface Verdict {
  accepted: number;
  fulfilled: number;
  /** Answered 200, and never fulfilled. */
  lost: string[];
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
  const paid = new Map(plan.paid.map((order) => [order.id, order.cents]));
  const accepted = [...paid.keys()].filter((id) => replies.get(id)?.includes(200));
  const times = (id: string) => books.fulfilled.get(id) ?? 0;
  const fulfilled = [...books.fulfilled.keys()];
  const due = fulfilled.reduce((sum, id) => sum + (paid.get(id) ?? 0), 0);
  return {
    accepted: accepted.length,
    fulfilled: fulfilled.length,
    lost: accepted.filter((id) => times(id) === 0),
    repeated: fulfilled.filter((id) => times(id) > 1),
    unpaid: fulfilled.filter((id) => !paid.has(id)),
    takingsWrong: books.takenCents !== due,
    forgedTaken: plan.sendings
      .filter(({ forged }) => forged)
      .flatMap(({ order }) => order.id)
      .filter((id) => replies.get(id)?.some((reply) => reply !== 400 && reply !== 'no response')),
    neverAccepted: [...paid.keys()].filter((id) => !replies.get(id)?.includes(200) && times(id) === 0),
  };
}
