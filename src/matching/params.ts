import { InvalidParamsError } from '../errors.js';

interface Sum {
  /** Unique in its list. */
  id: string | number | bigint;
  /** A decimal string. */
  amount: string;
  /** Such as `USD`, in any case. */
  currency: string;
}

/** An order that nobody has paid yet, as far as you know. */
export interface UnpaidOrder extends Sum {
  /** Before its customer could pay, by the clock that `receivedAt` is of. */
  createdAt: Date;
  /** When its checkout expires. An order without it never does. */
  expiresAt?: Date | null | undefined;
  /** When its customer came back. */
  returnedAt?: Date | null | undefined;
}

/** A payment that belongs to no order yet. */
export interface UnmatchedPayment extends Sum {
  /** When its webhook arrived, by your clock. */
  receivedAt: Date;
}

/** Load both lists in the transaction that writes the result. */
export interface MatchParams<Order extends UnpaidOrder, Payment extends UnmatchedPayment> {
  /** All unpaid orders, or all of some amounts. */
  orders: readonly Order[];
  /** All payments that belong to no order yet, or all of those amounts. */
  payments: readonly Payment[];
  /**
   * Whether a customer's return decides between several orders. Default: `false`. Only where nobody can read
   * `successUrl` before paying. Even there, a lost webhook may shift later payments of its amount to other customers.
   */
  trustReturns?: boolean | undefined;
  /** The current time, for `overdue`. */
  now?: Date | undefined;
  /** How long after its customer came back an unpaid order is overdue. Default: 15 minutes. */
  overdueMs?: number | undefined;
}

const operation = 'matchPayments';

/** Checks the parameters, and returns both lists oldest first. */
export function readMatch<Order extends UnpaidOrder, Payment extends UnmatchedPayment>(
  params: MatchParams<Order, Payment>,
) {
  const names = { orders: undefined, payments: undefined, trustReturns: undefined, now: undefined };
  const own = ownParams(operation, params, { ...names, overdueMs: undefined });
  const { trustReturns = false, now, overdueMs = 15 * 60_000 } = own;
  if (typeof trustReturns !== 'boolean') throw invalid(operation, 'trustReturns', 'must be true or false.');
  if (!(overdueMs >= 0)) throw invalid(operation, 'overdueMs', 'must be a number of milliseconds.');
  if (now !== undefined) readTime('now', now);
  /** Amount and currency in the form that is compared. */
  const sums = new Map<object, string>();
  const orders = readAll('orders', own.orders, sums, 'createdAt', ['expiresAt', 'returnedAt']);
  const payments = readAll('payments', own.payments, sums, 'receivedAt');
  const isOverdue = ({ returnedAt }: Order) => Number(now) - Number(returnedAt ?? now) > overdueMs;
  const sumOf = (one: object) => sums.get(one) ?? '';
  return { orders, payments, sumOf, trustReturns, isOverdue };
}

function readAll<One extends Sum>(
  name: string,
  all: readonly One[],
  sums: Map<object, string>,
  time: string & keyof One,
  laterTimes: readonly (string & keyof One)[] = [],
): One[] {
  if (!Array.isArray(all)) throw invalid(operation, name, 'must be an array.');
  const known = new Map<string, string>();
  for (const [index, one] of all.entries()) {
    const path = `${name}.${index}`;
    if (typeof one !== 'object' || one === null) throw invalid(operation, path, 'must be an object.');
    const id = String(one.id);
    if (!['string', 'number', 'bigint'].includes(typeof one.id) || id === '')
      throw invalid(operation, `${path}.id`, 'must be a string or a number.');
    if (known.has(id)) throw invalid(operation, `${path}.id`, `is the id of ${known.get(id)} as well.`);
    known.set(id, path);
    const amount = readAmount(operation, `${path}.amount`, one.amount);
    if (typeof one.currency !== 'string' || !one.currency.trim())
      throw invalid(operation, `${path}.currency`, 'must be a currency code such as "USD".');
    sums.set(one, `${amount} ${one.currency.toUpperCase()}`);
    readTime(`${path}.${time}`, one[time]);
    for (const later of laterTimes) if (one[later] != null) readTime(`${path}.${later}`, one[later]);
  }
  const age = (one: One, other: One) => Number(one[time]) - Number(other[time]);
  return [...all].sort((one, other) => age(one, other) || (String(one.id) < String(other.id) ? -1 : 1));
}

function readTime(path: string, time: unknown): void {
  const isDate = Object.prototype.toString.call(time) === '[object Date]';
  if (!isDate || Number.isNaN(Number(time))) throw invalid(operation, path, 'must be a valid Date.');
}

/** An amount without the zeros that change nothing: `19.90` and `19.9` are the same. */
export function readAmount(name: string, path: string, amount: unknown): string {
  if (typeof amount !== 'string' || !/^\d+(\.\d+)?$/.test(amount))
    throw invalid(name, path, 'must be a decimal string such as "19.90".');
  const [whole = '', decimals = ''] = amount.split('.');
  const kept = decimals.replace(/(?<!0)0+$/, '');
  return whole.replace(/^0+(?=\d)/, '') + (kept === '' ? '' : `.${kept}`);
}

/** The own properties: a polluted `Object.prototype` must not make returns trusted. */
export function ownParams<Params extends object>(
  name: string,
  params: Params,
  known: Readonly<Record<keyof Params, undefined>>,
): Params {
  if (typeof params !== 'object' || params === null) throw invalid(name, '', 'must be an object.');
  const unknown = Object.keys(params).find((key) => !Object.hasOwn(known, key));
  if (unknown === undefined) return { ...known, ...params };
  throw invalid(name, unknown, `is not a parameter. Known are ${Object.keys(known).join(', ')}.`);
}

export function invalid(name: string, path: string, message: string): InvalidParamsError {
  return new InvalidParamsError({ operation: name }, [{ path, message }]);
}
