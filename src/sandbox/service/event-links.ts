/**
 * Ways in which an event could name its checkout, as other services do it, each named after its place in the body: what
 * is merged into the event, `data` into its `data`. The specification shows none.
 */
export const eventLinks = {
  none: () => ({}),
  /** The order has the checkout's id. */
  order_id: () => ({}),
  'data.checkout_id': (id) => ({ data: { checkout_id: id } }),
  'data.checkoutId': (id) => ({ data: { checkoutId: id } }),
  'data.session_id': (id) => ({ data: { session_id: id } }),
  'data.checkout.id': (id) => ({ data: { checkout: { id } } }),
  'data.reference': (id) => ({ data: { reference: `checkout:${id}` } }),
  'data.metadata.checkout_id': (id) => ({ data: { metadata: { checkout_id: id } } }),
  checkout_id: (id) => ({ checkout_id: id }),
  'data.object.id': (id) => ({ data: { object: { id } } }),
  'data.items[0].checkout_id': (id) => ({ data: { items: [{ checkout_id: id }] } }),
} as const satisfies Record<string, (checkoutId: string) => { data?: object; checkout_id?: string }>;

/** The place where an event names its checkout. */
export type EventLink = keyof typeof eventLinks;
