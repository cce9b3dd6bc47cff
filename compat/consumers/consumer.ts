// A merchant's module, as strict as a compiler can be asked to be. Compiled as ESM and as CommonJS.
import {
  type Balance,
  type CheckoutSession,
  isPaymentsError,
  type Outcome,
  type Page,
  PaymentsClient,
  type PaymentsClientOptions,
  type Product,
  webhooks,
} from 'merchant-payments';
import { createSandbox, type Sandbox } from 'merchant-payments/sandbox';
import { type SignatureScheme, verify, type WebhookEvent } from 'merchant-payments/webhooks';

const sandbox: Sandbox = createSandbox();
const options: PaymentsClientOptions = { ...sandbox.clientOptions, timeoutMs: undefined };
const payments = new PaymentsClient(options);

export async function sell(name: string): Promise<string> {
  const product: Product = await payments.products.create({ name, price: '19.90', description: undefined });
  const description: string | null = product.description;
  const { data: checkout, response } = await payments.checkouts
    .create({ productId: product.id })
    .withResponse();
  const status: number = response.status;
  const session: CheckoutSession | undefined = checkout.id
    ? await payments.checkouts.retrieve(checkout.id)
    : undefined;
  return `${description} ${status} ${session?.expiresAt.toISOString()} ${checkout.url}`;
}

export async function read(): Promise<string[]> {
  const page: Page<Product> = await payments.products.list({ size: 10 });
  const names = page.items.map((product) => product.name);
  for await (const product of payments.products.list()) names.push(product.status);
  const balance: Balance = await payments.balance.retrieve();
  // @ts-expect-error amounts are text, never numbers
  const wrong: number = balance.available;
  return [...names, String(wrong)];
}

export function receive(rawBody: Uint8Array, headers: Headers): string {
  const scheme: Partial<SignatureScheme> = { encoding: 'base64' };
  const event: WebhookEvent = verify({ rawBody, headers, secret: 'secret', scheme });
  // @ts-expect-error an event has no order before its type is known
  event.data.order_id;
  if (event.type === 'order.paid') return event.data.order_id;
  return event.originalType;
}

export function outcomeOf(error: unknown): Outcome | undefined {
  if (error instanceof webhooks.WebhookVerificationError) return undefined;
  return isPaymentsError(error) ? error.outcome : undefined;
}

// @ts-expect-error an option that does not exist
new PaymentsClient({ apikey: 'k' });
