// A module under the compiler's own defaults: without Node's types, with the browser's, and with `await using`.
import { type PaymentsApi, PaymentsClient, webhooks } from 'merchant-payments';
import { openInbox } from 'merchant-payments/inbox';
import { matchPayments } from 'merchant-payments/matching';
import { createSandbox } from 'merchant-payments/sandbox';
import { verify } from 'merchant-payments/webhooks';

export async function test() {
  await using sandbox = createSandbox();
  const payments: PaymentsApi = new PaymentsClient(sandbox.clientOptions);
  payments.balance.retrieve = async () => ({ ...(await payments.balance.retrieve()), available: '1.00' });
  await using inbox = openInbox({ file: 'inbox.sqlite', secret: 'secret', on: { 'order.paid': () => {} } });
  return [payments, inbox.stats(), matchPayments, verify, webhooks.verify];
}
