import { PaymentsClient } from 'merchant-payments';

/** One client for the whole server: it keeps connections open. Made at the first use, so that a build needs no key. */
let client: PaymentsClient | undefined;

export function payments(): PaymentsClient {
  client ??= new PaymentsClient(); // PAYMENTS_API_KEY and PAYMENTS_BASE_URL
  return client;
}
