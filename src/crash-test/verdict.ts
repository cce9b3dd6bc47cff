import { type BookLine, plainAmount } from './books.js';
import type { Plan } from './plan.js';
import { type Answer, hasSucceeded } from './run.js';

export type CrashFindingCode =
  | 'lost'
  | 'twice'
  | 'wrong_amount'
  | 'forged'
  | 'forged_accepted'
  | 'wrong_order'
  | 'conflict_dropped';

export interface CrashFinding {
  readonly code: CrashFindingCode;
  /** True if it does not change the exit code. */
  readonly isWarning: boolean;
  /** A line for each order: what was sent, what came back and what the books have. */
  readonly examples: readonly string[];
}

const warnings: readonly CrashFindingCode[] = ['forged_accepted', 'conflict_dropped'];

/** Compares the books with what was sent and what was answered, and returns a finding for each kind of difference. */
export function judge(plan: Plan, answers: readonly Answer[], books: readonly BookLine[]): CrashFinding[] {
  const fulfilled = groupBy(
    books.filter(({ isHeld }) => !isHeld),
    ({ orderId }) => orderId,
  );
  const held = groupBy(
    books.filter(({ isHeld }) => isHeld),
    ({ orderId }) => orderId,
  );
  const authentic = groupBy(
    answers.filter(({ delivery }) => !['forged', 'unknown'].includes(delivery.kind)),
    ({ delivery }) => delivery.orderId,
  );
  const found = new Map<CrashFindingCode, string[]>();
  const add = (code: CrashFindingCode, example: string): void => {
    found.set(code, [...(found.get(code) ?? []), example]);
  };

  for (const [orderId, attempts] of authentic) {
    const lines = fulfilled.get(orderId) ?? [];
    const isKept = held.has(orderId);
    const accepted = attempts.filter(hasSucceeded);
    if (accepted.length > 0 && lines.length === 0 && !isKept)
      add('lost', `${describe(accepted[0])}, not in the books`);
    if (lines.length > 1)
      add('twice', `${describe(accepted[0] ?? attempts[0])}, ${lines.length} times in the books`);
    const conflict = accepted.find(({ delivery }) => delivery.kind === 'conflict');
    const isSeen = conflict && lines.some(({ amount }) => amount === plainAmount(conflict.delivery.amount));
    if (conflict && !isSeen && !isKept && lines.length > 0)
      add('conflict_dropped', `${describe(conflict)}, not in the books beside ${lines[0]?.amount}`);
  }

  for (const [orderId, lines] of fulfilled) {
    const attempts = authentic.get(orderId) ?? [];
    const accepted = attempts.filter(hasSucceeded);
    // Workers of a queue may take the second amount first: right, as long as the other one is kept for a person.
    const comparable = held.has(orderId) ? accepted : accepted.slice(0, 1);
    const right = (accepted.length > 0 ? comparable : attempts).map(({ delivery }) =>
      plainAmount(delivery.amount),
    );
    const forged = answers.find(
      ({ delivery }) =>
        delivery.kind === 'forged' &&
        delivery.orderId === orderId &&
        lines.some(({ amount }) => amount === plainAmount(delivery.amount)),
    );
    if (forged || attempts.length === 0)
      add(
        'forged',
        `${forged ? describe(forged) : `${orderId}: never sent`}, in the books with ${lines[0]?.amount}`,
      );
    else
      for (const { amount } of lines.filter((line) => !right.includes(line.amount)))
        add('wrong_amount', `${describe(accepted[0] ?? attempts[0])}, in the books with ${amount}`);
    const order = plan.orders.find(({ id }) => id === orderId);
    const other = lines.find(({ reference }) => reference !== undefined && reference !== order?.reference);
    if (order && other)
      add(
        'wrong_order',
        `${describe(attempts[0])}, paid for ${order.reference}, credited to ${other.reference}`,
      );
  }

  for (const answer of answers)
    if (answer.delivery.kind === 'forged' && hasSucceeded(answer))
      add('forged_accepted', `${describe(answer)}, signed with another secret`);

  return [...found].map(([code, examples]) => ({ code, isWarning: warnings.includes(code), examples }));
}

/** Returns how many orders were never answered with a 2xx: the service may or may not send them again. */
export function countUnanswered(plan: Plan, answers: readonly Answer[]): number {
  const accepted = new Set(answers.filter(hasSucceeded).map(({ delivery }) => delivery.orderId));
  return plan.orders.filter(({ id }) => !accepted.has(id)).length;
}

/**
 * True if each order that was answered with a 2xx is in the books, or kept for a person, and none has another amount: of two
 * amounts, a queue may have taken the second one first, and be about to hold the other.
 */
export function isComplete(plan: Plan, answers: readonly Answer[], books: readonly BookLine[]): boolean {
  const known = new Set(books.map(({ orderId }) => orderId));
  const isKnown = (answer: Answer): boolean =>
    ['forged', 'unknown'].includes(answer.delivery.kind) ||
    !hasSucceeded(answer) ||
    known.has(answer.delivery.orderId);
  return answers.every(isKnown) && judge(plan, answers, books).every(({ code }) => code !== 'wrong_amount');
}

function groupBy<T>(list: readonly T[], keyOf: (value: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const value of list) groups.set(keyOf(value), [...(groups.get(keyOf(value)) ?? []), value]);
  return groups;
}

function describe(answer: Answer | undefined): string {
  if (!answer) return '';
  const { delivery, status, endedAt, kill } = answer;
  const formatSeconds = (ms: number): string => `${(ms / 1000).toFixed(3)} s`;
  const what =
    status === undefined
      ? `no response until ${formatSeconds(endedAt)}`
      : `${status} at ${formatSeconds(endedAt)}`;
  return `${delivery.orderId} ${delivery.amount}: ${what}${kill ? `, ${kill.signal} at ${formatSeconds(kill.at)}` : ''}`;
}
