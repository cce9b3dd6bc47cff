import { PaymentsClient } from 'merchant-payments';

let client: PaymentsClient | undefined;

/** Made at the first call: `next build` has neither key nor address. */
export function payments(): PaymentsClient {
  client ??= new PaymentsClient(); // PAYMENTS_API_KEY and PAYMENTS_BASE_URL
  return client;
}
