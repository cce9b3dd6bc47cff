import type { CurrencyCode } from './currency.js';
import { isLoopback, parseAbsoluteUrl } from './url.js';
import { moment, price, recordSchema, text, wire } from './wire.js';

/** One attempt of one customer to pay for one product. Spec, "Checkout session". */
export interface CheckoutSession {
  /** Id of the session, for `checkouts.retrieve()`. */
  id: string;
  /** The product that is sold. */
  productId: string;
  /** What the customer pays: decimal string with at least two decimals. */
  amount: string;
  /** Currency of `amount`. */
  currency: CurrencyCode;
  /** The hosted payment page, to which the customer is redirected. */
  url: string;
  /** When it expires. */
  expiresAt: Date;
  /** When it was created. */
  createdAt: Date;
}

/** What creating a checkout returns. The spec guarantees only `url`; the rest is present if the service sends it. */
export interface CreatedCheckout extends Partial<Omit<CheckoutSession, 'url'>> {
  /** The hosted payment page, to which the customer is redirected. */
  url: string;
}

const fields = {
  id: text,
  productId: text,
  amount: price,
  currency: text,
  expiresAt: moment,
  createdAt: moment,
};

function schemasFor(allowInsecureHttp: boolean) {
  // A customer is sent to this address, so it must be https; http only on the local machine, unless allowed.
  const isSafe = (url: URL | undefined) =>
    url?.protocol === 'https:' || (url?.protocol === 'http:' && (allowInsecureHttp || isLoopback(url)));
  const url = wire(
    (value) => (typeof value === 'string' && isSafe(parseAbsoluteUrl(value)) ? value : undefined),
    'an https: URL',
  );
  return {
    session: recordSchema<CheckoutSession>({ ...fields, url }),
    created: recordSchema<CreatedCheckout>({ ...fields, url }, Object.keys(fields)),
  };
}

/** By the client's option `allowInsecureHttp`. */
export const checkoutSchemas = { secure: schemasFor(false), insecure: schemasFor(true) };
