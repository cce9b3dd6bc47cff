import * as z from 'zod/mini';
import { ConfigurationError, InvalidParamsError } from '../errors.js';
import { type Duration, durationMs } from '../input/duration.js';
import { checkPrototype } from '../input/pollution.js';
import { readInput, readParams } from '../input/read.js';
import { aboveZero, amountsBelow, decimalAmount, likeAPrice, withoutZeros } from '../matching/amounts.js';
import { readIsoMoment } from '../schemas/moment.js';
import { withoutNul } from '../webhooks/delivery.js';
import { readPlace } from './options.js';
import type { PoolOf, PostgresClient } from './postgres.js';
import type { GivenDatabase, SqliteDatabase } from './sqlite.js';

/** Options of every order book. */
interface CommonOrderBookOptions {
  /** How far below its price an order may be sold, so that amounts differ. Default: `'0.50'`, in steps of a cent 51 amounts. */
  most?: string | undefined;
  /**
   * How long after its checkout expired the webhook of an order may still come. Until then nobody else gets its amount. The
   * service documents no limit. Default: `'2h'`.
   */
  lateFor?: Duration | undefined;
  /**
   * Whether a customer's return decides between several orders; default `false`. Only where nobody can read `successUrl`
   * before paying. Even there, a lost webhook may shift later payments of its amount to other customers.
   */
  trustReturns?: boolean | undefined;
}

/** Options of `openOrderBook()`: `file`, `database` or `pool`, as in `openInbox()`, and what differs from the defaults. */
export type OrderBookOptions<Client = PostgresClient> = CommonOrderBookOptions &
  (
    | {
        /** Path of the SQLite file of your inbox. */
        file: string;
        database?: undefined;
        pool?: undefined;
        schema?: undefined;
      }
    | {
        /** The open SQLite database of your inbox. It stays open. */
        database: SqliteDatabase | GivenDatabase;
        file?: undefined;
        pool?: undefined;
        schema?: undefined;
      }
    | {
        /** The pool of your inbox. It stays open. */
        pool: PoolOf<Client>;
        /** Where the tables are, as in `openInbox()`. Default: `payments_inbox`. */
        schema?: string | undefined;
        file?: undefined;
        database?: undefined;
      }
  );

/** An order that needs an amount of its own. */
export interface ReserveParams {
  /** Your id of the order: at most 255 characters. */
  id: string | number | bigint;
  /** What its customer should pay: the highest amount that can be returned, with at most two decimals. */
  price: string;
  /** Such as `USD`. */
  currency: string;
  /** How far below this price the amount may be. Default: `most` of the book. */
  most?: string | undefined;
  /** How far two amounts are apart. Default: `'0.01'`. A currency without decimals needs `'1'`. */
  step?: string | undefined;
}

/** The checkout of an order. */
export interface OpenParams {
  /** When it expires. An order without it can be paid, and keeps its amount, until it is paid or cancelled. */
  expiresAt?: Date | undefined;
  /** What it asks for, if that is not the reserved amount: payments are matched by it. */
  amount?: string | undefined;
}

/** How a payment arrived. */
export interface CreditOptions {
  /** When its webhook arrived: `receivedAt` of the delivery. Default: what the inbox in the same database says, else now. */
  receivedAt?: Date | string | undefined;
}

/** How many amounts an order can have. */
const mostAmounts = 1000;

const bookOptions = z.strictObject({
  pool: z.optional(z.unknown()),
  file: z.optional(z.unknown()),
  database: z.optional(z.unknown()),
  schema: z.optional(z.unknown()),
  most: z._default(likeAPrice, '0.50'),
  lateFor: z._default(durationMs(), 2 * 3_600_000),
  trustReturns: z._default(z.boolean(), false),
});

/** Checks the options, before a database is touched. */
export function readBookOptions(given: unknown) {
  checkPrototype();
  const what = 'openOrderBook()';
  const { pool, file, database, schema, most, lateFor, trustReturns } = readInput(
    bookOptions,
    given,
    (issues) => {
      const problems = issues.map(({ path, message }) => `${path || 'The argument'} ${message}`);
      return new ConfigurationError(`${what}: ${problems.join(' ')}`);
    },
  );
  return { place: readPlace({ pool, file, database, schema }, what), most, lateMs: lateFor, trustReturns };
}

const notId = 'must be a string of 1 to 255 characters, or a number.';
const orderId = z.union([z.string().check(z.minLength(1), z.maxLength(255)), z.number(), z.bigint()], notId);

/** Reads the id of an order. */
export function readOrderId(method: string, given: unknown): string {
  const { orderId: id } = readParams(`orderBook.${method}`, z.strictObject({ orderId }), { orderId: given });
  return withoutNul(String(id));
}

const paymentIdParams = z.strictObject({
  paymentId: z
    .string('must be the order_id of the payment.')
    .check(z.minLength(1, 'must be the order_id of the payment.')),
});

/** Reads the id of a payment. */
export function readPaymentId(method: string, given: unknown): string {
  return withoutNul(readParams(`orderBook.${method}`, paymentIdParams, { paymentId: given }).paymentId);
}

const currencyText = 'must be a currency code such as "USD".';
const reserveParams = z.strictObject({
  id: orderId,
  price: aboveZero,
  currency: z.string(currencyText).check(z.regex(/^[A-Za-z]{3}$/, currencyText)),
  most: z.optional(likeAPrice),
  step: z._default(aboveZero, '0.01'),
});

/** Reads the parameters of `reserve()`: the amounts that the order may get, the highest first. */
export function readReserve(given: unknown, usual: string) {
  const operation = 'orderBook.reserve';
  const { id, price, currency, most = usual, step } = readParams(operation, reserveParams, given);
  const amounts: string[] = [];
  for (const amount of amountsBelow({ price, most, step }))
    if (amounts.push(inBook(amount)) > mostAmounts)
      throw invalid(
        operation,
        'most',
        `makes more than ${mostAmounts} amounts. Pass less, or a larger step.`,
      );
  return { id: withoutNul(String(id)), currency: currency.toUpperCase(), amounts };
}

const openParams = z.strictObject({
  expiresAt: z.optional(z.date('must be a valid Date.')),
  amount: z.optional(decimalAmount),
});

/** Reads the parameters of `open()`. */
export function readOpen(given: unknown) {
  const { expiresAt, amount } = readParams('orderBook.open', openParams, given);
  return {
    expiresAt: expiresAt?.getTime() ?? null,
    amount: amount === undefined ? undefined : inBook(amount),
  };
}

const notData = 'must be as event.data of order.paid has it.';
const eventData = z.looseObject({
  order_id: z.string(notData).check(z.minLength(1, notData)),
  amount: decimalAmount,
  currency: z.string(notData).check(z.minLength(1, notData)),
});
const creditOptions = z.strictObject({ receivedAt: z.optional(z.union([z.date(), z.string()])) });

/** Reads what `credit()` is passed. */
export function readCredit(given: unknown, options: unknown) {
  const operation = 'orderBook.credit';
  const { order_id, amount, currency } = readParams(operation, eventData, given);
  const { receivedAt } = readParams(operation, creditOptions, options);
  const arrival = typeof receivedAt === 'string' ? readIsoMoment(receivedAt) : receivedAt;
  if (receivedAt !== undefined && arrival === undefined)
    throw invalid(operation, 'receivedAt', 'must be a valid Date, or ISO 8601 with a zone.');
  return {
    id: withoutNul(order_id),
    amount: inBook(amount),
    currency: currency.toUpperCase(),
    receivedAt: arrival?.getTime(),
  };
}

/** Returns an amount in the one form in which the book compares it: with two decimals, or more where they count. */
function inBook(amount: string): string {
  const [whole = '', decimals = ''] = withoutZeros(amount).split('.');
  return `${whole}.${decimals.padEnd(2, '0')}`;
}

function invalid(operation: string, path: string, message: string): InvalidParamsError {
  return new InvalidParamsError({ operation }, [{ path, message }]);
}
