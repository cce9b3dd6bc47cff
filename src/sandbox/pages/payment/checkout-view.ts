import { isLoopback, parseAbsoluteUrl, unsafeSchemes } from '../../../schemas/url.js';
import type { SandboxContext } from '../../context.js';
import type { StoredCheckout } from '../../service/records.js';
import { speaker } from './messages.js';

export type Wallet = 'walletA' | 'walletB';

/** What the payment page shows of a checkout. Its URLs are safe to link to. */
export type CheckoutView = ReturnType<typeof viewForPage>;

export function viewForPage(context: SandboxContext, checkout: StoredCheckout) {
  const { settings, store, payments, clock, guard, reach } = context;
  const { messages } = settings;
  const { id, state, declined, expiresAt, method, orderId } = checkout;
  const { name, description, image } = payments.product(checkout.productId);
  const merchant = checkout.displayMerchantName || settings.merchantName;
  const amount = `${checkout.amount} ${checkout.currency}`;
  const awaited = state === 'processing' || state === 'expired';
  const wallet = awaited && method !== 'card' ? method : undefined;
  const events = orderId === undefined ? [] : [...store.events.values()];
  return {
    id,
    token: guard.token(id),
    say: speaker(messages, { merchant, amount, ...(wallet && { wallet: messages[wallet] }) }),
    lang: messages.lang,
    merchant,
    name,
    description,
    image: safeUrl(image ?? undefined, /^https?:$/),
    /** As the API gives it, with its currency: `19.90 USD`. */
    amount,
    state,
    declined,
    method,
    /** The wallet that has to approve, or had to when time ran out. */
    wallet,
    walletUrl: reach.origin + walletPath(id, wallet),
    /** Whether only this machine reaches `walletUrl`. */
    loopback: isLoopback(new URL(reach.origin)),
    expiresAt,
    leftMs: Math.max(0, expiresAt.getTime() - clock.now()),
    clockRuns: clock.runs,
    /** Nobody learns it from the page before it is paid: the way to the shop's thanks must cost the price. */
    successUrl: state === 'paid' ? safeUrl(payments.returnUrl(checkout, 'success')) : undefined,
    cancelUrl: safeUrl(payments.returnUrl(checkout, 'cancel')),
    orderId,
    eventId: events.find(({ data }) => data.order_id === orderId)?.id,
  };
}

/** The page of the sandbox's pretend wallet. */
export const walletPath = (id: string, wallet: Wallet | undefined) =>
  `/wallet/${id}?m=${wallet === 'walletB' ? 'b' : 'a'}`;

/** A URL that is safe in a page: absolute, and of a scheme that runs nothing. */
function safeUrl(text: string | undefined, scheme = /:$/): string | undefined {
  const url = text === undefined ? undefined : parseAbsoluteUrl(text);
  return url && scheme.test(url.protocol) && !unsafeSchemes.includes(url.protocol) ? text : undefined;
}

/** Time left as a clock shows it: `24:10`, `1:05:00`, `6 d 23 h`. The page's script counts on in the same form. */
export function timeLeft(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  const hours = Math.floor(seconds / 3600);
  if (hours >= 24) return `${Math.floor(hours / 24)} d ${hours % 24} h`;
  return new Date(seconds * 1000)
    .toISOString()
    .slice(11, 19)
    .replace(/^00:0?|^0/, '');
}
