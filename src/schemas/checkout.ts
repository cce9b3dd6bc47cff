import * as z from 'zod/mini';
import { isAbsoluteUrl, isLoopback, parseAbsoluteUrl } from '../input/url.js';
import type { CurrencyCode } from './currency.js';
import { moment } from './moment.js';
import { price } from './money.js';
import { nullIsAbsent } from './nullish.js';

/** One attempt of one customer to pay for one product. Spec, "Checkout session". */
export interface CheckoutSession {
  /** Id of the session, for `checkouts.retrieve()`. */
  id: string;
  /** The product that is sold. */
  productId: string;
  /** The price to pay: decimal string with at least two decimals. */
  amount: string;
  /** Currency of `amount`. */
  currency: CurrencyCode;
  /** The hosted payment page, to which the customer is redirected. */
  url: string;
  /** The time at which the session expires. */
  expiresAt: Date;
  /** The time at which the session was created. */
  createdAt: Date;
}

/** The session that creating a checkout returns. The spec guarantees only `url`; the rest is present if the service sends it. */
export interface CreatedCheckout extends Partial<Omit<CheckoutSession, 'url'>> {
  /** The hosted payment page, to which the customer is redirected. */
  url: string;
}

/** Returns the schemas of both responses, by the client's option `allowInsecureHttp`. */
export function checkoutSchemas(allowInsecureHttp: boolean) {
  // A customer is sent to this address, so it must be https. http is accepted only on the local machine, or if the option
  // allows it.
  const isSafe = (text: string) => {
    if (text.startsWith('https:')) return isAbsoluteUrl(text);
    const url = parseAbsoluteUrl(text);
    return (
      url?.protocol === 'https:' || (url?.protocol === 'http:' && (allowInsecureHttp || isLoopback(url)))
    );
  };
  const session = z.looseObject({
    id: z.string(),
    productId: z.string(),
    amount: price,
    currency: z.string(),
    url: z.string().check(z.refine(isSafe, 'expected an https: URL')),
    expiresAt: moment,
    createdAt: moment,
  });
  const created = z.looseObject({
    id: z.exactOptional(z.string()),
    productId: z.exactOptional(z.string()),
    amount: z.exactOptional(price),
    currency: z.exactOptional(z.string()),
    url: session.shape.url,
    expiresAt: z.exactOptional(moment),
    createdAt: z.exactOptional(moment),
  });
  const schemas: { session: z.ZodMiniType<CheckoutSession>; created: z.ZodMiniType<CreatedCheckout> } = {
    session,
    created: nullIsAbsent<CreatedCheckout>(created),
  };
  return schemas;
}
