import * as z from 'zod/mini';
import type { CurrencyCode } from './currency.js';
import { isLoopback, parseAbsoluteUrl } from './url.js';
import { moment, price, record, text } from './wire.js';

/** One attempt of one customer to pay for one product. Spec, "Checkout session". */
export interface CheckoutSession {
  /** The session: what `checkouts.retrieve()` takes. */
  id: string;
  /** The product that is sold. */
  productId: string;
  /** What the customer is to pay: decimal text with at least two decimals. */
  amount: string;
  /** Of `amount`. */
  currency: CurrencyCode;
  /** The hosted payment page, to which the customer is redirected. */
  url: string;
  /** From when on it can no longer be paid. */
  expiresAt: Date;
  /** When it was created. */
  createdAt: Date;
}

/** What creating a checkout returns. The spec promises `url` alone; the rest is there when the service sends it. */
export interface CreatedCheckout extends Partial<Omit<CheckoutSession, 'url'>> {
  /** The hosted payment page, to which the customer is redirected. */
  url: string;
}

/** A customer is sent to this address, so it has to be https; http only to this machine, unless allowed. */
function pageUrl({ allowInsecureHttp }: { allowInsecureHttp: boolean }): z.ZodMiniType<string> {
  return text.check(
    z.refine(
      (value) => {
        const url = parseAbsoluteUrl(value);
        if (url?.protocol === 'https:') return true;
        return url?.protocol === 'http:' && (allowInsecureHttp || isLoopback(url));
      },
      { error: 'expected an https: URL' },
    ),
  );
}

/** The two checkout schemas. `allowInsecureHttp` is the client's option of that name. */
export function checkoutSchemas(options: { allowInsecureHttp: boolean }) {
  const url = pageUrl(options);
  return {
    session: record({
      id: text,
      productId: text,
      amount: price,
      currency: text,
      url,
      expiresAt: moment,
      createdAt: moment,
    }) satisfies z.ZodMiniType<CheckoutSession>,
    created: record({
      id: z.exactOptional(text),
      productId: z.exactOptional(text),
      amount: z.exactOptional(price),
      currency: z.exactOptional(text),
      url,
      expiresAt: z.exactOptional(moment),
      createdAt: z.exactOptional(moment),
    }) satisfies z.ZodMiniType<CreatedCheckout>,
  };
}
