/** One way in which an event could name its checkout. */
interface LinkForm {
  says: string;
  /** What is merged into the event; `data` into its `data`. */
  fields(checkoutId: string): { data?: object; checkout_id?: string };
}

/**
 * Ways in which an event could name its checkout, as other services do it, each named after its place in the body. The
 * specification shows none.
 */
export const eventLinks = {
  none: { says: 'nothing names the checkout', fields: () => ({}) },
  order_id: { says: "`data.order_id` is the checkout's id", fields: () => ({}) },
  'data.checkout_id': {
    says: 'a field of its own, in snake case',
    fields: (id) => ({ data: { checkout_id: id } }),
  },
  'data.checkoutId': {
    says: 'a field of its own, in camel case',
    fields: (id) => ({ data: { checkoutId: id } }),
  },
  'data.session_id': { says: 'called a session', fields: (id) => ({ data: { session_id: id } }) },
  'data.checkout.id': {
    says: 'in an object that stands for the checkout',
    fields: (id) => ({ data: { checkout: { id } } }),
  },
  'data.reference': {
    says: 'after a prefix: `checkout:` and the id',
    fields: (id) => ({ data: { reference: `checkout:${id}` } }),
  },
  'data.metadata.checkout_id': {
    says: 'among key-value pairs',
    fields: (id) => ({ data: { metadata: { checkout_id: id } } }),
  },
  checkout_id: { says: 'beside `type` and `data`', fields: (id) => ({ checkout_id: id }) },
  'data.object.id': {
    says: 'in an object that is not named after it',
    fields: (id) => ({ data: { object: { id } } }),
  },
  'data.items[0].checkout_id': {
    says: 'in an array',
    fields: (id) => ({ data: { items: [{ checkout_id: id }] } }),
  },
} as const satisfies Record<string, LinkForm>;

/** Where an event names its checkout. */
export type EventLink = keyof typeof eventLinks;
