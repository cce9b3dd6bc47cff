// The responses of the loopback server: for each client the shapes of its own API, so that each parses what it was made
// for. One resource is 450 to 590 bytes, a page of 100 is 45 to 60 kB.

const pageSize = 100;
const total = 10_000;
const pages = total / pageSize;
const start = Date.UTC(2026, 0, 1);
const about = 'A hand-finished walnut desk with a cable tray, two drawers and an oiled top. Ships flat.';
// The service has fewer fields than its peers; a longer text makes the bodies equally long.
const longAbout = `${about} Seat side is rounded; the legs come off with one bolt each. Made to order in nine days.`;

const sixDigits = (number) => String(number).padStart(6, '0');
const iso = (index) => new Date(start + index * 60_000).toISOString();
const seconds = (index) => start / 1000 + index;
const name = (index) => `Walnut desk no. ${index}`;
const image = (index) => `https://cdn.example.test/img/desk-${sixDigits(index)}.jpg`;
const sku = (index) => ({ sku: `WD-${sixDigits(index)}`, campaign: 'spring-2026' });
const itemsOf = (page, item) =>
  Array.from({ length: pageSize }, (_, offset) => item((page - 1) * pageSize + offset));

/** The product that every client of the service creates. */
export const newProduct = {
  name: name(1),
  price: '29.90',
  currency: 'USD',
  description: longAbout,
  image: image(1),
  metadata: { ...sku(1), warehouse: 'fra-2' },
};

/** A product as create and update write it: price as text, moments in milliseconds. */
export const product = (index) => ({
  id: `prod_01JH8ZQ4X9${sixDigits(index)}`,
  name: name(index),
  description: longAbout,
  image: index % 3 ? image(index) : null,
  price: `${(index % 900) + 10}.90`,
  currency: 'USD',
  status: index % 10 ? 'ACTIVE' : 'ARCHIVED',
  metadata: { ...sku(index), warehouse: 'fra-2' },
  createdAt: start + index * 60_000,
  updatedAt: start + index * 60_000 + 5_000,
});

/** The same product in a list: price as a number, moments in ISO 8601. */
const listedProduct = (index) => ({
  ...product(index),
  price: (index % 900) + 10.9,
  createdAt: iso(index),
  updatedAt: iso(index),
});

export const productPage = (page) => ({
  items: itemsOf(page, listedProduct),
  pagination: { page, size: pageSize, total, totalPages: pages },
});

export const checkout = () => ({
  id: 'chk_01JH8ZQ4X9VT3M5B7N2C',
  productId: 'prod_01JH8ZQ4X9000001',
  amount: '29.90',
  currency: 'USD',
  url: `https://pay.example.test/c/chk_01JH8ZQ4X9VT3M5B7N2C?token=${'Zk9x'.repeat(75)}`,
  expiresAt: start + 3_600_000,
  createdAt: start,
});

export const envelope = (data) => ({ code: 0, message: 'success', data });

const stripeProduct = (index) => ({
  id: `prod_QX${sixDigits(index)}`,
  object: 'product',
  active: true,
  attributes: [],
  created: seconds(index),
  default_price: `price_1P${sixDigits(index)}`,
  description: about,
  images: [image(index)],
  livemode: false,
  marketing_features: [],
  metadata: sku(index),
  name: name(index),
  package_dimensions: null,
  shippable: null,
  statement_descriptor: null,
  tax_code: null,
  type: 'service',
  unit_label: null,
  updated: seconds(index),
  url: null,
});

const polarProduct = (index) => ({
  id: `3fa85f64-5717-4562-b3fc-${sixDigits(index)}${sixDigits(index)}`,
  created_at: iso(index),
  modified_at: null,
  name: name(index),
  description: about,
  visibility: 'public',
  recurring_interval: null,
  recurring_interval_count: null,
  is_recurring: false,
  is_archived: false,
  organization_id: '1dbfc517-0bbf-4301-9ba8-555ca42b9737',
  metadata: sku(index),
  prices: [],
  benefits: [],
  medias: [],
  attached_custom_fields: [],
});

const creemProduct = (index) => ({
  id: `prod_${sixDigits(index)}d1AY2Sadk8Y`,
  mode: 'test',
  object: 'product',
  name: name(index),
  description: about,
  image_url: image(index),
  features: [],
  price: 2990,
  currency: 'USD',
  billing_type: 'onetime',
  billing_period: 'once',
  status: 'active',
  tax_mode: 'exclusive',
  tax_category: 'saas',
  product_url: `https://creem.test/product/prod_${sixDigits(index)}`,
  default_success_url: null,
  created_at: iso(index),
  updated_at: iso(index),
});

const openaiStore = (index) => ({
  id: `vs_abc${sixDigits(index)}`,
  object: 'vector_store',
  created_at: seconds(index),
  name: name(index),
  description: about,
  bytes: 139_920,
  file_counts: { in_progress: 0, completed: 3, failed: 0, cancelled: 0, total: 3 },
  metadata: { ...sku(index), warehouse: 'fra-2' },
  status: 'completed',
  usage_bytes: 139_920,
  expires_after: null,
  expires_at: null,
  last_active_at: seconds(index),
});

const paddleProduct = (index) => ({
  id: `pro_01gsz4t5hdjse780zja8vv${sixDigits(index)}`,
  name: name(index),
  type: 'standard',
  description: about,
  tax_category: 'standard',
  image_url: image(index),
  custom_data: sku(index),
  status: 'active',
  import_meta: null,
  created_at: iso(index),
  updated_at: iso(index),
});

const molliePayment = (index) => ({
  resource: 'payment',
  id: `tr_7UhSN1${sixDigits(index)}`,
  mode: 'test',
  createdAt: '2026-01-01T13:00:00+00:00',
  amount: { value: '29.90', currency: 'EUR' },
  description: name(index),
  method: null,
  metadata: sku(index),
  status: 'open',
  isCancelable: false,
  expiresAt: '2026-01-01T14:00:00+00:00',
  profileId: 'pfl_QkEhN94Ba',
  sequenceType: 'oneoff',
  redirectUrl: 'https://shop.example.test/done',
  _links: {
    self: {
      href: `https://api.mollie.test/v2/payments/tr_${sixDigits(index)}`,
      type: 'application/hal+json',
    },
    checkout: { href: `https://www.mollie.test/checkout/select/${sixDigits(index)}`, type: 'text/html' },
  },
});

const lemonProduct = (index) => ({
  type: 'products',
  id: String(index),
  attributes: {
    store_id: 1,
    name: name(index),
    slug: `desk-${index}`,
    description: about,
    status: 'published',
    thumb_url: null,
    price: 2990,
    price_formatted: '$29.90',
    pay_what_you_want: false,
    buy_now_url: `https://x.lemonsqueezy.test/checkout/buy/${sixDigits(index)}`,
    created_at: iso(index),
    updated_at: iso(index),
    test_mode: true,
  },
  links: { self: `https://api.lemonsqueezy.test/v1/products/${index}` },
});

const resendEmail = (index) => ({
  object: 'email',
  id: `4ef9a417-02e9-4d39-ad75-${sixDigits(index)}${sixDigits(index)}`,
  to: ['a@example.test'],
  from: 'Shop <s@example.test>',
  created_at: iso(index),
  subject: name(index),
  html: `<p>${about}</p>`,
  text: about,
  bcc: [],
  cc: [],
  reply_to: [],
  last_event: 'delivered',
});

/** The page that follows a cursor, which is the id of the last item before it: ids end in their six-digit index. */
const pageAfter = (cursor) => {
  const digits = /(\d{6})$/.exec(cursor ?? '');
  return digits ? (Number(digits[1]) + 1) / pageSize + 1 : 1;
};

/** The answer to one request, or undefined where there is nothing. The first path segment names the API. */
const apis = {
  service({ method, path, query }) {
    if (path.startsWith('/v1/checkouts')) return envelope(checkout());
    return envelope(method === 'GET' ? productPage(Number(query.get('page') ?? 1)) : product(1));
  },
  // Stripe's client takes no path prefix, so its own paths come to the root.
  v1({ method, path, query }) {
    if (method === 'POST' || path !== '/products') return stripeProduct(1);
    const page = pageAfter(query.get('starting_after'));
    return {
      object: 'list',
      url: '/v1/products',
      has_more: page < pages,
      data: itemsOf(page, stripeProduct),
    };
  },
  polar({ method, path, query }) {
    if (method === 'POST' || path.split('/')[3]) return polarProduct(1);
    const items = itemsOf(Number(query.get('page') ?? 1), polarProduct);
    return { items, pagination: { total_count: total, max_page: pages } };
  },
  creem({ method, path, query }) {
    if (method === 'POST' || !path.endsWith('/search')) return creemProduct(1);
    const page = Number(query.get('page_number') ?? 1);
    const place = { current_page: page, next_page: page < pages ? page + 1 : null, prev_page: null };
    return {
      items: itemsOf(page, creemProduct),
      pagination: { total_records: total, total_pages: pages, ...place },
    };
  },
  openai({ method, path, query }) {
    if (method === 'POST' || path !== '/vector_stores') return openaiStore(1);
    const page = pageAfter(query.get('after'));
    const data = itemsOf(page, openaiStore);
    return { object: 'list', data, first_id: data[0].id, last_id: data.at(-1).id, has_more: page < pages };
  },
  paddle({ method, path, query, origin }) {
    const meta = { request_id: 'fd5ceb0a-5714-4f2b-8d5c-8ad6f7c8b0a1' };
    if (method === 'POST' || path !== '/products') return { data: paddleProduct(1), meta };
    const page = pageAfter(query.get('after'));
    const data = itemsOf(page, paddleProduct);
    const next = `${origin}/paddle/products?after=${data.at(-1).id}&per_page=${pageSize}`;
    const pagination = { per_page: pageSize, has_more: page < pages, estimated_total: total, next };
    return { data, meta: { ...meta, pagination } };
  },
  mollie({ method, path, query, origin }) {
    if (method === 'POST' || path !== '/payments') return molliePayment(1);
    const page = Number(query.get('from') ?? 1);
    const href = `${origin}/mollie/payments?from=${page + 1}&limit=${pageSize}`;
    const next = page < pages ? { href, type: 'application/hal+json' } : null;
    const links = { self: { href: '', type: '' }, previous: null, next };
    return { count: pageSize, _embedded: { payments: itemsOf(page, molliePayment) }, _links: links };
  },
  lemon({ path, query }) {
    const jsonapi = { version: '1.0' };
    if (path.split('/')[3]) return { jsonapi, links: { self: '' }, data: lemonProduct(1) };
    const currentPage = Number(query.get('page[number]') ?? 1);
    const page = { currentPage, lastPage: pages, perPage: pageSize, total };
    return { jsonapi, meta: { page }, links: {}, data: itemsOf(currentPage, lemonProduct) };
  },
  resend({ method, path, query }) {
    if (method === 'POST') return { id: resendEmail(1).id };
    if (path !== '/emails') return resendEmail(1);
    const page = pageAfter(query.get('after'));
    return { object: 'list', has_more: page < pages, data: itemsOf(page, resendEmail) };
  },
};

/** The JSON that answers a request to `target` (a path with its query), or undefined where there is none. */
export function answerTo(method, target, origin) {
  const { pathname, searchParams } = new URL(target, origin);
  const [, api = ''] = pathname.split('/');
  return apis[api]?.({ method, path: pathname.slice(api.length + 1), query: searchParams, origin });
}
