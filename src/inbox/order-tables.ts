import type { TableSet } from './tables.js';

/** The `payable_until` of a checkout without an end. The column does not include `lateFor`, which may change. */
export const never = 9_007_199_254_740_991;

/** The tables of orders and of the payments that came for them. The shop may read the rows, and join its own by `id`. */
export const orderTables: TableSet = {
  name: 'payments_order',
  holds: 'an order book',
  version: 1,
  create: ({ unique }) => `CREATE TABLE IF NOT EXISTS payments_order (
  id text NOT NULL,
  amount text NOT NULL,
  currency text NOT NULL,
  state text NOT NULL, -- reserved, open, paid or cancelled
  created_at bigint NOT NULL, -- each time in milliseconds
  expires_at bigint,
  returned_at bigint,
  payable_until bigint NOT NULL, -- until when its customer may pay, as far as is known
  payment_id text,
  paid_at bigint,
  ${unique('payments_order', 'id')}
);
CREATE INDEX IF NOT EXISTS payments_order_amount ON payments_order (amount, currency, payable_until);
CREATE INDEX IF NOT EXISTS payments_order_reserved ON payments_order (payable_until) WHERE state = 'reserved';
CREATE INDEX IF NOT EXISTS payments_order_returned ON payments_order (returned_at) WHERE state = 'open' AND returned_at IS NOT NULL;
CREATE TABLE IF NOT EXISTS payments_order_payment (
  id text NOT NULL,
  amount text NOT NULL,
  currency text NOT NULL,
  state text NOT NULL, -- held, credited or dismissed
  received_at bigint NOT NULL,
  order_id text,
  ${unique('payments_order_payment', 'id')}
);
CREATE INDEX IF NOT EXISTS payments_order_payment_held ON payments_order_payment (amount, currency) WHERE state = 'held';
CREATE TABLE IF NOT EXISTS payments_order_version (
  version integer PRIMARY KEY,
  breaks boolean NOT NULL
);
INSERT INTO payments_order_version VALUES (1, false) ON CONFLICT DO NOTHING;`,
};
