import { webhooks } from 'merchant-payments';
import { logHeld } from '../../../../shop/counter.ts';
import { book } from '../../../lib/shop';

export const POST = webhooks.handler({
  // A function, because a build has no secret.
  secret: () => process.env.PAYMENTS_WEBHOOK_SECRET,
  on: {
    'order.paid': ({ data }) => {
      logHeld(book.receive(data));
    },
  },
});
