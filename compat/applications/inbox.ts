import { openInbox } from 'merchant-payments/inbox';

export const inbox = openInbox({
  file: process.env.ORDERS_FILE ?? '',
  secret: () => process.env.PAYMENTS_WEBHOOK_SECRET,
  on: {
    'order.paid': ({ data }) => {
      console.log(`fulfilled ${data.order_id} by version one`);
    },
  },
});

export const receive = inbox.handler;
