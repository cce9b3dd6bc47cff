import * as z from 'zod/mini';
import { ConfigurationError, InvalidParamsError } from '../errors.js';
import { type Duration, durationMs } from '../input/duration.js';
import { checkPrototype } from '../input/pollution.js';
import { readInput, readParams } from '../input/read.js';
import { aboveZero, amountsBelow, decimalAmount, likeAPrice, removeZeros } from '../matching/amounts.js';
import { readIsoMoment } from '../schemas/moment.js';
import { escapeNul } from '../webhooks/delivery.js';
import { readPlace } from './options.js';
import type { PoolOf, PostgresClient } from './postgres.js';
import type { GivenDatabase, SqliteDatabase } from './sqlite.js';

/** Options of every order book. */
interface CommonOrderBookOptions {
  /** The most that the amount of an order may be below its price, so that amounts differ. Default: `'0.50'`, in steps of a cent 51 amounts. */
  most?: string | undefined;
  /**
   * The time after its checkout expired in which the webhook of an order may still come. Until then no other order gets its
   * amount. The service documents no limit. Default: `'2h'`.
   */
  lateFor?: Duration | undefined;
  /**
   * True if a customer's return decides between several orders; default `false`. Set it only if nobody can read `successUrl`
   * before paying. Even then, a lost webhook may shift later payments of its amount to other customers.
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
        /** The schema of the tables, as in `openInbox()`. Default: `payments_inbox`. */
        schema?: string | undefined;
        file?: undefined;
        database?: undefined;
      }
  );

/** An order that needs an amount of its own. */
export interface ReserveParams {
  /** Your id of the order: at most 255 characters. */
  id: string | number | bigint;
  /** The amount that the customer should pay, which is the highest that can be reserved, with at most two decimals. */
  price: string;
  /** The currency, such as `USD`. */
  currency: string;
  /** The most that the amount may be below this price. Default: `most` of the book. */
  most?: string | undefined;
  /** The difference between two amounts. Default: `'0.01'`. A currency without decimals needs `'1'`. */
  step?: string | undefined;
}

/** The checkout of an order. */
export interface OpenParams {
  /** When the checkout expires. Without it, the order can be paid, and keeps its amount, until it is paid or cancelled. */
  expiresAt?: Date | undefined;
  /** The amount that the checkout asks for, if it is not the reserved one: payments are matched by it. */
  amount?: string | undefined;
}

/** Options of `credit()`. */
export interface CreditOptions {
  /** When the webhook of the payment arrived: `receivedAt` of the delivery. Default: the time that the inbox in the same database has, else now. */
  receivedAt?: Date | string | undefined;
}

/** The most amounts that a price may be reserved at. */
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
  return escapeNul(String(id));
}

const paymentIdParams = z.strictObject({
  paymentId: z
    .string('must be the order_id of the payment.')
    .check(z.minLength(1, 'must be the order_id of the payment.')),
});

/** Reads the id of a payment. */
export function readPaymentId(method: string, given: unknown): string {
  return escapeNul(readParams(`orderBook.${method}`, paymentIdParams, { paymentId: given }).paymentId);
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
    if (amounts.push(toBookAmount(amount)) > mostAmounts)
      throw invalidParam(
        operation,
        'most',
        `makes more than ${mostAmounts} amounts. Pass less, or a larger step.`,
      );
  return { id: escapeNul(String(id)), currency: currency.toUpperCase(), amounts };
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
    amount: amount === undefined ? undefined : toBookAmount(amount),
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
    throw invalidParam(operation, 'receivedAt', 'must be a valid Date, or ISO 8601 with a zone.');
  return {
    id: escapeNul(order_id),
    amount: toBookAmount(amount),
    currency: currency.toUpperCase(),
    receivedAt: arrival?.getTime(),
  };
}

/** Returns an amount in the one form in which the book compares it: with two decimals, or more if they are not zero. */
export function toBookAmount(amount: string): string {
  const [whole = '', decimals = ''] = removeZeros(amount).split('.');
  return `${whole}.${decimals.padEnd(2, '0')}`;
}

function invalidParam(operation: string, path: string, message: string): InvalidParamsError {
  return new InvalidParamsError({ operation }, [{ path, message }]);
}
