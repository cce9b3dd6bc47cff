import { webhooks } from 'merchant-payments';
import { markPaid } from '../../../lib/orders';

/** Verified, once for each order; answered 200, 400 or 500 as the sender needs to know. */
export const POST = webhooks.handler({
  secret: process.env.PAYMENTS_WEBHOOK_SECRET ?? '',
  on: {
    'order.paid': async ({ data }) => {
      if (!markPaid(data))
        console.warn(`${data.order_id} paid ${data.amount} ${data.currency}, and no order asks for it`);
    },
  },
  onError: (error) => console.error(error),
});
